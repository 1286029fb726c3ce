"""JSON lines that belong together, wherever in the file they stand.

A first reading keeps where each line begins and what it belongs to; a second one takes the lines of one thing after the
other. So a file is never held whole, although a harness writes the rows of one case thousands of lines apart.
"""

from array import array
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, LINE_CAP, READ_SIZE, Row, decode, describe, relative, unreadable
from errata.sources.long_documents import long_document

END = -1

Key = Callable[[Any], Hashable]
"""Of a row as far as its `fields` go: what it belongs to; none where it stands for itself."""


class Groups:
    """Which rows belong together, as numbers; of a million rows only these and the hashes of their keys are kept."""

    def __init__(self) -> None:
        self._heads, self._next = array("q"), array("q")
        self._last: dict[int, int] = {}

    def add(self, mark: int | None) -> None:
        """`mark` is the hash of what the row belongs to; none where it stands for itself."""
        number = len(self._next)
        self._next.append(END)
        before = self._last.get(mark) if mark is not None else None
        if before is None:
            self._heads.append(number)
        else:
            self._next[before] = number
        if mark is not None:
            self._last[mark] = number

    def __iter__(self) -> Iterator[list[int]]:
        """In the order in which they begin."""
        for head in self._heads:
            found, number = [], head
            while number != END:
                found.append(number)
                number = self._next[number]
            yield found


def gathered(
    path: Path, fields: type[msgspec.Struct], key: Key, *, source: str, root: Path
) -> Iterator[Row | Unreadable]:
    """A row for each group of lines: its data are the rows themselves, its place is that of the first.

    `fields` is a type with nothing but what the key needs: the rest of a line is then passed over in the first reading.
    """
    name = relative(path, root)
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            places, groups = _survey(file, msgspec.json.Decoder(fields), key)
            for numbers in groups:
                rows = [_row(file, places[number], SourceRef(file=name, line=number + 1), source) for number in numbers]
                yield from _together(rows)
    except (OSError, ValueError) as error:
        yield unreadable(source, SourceRef(file=name), describe(error))


def gathered_items(
    path: Path, fields: type[msgspec.Struct], key: Key, *, source: str, root: Path
) -> Iterator[Row | Unreadable]:
    """The same for the items of a document that is one list."""
    document = long_document(path, "", source=source, root=root)
    if isinstance(document, Unreadable):
        yield document
        return
    groups, decoder = Groups(), msgspec.json.Decoder(fields)
    for item in document.items:
        groups.add(_mark(bytes(item), decoder, key))
    for numbers in groups:
        yield from _together([document.row(number) for number in numbers])
    yield from document.problems()


def _together(rows: list[Row | Unreadable | None]) -> Iterator[Row | Unreadable]:
    yield from (row for row in rows if type(row) is Unreadable)
    read = tuple(row for row in rows if type(row) is Row)
    if read:
        yield Row(read, read[0].ref)


def _survey(file: BinaryIO, decoder: "msgspec.json.Decoder[Any]", key: Key) -> tuple["array[int]", Groups]:
    places, groups, at = array("q"), Groups(), 0
    while line := file.readline(LINE_CAP + 1):
        places.append(at)
        at += len(line)
        groups.add(_mark(line, decoder, key))
        while len(line) > LINE_CAP and not line.endswith(b"\n"):
            line = file.readline(LINE_CAP + 1)
            at += len(line)
    return places, groups


def _mark(line: bytes, decoder: "msgspec.json.Decoder[Any]", key: Key) -> int | None:
    try:
        try:
            found = key(decoder.decode(line))
        except msgspec.DecodeError:
            found = key(msgspec.convert(decode(line), decoder.type))
        return None if found is None else hash(found)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError):
        return None


def _row(file: BinaryIO, at: int, ref: SourceRef, source: str) -> Row | Unreadable | None:
    """None for an empty line."""
    file.seek(at)
    line = file.readline(LINE_CAP + 1)
    if len(line) > LINE_CAP and not line.endswith(b"\n"):
        return unreadable(source, ref, f"line longer than {LINE_CAP // 2**20} MB", excerpt=line[:EXCERPT])
    try:
        return Row(decode(line), ref)
    except ValueError as error:
        return None if line.isspace() else unreadable(source, ref, describe(error), excerpt=line[:EXCERPT])
