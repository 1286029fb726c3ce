"""The patches that were handed in: JSON lines, a list, or an object by instance. A patch is read when it is needed."""

from collections.abc import Container, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import SourceRef, Unreadable
from errata.sources.base import BYTE_ORDER_MARK, LINE_CAP, READ_SIZE, decode, describe, head_of, relative, unreadable
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.values import mapping, text
from errata.sources.swe_bench.layout import NAME

FIRST = 64 * 1024
SHOWN = 20


class Place(NamedTuple):
    ref: SourceRef
    path: Path
    at: int = 0
    piece: bytes | None = None


class Predictions:
    """By model, as its name is written in paths, and by instance."""

    def __init__(self, files: Iterable[Path], root: Path) -> None:
        self.names: dict[str, str] = {}
        """The model as a path writes it → as the predictions do."""
        self._places: dict[tuple[str, str], Place] = {}
        self._problems: list[Unreadable] = []
        for path in files:
            for place in _places(path, root, self._problems):
                self._note(place)

    def get(self, model: str, instance: str) -> dict[str, Any]:
        """Empty where nothing was handed in."""
        place = self._places.get((model, instance))
        return _row(place) if place else {}

    def left_over(self, model: str, names: Container[str]) -> list[str]:
        """Patches that meet no instance of a run: they were handed in for others, or never evaluated."""
        others = (
            " of ".join(filter(None, (name, of))) for of, name in self._places if of != model or name not in names
        )
        return [*islice(others, SHOWN)]

    def problems(self) -> Iterator[Unreadable]:
        found, self._problems = self._problems, []
        yield from found

    def _note(self, place: Place) -> None:
        try:
            row = _row(place)
        except ValueError as error:
            self._problems.append(unreadable(NAME, place.ref, describe(error)))
            return
        model, instance = text(row.get("model_name_or_path")), text(row.get("instance_id")) or _last(place.ref)
        self.names.setdefault(in_path(model), model)
        self._places.setdefault((in_path(model), instance), place)


def in_path(model: str) -> str:
    """How SWE-bench writes the name of a model in paths."""
    return model.replace("/", "__")


def _row(place: Place) -> dict[str, Any]:
    if place.piece is not None:
        return mapping(decode(place.piece))
    with place.path.open("rb") as file:
        file.seek(place.at)
        return mapping(decode(file.readline(LINE_CAP)))


def _places(path: Path, root: Path, problems: list[Unreadable]) -> Iterator[Place]:
    head = head_of(path, FIRST).lstrip()
    if head.startswith(b"{") and _is_row(head.partition(b"\n")[0]):
        yield from _lines(path, root)
        return
    document = long_document(path, "" if head.startswith(b"[") else " ", source=NAME, root=root)
    if isinstance(document, Unreadable):
        problems.append(document)
        return
    problems.extend(document.problems())
    yield from (Place(document.ref.below(at), path, piece=bytes(one)) for at, one in enumerate(document.items))
    yield from (Place(document.ref.below(name), path, piece=one) for name, one in document.fields.items())


def _lines(path: Path, root: Path) -> Iterator[Place]:
    name, at, number = relative(path, root), 0, 0
    with path.open("rb", buffering=READ_SIZE) as file:
        for line in file:
            number += 1
            if line.strip().removeprefix(BYTE_ORDER_MARK):
                yield Place(SourceRef(file=name, line=number), path, at)
            at += len(line)


def _is_row(line: bytes) -> bool:
    """A line may be longer than what was looked at; then it is cut off, and a row all the same."""
    try:
        return "instance_id" in mapping(decode(line))
    except ValueError:
        return line.lstrip(b"{ ").startswith((b'"instance_id"', b'"model_name_or_path"', b'"model_patch"'))


def _last(ref: SourceRef) -> str:
    return ref.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
