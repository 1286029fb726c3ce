"""What the injectors share: a place in a harness's log, a copy of a fixture, and changing a JSON file in place."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.triage.templates import Template

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures" / "sources"


class Target(msgspec.Struct, frozen=True):
    """The failure that a fault was injected into."""

    case: str
    """How the case's key ends."""
    index: int = 1
    run: str = ""
    """A word that the run's model or variant has, where a log holds several runs."""


Inject = Callable[[Path, Template], Target]


class Place(NamedTuple):
    fixture: str
    """Below tests/fixtures/sources; of what its `data` holds a copy is changed."""
    inject: Inject


class Twin(NamedTuple):
    """A failure of an untouched fixture that is the model's."""

    fixture: str
    target: Target


class Harness(NamedTuple):
    name: str
    places: dict[str, Place]
    twins: tuple[Twin, ...]


def log_of(fixture: str) -> Path:
    """What its `data` holds; the folder itself, where that is several files."""
    data = FIXTURES / fixture / "data"
    entries = [*data.iterdir()]
    return entries[0] if len(entries) == 1 else data


def copy_of(fixture: str, scratch: Path) -> Path:
    """The log of a fixture, copied to be changed."""
    original = log_of(fixture)
    folder = scratch / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if original.is_dir():
        shutil.copytree(original, folder / original.name, copy_function=shutil.copyfile)
    else:
        shutil.copyfile(original, folder / original.name)
    return folder / original.name


@contextmanager
def changed_rows(path: Path) -> Iterator[list[Any]]:
    """The rows of a file of JSON lines; what is done to them is written back."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    yield rows
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@contextmanager
def changed(path: Path) -> Iterator[Any]:
    """The document of a JSON file; what is done to it is written back."""
    document = json.loads(path.read_text(encoding="utf-8"))
    yield document
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def traceback(frames: tuple[tuple[str, int, str], ...], error: str) -> str:
    """As Python prints it, innermost frame last."""
    lines = [f'  File "{file}", line {line}, in {name}' for file, line, name in frames]
    return "\n".join(["Traceback (most recent call last):", *lines, error, ""])
