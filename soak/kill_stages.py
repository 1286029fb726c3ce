"""The commands that are killed: each starts in a prepared folder and changes something there."""

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from soak.visible import STORE

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures"
RUN_A, RUN_B = (FIXTURES / "sources" / "convex_evals" / f"run_{name}" / "data" for name in "ab")
READER = FIXTURES / "review" / "reader.py"
OLD = FIXTURES / "old"

Errata = Callable[..., None]
"""Runs a command in the working folder; it has to succeed."""


class Stage(NamedTuple):
    name: str
    prepare: Callable[[Path, Errata], None]
    """Makes the folder where the command starts."""
    command: tuple[str, ...]
    piped: bool = False
    """A second process reads the log, as for large ones."""


def _empty(folder: Path, _errata: Errata) -> None:
    shutil.copytree(RUN_B, folder / "logs")


def _with_another_run(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", RUN_A)


def _with_an_earlier_revision(folder: Path, errata: Errata) -> None:
    """The same run as it was while it was still running: one failure fewer."""
    _empty(folder, errata)
    answers = folder / "logs" / "run-b" / "getRunDetails.envelope.json"
    whole = answers.read_bytes()
    document = json.loads(whole)
    document["value"]["evals"] = document["value"]["evals"][:-1]
    answers.write_text(json.dumps(document), encoding="utf-8")
    errata("import", "logs")
    answers.write_bytes(whole)


def _not_triaged(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", "logs", RUN_A, "--no-triage")


def _triaged(folder: Path, errata: Errata) -> None:
    _empty(folder, errata)
    errata("import", "logs", RUN_A)


def _grouped(folder: Path, errata: Errata) -> None:
    _triaged(folder, errata)
    errata("buckets", "list")


def _reported(folder: Path, errata: Errata) -> None:
    """A report that the command replaces: it was written before the failures were reviewed."""
    _grouped(folder, errata)
    errata("report", "latest", "--date", "2026-03-09", "--html")
    errata("review", "run", "latest", "--command", _reader(), "--yes", "--limit", "3")


def _old_store(folder: Path, _errata: Errata) -> None:
    (folder / STORE).parent.mkdir()
    (packed,) = sorted(OLD.glob("*/store.db.gz"))[:1]
    (folder / STORE).write_bytes(gzip.decompress(packed.read_bytes()))


def _reader() -> str:
    return f"{sys.executable} -I -S {READER}"


STAGES = (
    Stage("import", _empty, ("import", "logs")),
    Stage("import", _with_another_run, ("import", "logs")),
    Stage("import", _with_an_earlier_revision, ("import", "logs")),
    Stage("import", _with_another_run, ("import", "logs"), piped=True),
    Stage("triage", _not_triaged, ("triage",)),
    Stage("review", _grouped, ("review", "run", "latest", "--command", _reader(), "--yes")),
    Stage("buckets", _triaged, ("buckets", "list")),
    Stage("report", _grouped, ("report", "latest", "--date", "2026-03-09", "--html")),
    Stage("report", _reported, ("report", "latest", "--date", "2026-03-09", "--html")),
    Stage("migration", _old_store, ("runs",)),
)
