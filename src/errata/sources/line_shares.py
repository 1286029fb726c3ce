"""Lines of one file among several readers: each reads every n-th stretch of bytes, and counts the lines of the rest."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

import msgspec

from errata.errors import ReadAloneError
from errata.model import Item, Unreadable
from errata.model.attempt_rows import AttemptRows
from errata.model.record import TurnBegins
from errata.sources.base import LINE_CAP, ReaderShare, Row, decode_lines, head_of, relative
from errata.sources.json_values import wide_encoding
from errata.text.line_feeds import LONG_LINE, count_line_feeds

T = TypeVar("T")

TURN_SIZE = 256 * 1024
"""What a reader makes of one turn fits into the pipe, so that it can go on while another one's turn is written."""

PackLines = Callable[[bytes, int], AttemptRows | None]
"""From some lines, and how many come before them, to their attempts; None where they are not usual."""


@runtime_checkable
class RowShareable(Protocol):
    """A source that can divide the lines of a log with one run among readers."""

    def read_rows(self, path: Path, share: ReaderShare) -> Iterator[Item | TurnBegins | AttemptRows] | None:
        """One reader's share. The shares in turn order are the items that `read` yields, or rows of them.

        None where a log can't be divided. `ReadAloneError` where that is noticed later.
        """


def can_share_lines(path: Path) -> bool:
    """Not in UTF-16 and UTF-32, where a byte of a character may look like the end of a line."""
    return not wide_encoding(head_of(path, 4)) and path.is_file()


def shared_json_lines(
    path: Path, share: ReaderShare, *, source: str, root: Path, usual: type | None = None, pack: PackLines | None = None
) -> Iterator[Row | Unreadable | TurnBegins | AttemptRows]:
    """One reader's lines of a file, with a `TurnBegins` before each turn. The first reader ends with one, too.

    Where `pack` makes something of a whole turn, that takes the place of its rows.
    """
    name = relative(path, root)
    try:
        with path.open("rb", buffering=0) as file:
            for number, data in _turns(file, path.stat().st_size, share):
                yield TurnBegins(0)
                packed = pack(data, number) if pack is not None and data else None
                if packed is not None:
                    yield packed
                else:
                    yield from decode_lines(io.BytesIO(data).readline, name, source, usual, before=number)
    except OSError as error:
        raise ReadAloneError(f"`{path}` can't be shared: {error}") from error
    if share.number == 0:  # before it waits for the others, what it has read must be out of its hands
        yield TurnBegins(0)


def values_of_lines(data: bytes, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """The object on each line, all at once; None where one does not fit, or a line is not one object and nothing else.

    JSON has no object behind another, so a line feed between two of them is between two lines.
    """
    lines = _lines_of_objects(data) if len(data) <= LINE_CAP and data.startswith(b"{") else 0
    if not lines:
        return None
    try:
        values = decoder.decode_lines(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return values if len(values) == lines else None


def _lines_of_objects(data: bytes) -> int:
    """How many lines there are; 0 unless the border between two lines is always one between two objects."""
    lines = count_line_feeds(data) + (not data.endswith(b"\n"))
    if len(data) < LONG_LINE * lines:
        return lines if data.count(b"}\n{") == lines - 1 else 0
    at = data.find(b"\n")
    while 0 <= at < len(data) - 1:
        if data[at - 1] != _CLOSING or data[at + 1] != _OPENING:
            return 0
        at = data.find(b"\n", at + 1)
    return lines


_OPENING, _CLOSING = b"{}"


def _turns(file: io.FileIO, size: int, share: ReaderShare) -> Iterator[tuple[int, bytes]]:
    """The whole lines that begin in each turn of this reader, and how many lines come before them."""
    lines = 0
    buffer = bytearray(TURN_SIZE)
    for number, start in enumerate(range(0, size, TURN_SIZE)):
        # a line begins behind the line feed of another one: the byte before a turn belongs to it, the last does not
        file.seek(max(start - 1, 0))
        data = memoryview(buffer)[: _fill(file, memoryview(buffer)[: TURN_SIZE - (not start)])]
        if number % share.of == share.number:
            first = buffer.find(b"\n", 0, len(data)) + 1 if start else 0
            begins_line = first > 0 or not start
            yield lines, b"".join((data[first:], _rest_of_line(file))) if begins_line else b""
        lines += count_line_feeds(buffer, len(data)) + (not start)


def _fill(file: io.FileIO, view: memoryview) -> int:
    """How many bytes were read; fewer than there is room for only at the end of the file."""
    size = 0
    while size < len(view) and (more := file.readinto(view[size:])):
        size += more
    return size


def _rest_of_line(file: io.FileIO) -> bytes:
    """From here to the end of the line, or so much of it that it is known to be too long."""
    rest = bytearray()
    while len(rest) <= LINE_CAP and (piece := file.read(64 * 1024)):
        end = piece.find(b"\n") + 1
        rest += piece[:end] if end else piece
        if end:
            break
    return bytes(rest)
