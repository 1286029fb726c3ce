"""A log that was imported before and has grown: only the lines that were added are read."""

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import msgspec

from errata import sources
from errata.errors import ErrataError
from errata.model import Unreadable
from errata.model.identity import fingerprint
from errata.runs.frames import rows_as_sent
from errata.runs.log_search import Order, found_by
from errata.runs.log_states import LogState, log_of, stat_of, state_of
from errata.sources.line_growth import EarlierRows, LineTail
from errata.store.content_digest import ContentDigest, HashedContent
from errata.store.database import Store
from errata.store.growth import (
    GrowableRun,
    Growth,
    StoredRows,
    growable_run,
    grown_run,
    keep_growth,
    packed_rows,
    write_grown,
)
from errata.store.packing import seal
from errata.store.run_totals import UNREADABLE_KEPT, ImportedRun
from errata.store.runs import unreadables_of
from errata.store.shared_rows import laid_out, pack_shared
from errata.text.line_feeds import count_line_feeds

MOST_ADDED = 32 * 1024 * 1024
"""More is imported with the whole log: what is added is held in memory and written in one transaction."""
READ_SIZE = 1024 * 1024
_NO_ROWS = StoredRows(HashedContent({}, b"", b""), 0, 0, None, None)


class GrownPath(NamedTuple):
    """What a path holds now."""

    run: ImportedRun
    attempts: int
    problems: list[Unreadable]


def is_known(order: Order, store: Store) -> bool:
    """Whether this log was imported before, so that it need not be read as a whole."""
    return growable_run(store, _key(order)) is not None


class HashedLog:
    """The bytes of a log, hashed by a thread of its own while the log is imported."""

    def __init__(self, before: LogState) -> None:
        self._before = before
        self._prefix: _Prefix | None = None
        # hashing and reading do not need the interpreter; a process that ends need not wait for it
        self._thread = Thread(target=self._hash, daemon=True)
        self._thread.start()

    def _hash(self) -> None:
        size = self._before.stat[0]
        with suppress(OSError):
            self._prefix = _read(self._before.file, size, size, count=True)

    def keep(self, order: Order, run: ImportedRun, hashed: HashedContent | None, store: Store) -> None:
        """After the whole log was imported: remember its bytes, unless they changed meanwhile."""
        if hashed is None or run.change == "kept":
            return
        self._thread.join()
        before, prefix = self._before, self._prefix
        if prefix is not None and prefix.ends_line and state_of(order) == before:
            log = Growth(before.stat[0], prefix.lines, prefix.hash.digest(), before.signature, _NO_ROWS)
            keep_growth(store, run.pk, _key(order), hashed, log)


def grow(order: Order, store: Store, write_waiting: Callable[[], None]) -> GrownPath | None:
    """Import what was added to the log of an order. None where it has to be imported as a whole.

    `write_waiting` is called before anything is written: runs of other paths come first.
    """
    known = growable_run(store, _key(order))
    if known is None:
        return None
    write_waiting()
    try:
        return _grow(order, known, store)
    except (ErrataError, OSError, ValueError):
        return None  # importing the whole log reports it


def _grow(order: Order, known: GrowableRun, store: Store) -> GrownPath | None:
    match, growth = found_by(order), known.growth
    log = log_of(match)
    if log is None or log.signature != growth.signature:
        return None
    before, earlier = stat_of(log.file), unreadables_of(store, known.pk)
    added = before[0] - growth.size
    if not 0 <= added <= MOST_ADDED or not _are_lines(earlier):
        return None
    prefix, after = _read(log.file, growth.size, before[0]), packed_rows(store, known)
    if prefix is None or prefix.hash.digest() != growth.sha256 or after is None:
        return None
    tail = LineTail(prefix.rest, growth.lines, _earlier_rows(known))
    added_rows = map(rows_as_sent, pack_shared(sources.read_tail(match, log, tail)))
    batches = laid_out(added_rows, after)
    grown = grown_run(known, earlier, seal(batches, {known.run.id: ContentDigest(growth.rows.hashed)}))
    prefix.hash.update(prefix.rest)
    ends_line = prefix.ends_line if not prefix.rest else prefix.rest.endswith(b"\n")
    state = Growth(
        before[0], growth.lines + count_line_feeds(prefix.rest), prefix.hash.digest(), log.signature, _NO_ROWS
    )
    if stat_of(log.file) != before or not ends_line:
        state = msgspec.structs.replace(state, size=0)
    done = write_grown(store, known, grown, _key(order), state)
    return None if done is None else GrownPath(done, known.counts.attempts + grown.rows, _in_order(grown.unreadables))


def _earlier_rows(known: GrowableRun) -> EarlierRows:
    rows = known.growth.rows
    return EarlierRows(known.run, known.counts.attempts, rows.first_position, rows.last_position)


def _are_lines(problems: list[Unreadable]) -> bool:
    """Anything else that could not be read may have ended the reading, or concerns the whole log."""
    are_lines = all(item.ref is not None and item.ref.line and not item.in_part for item in problems)
    return are_lines and len(problems) < UNREADABLE_KEPT


def _in_order(problems: list[Unreadable]) -> list[Unreadable]:
    return sorted(problems, key=lambda item: item.ref.line or 0 if item.ref else 0)


class _Prefix(NamedTuple):
    hash: Any
    lines: int
    """0 if they were not counted."""
    ends_line: bool
    rest: bytes
    """What follows it."""


def _read(path: Path, size: int, end: int, *, count: bool = False) -> _Prefix | None:
    """The hash over the first bytes of a file, and the bytes from there to the end; None if it is shorter.

    `count`: how many lines the first bytes have.
    """
    content, lines, last = sha256(), 0, b""
    with path.open("rb", buffering=0) as file:
        left = size
        while left and (data := file.read(min(READ_SIZE, left))):
            content.update(data)
            lines += count_line_feeds(data) if count else 0
            left, last = left - len(data), data[-1:]
        rest = bytearray()
        while not left and len(rest) < end - size and (data := file.read(end - size - len(rest))):
            rest += data
    return None if left or len(rest) < end - size else _Prefix(content, lines, last == b"\n", bytes(rest))


def _key(order: Order) -> str:
    path, mapping = Path(order.path).absolute(), Path(order.map).absolute() if order.map else ""
    return fingerprint(str(path), order.source, str(mapping), size=16)
