"""JSON lines that belong together, wherever in a file they stand.

A first reading keeps where each line begins and what it belongs to; then the lines of one thing after the other are
taken. So a file is never held whole, although a harness writes the rows of one case thousands of lines apart.
"""

from array import array
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, LINE_CAP, READ_SIZE, Row, decode, describe, relative, unreadable
from errata.sources.shared.json_rows import LongDocument

END = -1

Key = Callable[[Any], Hashable]
"""Of a row as far as its `fields` go: what it belongs to; none where it stands for itself."""


class Groups:
    """Which rows belong together, as numbers; of a million rows only these and the hashes of their keys are kept."""

    def __init__(self) -> None:
        self._heads, self._next = array("q"), array("q")
        self._ends: dict[int, tuple[int, int]] = {}

    def add(self, mark: int | None) -> None:
        """`mark` is the hash of what the row belongs to; none where it stands for itself."""
        number = len(self._next)
        self._next.append(END)
        ends = self._ends.get(mark) if mark is not None else None
        if ends is None:
            self._heads.append(number)
        else:
            self._next[ends[1]] = number
        if mark is not None:
            self._ends[mark] = (ends[0] if ends else number, number)

    @property
    def named(self) -> int:
        return len(self._ends)

    def of(self, mark: int) -> list[int]:
        ends = self._ends.get(mark)
        return self._from(ends[0]) if ends else []

    def __iter__(self) -> Iterator[list[int]]:
        """In the order in which they begin."""
        return map(self._from, self._heads)

    def _from(self, head: int) -> list[int]:
        found, number = [], head
        while number != END:
            found.append(number)
            number = self._next[number]
        return found


class Lines:
    """A file of JSON lines, by what they belong to."""

    def __init__(self, file: FileIO, name: str, source: str) -> None:
        """`file` is unbuffered: what is read next mostly stands somewhere else."""
        self._file, self._name, self._source = file, name, source
        self._places, self._groups = array("q", [0]), Groups()
        self._taken: set[int] = set()

    def survey(self, file: BinaryIO, fields: type[msgspec.Struct], key: Key) -> None:
        decoder, at = msgspec.json.Decoder(fields), 0
        while line := file.readline(LINE_CAP + 1):
            at += len(line)
            self._groups.add(mark_of(line, decoder, key))
            while len(line) > LINE_CAP and not line.endswith(b"\n"):
                line = file.readline(LINE_CAP + 1)
                at += len(line)
            self._places.append(at)

    @property
    def named(self) -> int:
        """How many different things the lines belong to."""
        return self._groups.named

    def together(self) -> Iterator[Row | Unreadable]:
        """A row for each group: its data are the rows themselves, its place is that of the first."""
        for numbers in self._groups:
            if numbers[0] not in self._taken:
                yield from _as_one([self._row(number) for number in numbers])

    def __contains__(self, key: Hashable) -> bool:
        return bool(self._groups.of(hash(key)))

    def of(self, key: Hashable) -> tuple[Row, ...]:
        """The rows that belong to a key; `together` passes over them from then on."""
        numbers = self._groups.of(hash(key))
        self._taken.update(numbers[:1])
        return tuple(row for row in map(self._row, numbers) if type(row) is Row)

    def _row(self, number: int) -> Row | Unreadable | None:
        """None for an empty line."""
        ref = SourceRef(file=self._name, line=number + 1)
        start, end = self._places[number], self._places[number + 1]
        self._file.seek(start)
        if end - start > LINE_CAP + 1:
            head = self._file.read(EXCERPT)
            return unreadable(self._source, ref, f"line longer than {LINE_CAP // 2**20} MB", excerpt=head)
        line = self._file.read(end - start)
        try:
            return Row(decode(line), ref)
        except ValueError as error:
            return None if line.isspace() else unreadable(self._source, ref, describe(error), excerpt=line[:EXCERPT])


@contextmanager
def lines_of(path: Path, fields: type[msgspec.Struct], key: Key, *, source: str, root: Path) -> Iterator[Lines]:
    """`OSError` where the file can't be opened.

    `fields` is a type with nothing but what the key needs: the rest of a line is then passed over in the first reading.
    """
    with path.open("rb", buffering=0) as raw:
        lines = Lines(raw, relative(path, root), source)
        with path.open("rb", buffering=READ_SIZE) as file:
            lines.survey(file, fields, key)
        yield lines


def gathered(
    path: Path, fields: type[msgspec.Struct], key: Key, *, source: str, root: Path
) -> Iterator[Row | Unreadable]:
    """All groups of a file, and one `Unreadable` where there is no such file."""
    try:
        with lines_of(path, fields, key, source=source, root=root) as lines:
            yield from lines.together()
    except (OSError, ValueError) as error:
        yield unreadable(source, SourceRef(file=relative(path, root)), describe(error))


class Items:
    """The same for the items of a document that holds a long list."""

    def __init__(self, document: LongDocument, fields: type[msgspec.Struct], key: Key) -> None:
        self._document, self._groups = document, Groups()
        decoder = msgspec.json.Decoder(fields)
        for item in document.items:
            self._groups.add(mark_of(bytes(item), decoder, key))

    def together(self) -> Iterator[Row | Unreadable]:
        for numbers in self._groups:
            yield from _as_one([self._document.row(number) for number in numbers])
        yield from self._document.problems()

    def of(self, key: Hashable) -> tuple[Row, ...]:
        numbers = self._groups.of(hash(key))
        return tuple(row for row in map(self._document.row, numbers) if type(row) is Row)


def mark_of(data: bytes, decoder: "msgspec.json.Decoder[Any]", key: Key) -> int | None:
    try:
        try:
            found = key(decoder.decode(data))
        except msgspec.DecodeError:
            found = key(msgspec.convert(decode(data), decoder.type))
        return None if found is None else hash(found)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError):
        return None


def _as_one(rows: list[Row | Unreadable | None]) -> Iterator[Row | Unreadable]:
    yield from (row for row in rows if type(row) is Unreadable)
    read = tuple(row for row in rows if type(row) is Row)
    if read:
        yield Row(read, read[0].ref)
