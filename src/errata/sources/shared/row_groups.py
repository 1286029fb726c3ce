"""JSON lines grouped by key, wherever they are in a file.

A first pass records where each line begins and its key; a second reads the lines group by group. A file is never held
in memory whole, although a harness may write the rows of one case thousands of lines apart.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from errata.model import SourceRef, Unreadable
from errata.sources.base import EXCERPT, LINE_CAP, READ_SIZE, Row, decode, describe, relative, row_of, unreadable
from errata.sources.shared.json_rows import LongDocument

END = -1

Key = Callable[[Any], Hashable]
"""The key of a row, from its `fields`; None if the row is a group of its own."""


class Groups:
    """Row numbers by group; for a million rows only these and the hashes of their keys are kept."""

    def __init__(self) -> None:
        self._heads, self._next = array("q"), array("q")
        self._ends: dict[int, tuple[int, int]] = {}

    def add(self, mark: int | None) -> None:
        """`mark` is the hash of the row's key; None if the row is a group of its own."""
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
    def key_count(self) -> int:
        return len(self._ends)

    def of(self, mark: int) -> list[int]:
        ends = self._ends.get(mark)
        return self._from(ends[0]) if ends else []

    def __iter__(self) -> Iterator[list[int]]:
        """In the order of their first rows."""
        return map(self._from, self._heads)

    def _from(self, head: int) -> list[int]:
        numbers, number = [], head
        while number != END:
            numbers.append(number)
            number = self._next[number]
        return numbers


class Lines:
    """The lines of a JSON lines file, by group."""

    def __init__(self, file: FileIO, name: str, source: str) -> None:
        """`file` is unbuffered: the next read is mostly somewhere else."""
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
    def key_count(self) -> int:
        """The number of different keys."""
        return self._groups.key_count

    def together(self) -> Iterator[Row | Unreadable]:
        """One row per group: its data are the group's rows, its position is that of the first."""
        for numbers in self._groups:
            if numbers[0] not in self._taken:
                yield from _as_one([self._row(number) for number in numbers])

    def __contains__(self, key: Hashable) -> bool:
        return bool(self._groups.of(hash(key)))

    def of(self, key: Hashable) -> tuple[Row, ...]:
        """The rows with this key; `together` leaves them out from then on."""
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
            return row_of(line, ref, source=self._source)
        except ValueError as error:
            return None if line.isspace() else unreadable(self._source, ref, describe(error), excerpt=line[:EXCERPT])


@contextmanager
def lines_of(path: Path, fields: type[msgspec.Struct], key: Key, *, source: str, root: Path) -> Iterator[Lines]:
    """`OSError` if the file can't be opened.

    `fields` is a type with only the fields that the key needs: the first pass skips the rest of a line.
    """
    with path.open("rb", buffering=0) as raw:
        lines = Lines(raw, relative(path, root), source)
        with path.open("rb", buffering=READ_SIZE) as file:
            lines.survey(file, fields, key)
        yield lines


def read_groups(
    path: Path, fields: type[msgspec.Struct], key: Key, *, source: str, root: Path
) -> Iterator[Row | Unreadable]:
    """All groups of a file, or one `Unreadable` if it can't be opened."""
    try:
        with lines_of(path, fields, key, source=source, root=root) as lines:
            yield from lines.together()
    except (OSError, ValueError) as error:
        yield unreadable(source, SourceRef(file=relative(path, root)), describe(error))


def copied_row(source: str, ref: SourceRef, name: str, original: SourceRef | None = None) -> Unreadable:
    """A row that equals another one in every field; `name` is what it holds, as its harness names it."""
    note = unreadable(source, ref, f"a copy of {original or 'an earlier row'}")
    return msgspec.structs.replace(note, copy_of=name)


def split_copies(rows: Iterable[Row], name: str, *, source: str) -> tuple[tuple[Row, ...], list[Unreadable]]:
    """The rows of one group without those that equal an earlier one, and a note for each that was left out."""
    kept: list[Row] = []
    by_content: dict[int, list[Row]] = {}
    copies: list[Unreadable] = []
    for row in rows:
        alike = by_content.setdefault(_content_hash(row.data), [])
        original = next((one for one in alike if one.data == row.data), None)
        if original is None:
            alike.append(row)
            kept.append(row)
        else:
            copies.append(copied_row(source, row.ref, name, original.ref))
    return tuple(kept), copies


class Copies:
    """Finds rows that equal the first one of their key; for a million rows only hashes are kept."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}

    def includes(self, key: Hashable, content: Any) -> bool:
        """Whether an earlier row has this key and this content."""
        mark, hashed = hash(key), _content_hash(content)
        if mark in self._first:
            return self._first[mark] == hashed
        self._first[mark] = hashed
        return False


def _content_hash(content: Any) -> int:
    try:
        return hash(msgspec.json.encode(content, order="deterministic"))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return hash(repr(content))


def repeated_rows(
    rows: Iterable[Row], name: str, *, source: str, key: Callable[[Any], Hashable] = lambda _: None
) -> Iterator[Unreadable]:
    """The rows of `name` whose key an earlier row has: a source that uses only one of them must not hide the others."""
    first: dict[Hashable, Row] = {}
    for row in rows:
        earlier = first.setdefault(key(row.data), row)
        if earlier is not row and earlier.data == row.data:
            yield copied_row(source, row.ref, name, earlier.ref)
        elif earlier is not row:
            yield unreadable(
                source, row.ref, f"repeats {name}, which is also at {earlier.ref}: only one of them is read"
            )


def repetitions(rows: Iterable[Row], key: Callable[[Any], Hashable]) -> list[Row]:
    first: dict[Hashable, Row] = {}
    return [row for row in rows if first.setdefault(key(row.data), row) is not row]


class ItemGroups:
    """The same for the items of a document with a long list."""

    def __init__(self, document: LongDocument, fields: type[msgspec.Struct], key: Key) -> None:
        self._document, self._groups = document, Groups()
        self._taken: set[int] = set()
        decoder = msgspec.json.Decoder(fields)
        for item in document.items:
            self._groups.add(mark_of(bytes(item), decoder, key))

    def together(self) -> Iterator[Row | Unreadable]:
        for numbers in self._groups:
            if numbers[0] not in self._taken:
                yield from _as_one([self._document.row(number) for number in numbers])
        yield from self._document.problems()

    def of(self, key: Hashable) -> tuple[Row, ...]:
        numbers = self._groups.of(hash(key))
        self._taken.update(numbers[:1])
        return tuple(row for row in map(self._document.row, numbers) if type(row) is Row)


def mark_of(data: bytes, decoder: "msgspec.json.Decoder[Any]", key: Key) -> int | None:
    try:
        try:
            value = key(decoder.decode(data))
        except (msgspec.DecodeError, RecursionError):
            value = key(msgspec.convert(decode(data), decoder.type))
        return None if value is None else hash(value)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError):
        return None


def _as_one(rows: list[Row | Unreadable | None]) -> Iterator[Row | Unreadable]:
    yield from (row for row in rows if type(row) is Unreadable)
    read = tuple(row for row in rows if type(row) is Row)
    if read:
        yield Row(read, read[0].ref)
