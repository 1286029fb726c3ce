"""Logs that grow line by line: after a first import, only the lines that were added are read."""

import io
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from errata.model import Item, Run, Unreadable
from errata.model.attempt_rows import AttemptRows
from errata.sources.base import Row, decode_lines, relative
from errata.sources.line_shares import TURN_SIZE, PackLines
from errata.text.line_feeds import count_line_feeds


class EarlierRows(NamedTuple):
    """What an earlier import made of the lines before. Each gave one attempt at a case of its own."""

    run: Run
    attempts: int
    first_position: int | None
    last_position: int | None


class LineTail(NamedTuple):
    """The lines that were added."""

    data: bytes
    lines_before: int
    earlier: EarlierRows


class GrowingLog(NamedTuple):
    """A log whose rows are the lines of one file."""

    file: Path
    signature: str
    """Covers everything else that the records of a row are made from. If it changes, all rows are read again."""
    read_tail: Callable[[LineTail], Iterator[Item | AttemptRows]]
    """The run, the items of the added rows, and the run again, as reading the whole log would give them.

    `ReadAloneError` if an added row depends on an earlier one.
    """


@runtime_checkable
class Growing(Protocol):
    """A source with logs that grow line by line."""

    def growing_log(self, path: Path) -> GrowingLog | None:
        """None where a row may depend on others."""


def tail_json_lines(
    tail: LineTail, log: Path, *, source: str, root: Path, usual: type | None = None, pack: PackLines | None = None
) -> Iterator[Row | Unreadable | AttemptRows]:
    """The added lines, with the line numbers that they have in the file.

    Where `pack` makes something of many lines, that takes the place of their rows.
    """
    name, before = relative(log, root), tail.lines_before
    for data in _stretches(tail.data):
        packed = pack(data, before) if pack is not None else None
        if packed is not None:
            yield packed
        else:
            yield from decode_lines(io.BytesIO(data).readline, name, source, usual, before=before)
        before += count_line_feeds(data)


def _stretches(data: bytes) -> Iterator[bytes]:
    """Whole lines, a few hundred kilobytes at once."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + TURN_SIZE) + 1 or len(data)
        yield data[start:end]
        start = end


def signature_of(*facts: Any) -> str:
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
