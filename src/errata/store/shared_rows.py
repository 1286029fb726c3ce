"""Rows of one run that several readers share: what a reader sends, and the places that one reader would have given.

A reader packs its records into two streams of bytes. The writing process cuts the streams into blocks and batches where
a reader of the whole log would have cut them, so that the store is the same, bit for bit, however many read.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, count
from operator import add, lt
from struct import Struct
from sys import maxsize
from typing import Any

import msgspec

from errata.model import Attempt, Case, Check, Item, Run, Unreadable
from errata.model.attempt_rows import AttemptRows
from errata.model.codec import pack, pack_into
from errata.model.record import TurnBegins
from errata.store.blocks import BLOCK_SIZE, LENGTH, NO_LENGTH
from errata.store.columns import Columns
from errata.store.packing import (
    BATCH_ROWS,
    BATCH_SIZE,
    Blob,
    CheckCounter,
    DescribedCases,
    PackedBatch,
    PackedRows,
    RunPart,
    Tally,
    count_checks,
    facts_of,
    noteworthy_checks,
    stored_attempt,
    stored_case,
)

FRAME_SIZE = 256 * 1024
_length = Struct(">I")
assert _length.size == LENGTH


class RowEvent(msgspec.Struct, array_like=True):
    """A case or an unreadable item, which came before an attempt of the same frame."""

    before: int
    case: tuple[str, str, str, bytes] | None = None
    """Key, digest, category and record."""
    size: int = 0
    """Of the case's files."""
    unreadable: tuple[str, Unreadable] | None = None


class SharedRows(msgspec.Struct, array_like=True):
    """What one reader sends of its turn."""

    run: str = ""
    runs: list[Run] = []
    attempts: Columns = msgspec.field(default_factory=Columns)
    """Between an attempt's number and its addresses."""
    records: bytes = b""
    record_ends: list[int] = []
    steps: bytes = b""
    step_ends: list[int] = []
    """Empty where no attempt has steps."""
    sizes: dict[int, int] = {}
    """Attempt → size of its files, where it has any."""
    events: list[RowEvent] = []
    checks: list[tuple[int, int, str, str]] = []
    """Each begins with the place of its attempt in the frame."""
    blobs: list[Blob] = []
    tally: Tally = {}
    items: int = 0
    ends_turn: bool = False


def pack_shared(items: Iterable[Item | TurnBegins | AttemptRows]) -> Iterator[SharedRows]:
    """The share of one reader, in frames that fit into a pipe. All of it belongs to one run."""
    packer = _FramePacker()
    turns = 0
    for item in items:
        if type(item) is Attempt:
            packer.add_attempt(item)
        elif type(item) is Case:
            packer.add_case(item)
        elif type(item) is Unreadable:
            packer.frame.events.append(RowEvent(len(packer.rows), unreadable=(item.run, item)))
        elif type(item) is Run:
            packer.frame.runs.append(item)
        elif type(item) is AttemptRows:
            if packer.is_begun:
                yield packer.take()
            yield _frame_of(item)
            continue
        elif type(item) is TurnBegins:
            yield packer.take(ends_turn=turns > 0)
            turns += 1
            continue
        packer.frame.items += 1
        if packer.is_full:
            yield packer.take()
    yield packer.take()


class _FramePacker:
    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.frame = SharedRows()
        self.rows: list[tuple[Any, ...]] = []
        self._records, self._steps = bytearray(), bytearray()
        self._checks = CheckCounter()

    @property
    def is_full(self) -> bool:
        size = len(self._records) + len(self._steps)
        return size >= FRAME_SIZE or len(self.rows) + len(self.frame.events) >= BATCH_ROWS

    @property
    def is_begun(self) -> bool:
        return self.frame.items > 0

    def take(self, *, ends_turn: bool = False) -> SharedRows:
        frame = self.frame
        frame.attempts = Columns.of(self.rows)
        if not self._steps:
            frame.step_ends = []
        frame.records, frame.steps, frame.ends_turn = bytes(self._records), bytes(self._steps), ends_turn
        self._checks.count(frame.tally)
        self._begin()
        return frame

    def add_attempt(self, attempt: Attempt) -> None:
        frame = self.frame
        place = len(self.rows)
        frame.run = attempt.run
        if attempt.steps:
            _append(attempt.steps, self._steps)
        frame.step_ends.append(len(self._steps))
        kept, size = stored_attempt(attempt, frame.blobs)
        _append(kept, self._records)
        frame.record_ends.append(len(self._records))
        if size:
            frame.sizes[place] = size
        self.rows.append(facts_of(attempt))
        if attempt.checks:
            for noteworthy in self._checks.add(attempt.checks, frame.tally):
                frame.checks.append((place, *noteworthy))

    def add_case(self, case: Case) -> None:
        frame = self.frame
        frame.run = case.run
        kept, size = stored_case(case, frame.blobs)
        described = (case.key, case.digest, case.category, pack(kept))
        frame.events.append(RowEvent(len(self.rows), described, size))


def _frame_of(rows: AttemptRows) -> SharedRows:
    frame = SharedRows(run=rows.run, items=len(rows))
    facts = [rows.cases, 1, None, "", rows.positions, True, rows.failures, "completed", rows.measurements]
    frame.attempts = Columns(len(rows), [*facts, rows.outcomes, rows.tokens, None, None])
    frame.records, frame.record_ends = _stream_of(rows.records)
    frame.steps, frame.step_ends = _stream_of(rows.steps)
    if rows.checks:
        frame.checks, frame.tally = _noteworthy_and_tally(rows.checks)
    return frame


def _noteworthy_and_tally(shared: list[tuple[Check, ...]]) -> tuple[list[tuple[int, int, str, str]], Tally]:
    """As `CheckCounter` makes them of rows that share their checks."""
    tally: Tally = {}
    marks = list(map(id, shared))
    known = dict(zip(marks, shared, strict=True))
    noteworthy = {mark: noteworthy_checks(checks) for mark, checks in known.items()}
    for mark, often in Counter(marks).items():
        count_checks(tally, known[mark], often)
    return [(place, *check) for place, mark in enumerate(marks) for check in noteworthy[mark]], tally


def _stream_of(records: list[bytes]) -> tuple[bytes, list[int]]:
    """The records with their lengths before them, and where each ends."""
    lengths = list(map(len, records))
    ends = list(map(add, accumulate(lengths), count(LENGTH, LENGTH)))
    return b"".join(chain.from_iterable(zip(map(_length.pack, lengths), records, strict=True))), ends


def _append(record: object, stream: bytearray) -> None:
    at = len(stream)
    stream += NO_LENGTH
    pack_into(record, stream)
    stream[at : at + LENGTH] = (len(stream) - at - LENGTH).to_bytes(LENGTH, "big")


def laid_out(frames: Iterable[SharedRows], after: PackedRows | None = None) -> Iterator[PackedBatch]:
    """The batches that one reader of the whole log would have made of the same rows. `after`: they go on."""
    layout = _Layout(after)
    for frame in frames:
        yield from layout.add(frame)
    yield layout.close()


class _Stream:
    """Blocks of one kind: the open one, and what is in it."""

    def __init__(self) -> None:
        self.open = bytearray()
        self.number = -1
        self.start = 0
        """Where the open block begins in the frame, less what it holds of earlier frames."""

    def full_at(self, ends: list[int], start: int) -> int:
        """Behind which record the open block is full; `ends` has the end of each record of the frame."""
        return bisect_left(ends, self.start + BLOCK_SIZE, start) + 1 if ends else maxsize

    def addresses(self, starts: list[int], ends: list[int]) -> list[Any]:
        """The columns for block and place; records may be empty, and then have none."""
        if all(map(lt, starts, ends)):
            return [self.number, [start - self.start for start in starts]]
        is_there = list(map(lt, starts, ends))
        places = [start - self.start if there else None for start, there in zip(starts, is_there, strict=True)]
        return [[self.number if there else None for there in is_there], places]


class _Layout:
    def __init__(self, after: PackedRows | None) -> None:
        self._batch, self._part = PackedBatch(), RunPart()
        self._run = ""
        self._size = self._seq = self._number = 0
        self._records, self._steps = _Stream(), _Stream()
        self._segments: list[Columns] = []
        self._rows = 0
        self._described = DescribedCases()
        if after is not None:
            self._seq, self._number = after.attempts, after.last_block
            for stream, block in ((self._records, after.records), (self._steps, after.steps)):
                if block is not None:
                    stream.number, stream.open = block[0], bytearray(block[1])

    def add(self, frame: SharedRows) -> Iterator[PackedBatch]:
        self._run = self._run or (frame.runs[0].id if frame.runs else frame.run)
        self._batch.runs += frame.runs
        self._batch.items += frame.items
        self._part.blobs += frame.blobs
        _merge(self._part.tally, frame.tally)
        first, done = self._seq, 0
        checks = iter(frame.checks)
        check = next(checks, None)
        for stream in (self._records, self._steps):
            stream.start = -len(stream.open)
        for event in (*frame.events, RowEvent(len(frame.attempts))):
            while done < event.before:
                stop, is_full = self._add_attempts(frame, done, event.before)
                done = stop
                while check is not None and check[0] < stop:
                    self._part.checks.append((first + check[0], *check[1:]))
                    check = next(checks, None)
                if is_full:
                    yield self._take()
            if self._add_event(event):
                yield self._take()
        for stream, data in ((self._records, frame.records), (self._steps, frame.steps)):
            stream.open += data[max(stream.start, 0) :]

    def _add_attempts(self, frame: SharedRows, start: int, end: int) -> tuple[int, bool]:
        """Up to `end`, or to where a batch is full; returns where, and whether it is."""
        end = min(end, start + BATCH_ROWS - self._rows)
        while start < end and self._size < BATCH_SIZE:
            # rows of the same two blocks; the last of them may fill one
            stop = min(
                end, self._records.full_at(frame.record_ends, start), self._steps.full_at(frame.step_ends, start)
            )
            if frame.sizes:
                stop = min([stop, *(place + 1 for place in frame.sizes if place >= start)])
            self._segments.append(self._segment(frame, start, stop))
            self._size += frame.sizes.get(stop - 1, 0)
            start = stop
        return start, self._rows >= BATCH_ROWS or self._size >= BATCH_SIZE

    def _segment(self, frame: SharedRows, start: int, stop: int) -> Columns:
        """The rows with their places and addresses."""
        records, steps = self._records, self._steps
        starts = _starts(frame.record_ends, start, stop)
        steps_starts = _starts(frame.step_ends, start, stop)
        has_steps = steps_starts != frame.step_ends[start:stop]
        opening = [(records, starts[0])]
        if has_steps:
            # as one reader numbers them: an attempt's steps come before its record
            opening.insert(0 if steps_starts[0] < frame.step_ends[start] else 1, (steps, steps_starts[0]))
        for stream, at in opening:
            self._open(stream, at)
        addresses = steps.addresses(steps_starts, frame.step_ends[start:stop]) if has_steps else [None, None]
        seqs = list(range(self._seq, self._seq + stop - start))
        places = [begin - records.start for begin in starts]
        columns = [seqs, *frame.attempts.part(start, stop), records.number, places, *addresses]
        for stream, data, ends in ((steps, frame.steps, frame.step_ends), (records, frame.records, frame.record_ends)):
            if ends and ends[stop - 1] - stream.start >= BLOCK_SIZE:
                self._flush(stream, data, ends[stop - 1])
        self._seq += stop - start
        self._rows += stop - start
        return Columns(stop - start, columns)

    def _open(self, stream: _Stream, at: int) -> None:
        """A block with nothing in it gets its number when it gets its first record."""
        if at == stream.start:
            self._number += 1
            stream.number = self._number

    def _flush(self, stream: _Stream, data: bytes, end: int) -> None:
        block = bytes(stream.open) + data[max(stream.start, 0) : end]
        self._part.blocks.append((stream.number, block))
        self._size += len(block)
        stream.open = bytearray()
        stream.start = end

    def _add_event(self, event: RowEvent) -> bool:
        """True where a batch is full."""
        if event.unreadable is not None:
            self._batch.unreadables.append(event.unreadable)
            return len(self._batch.unreadables) >= BATCH_ROWS
        if event.case is None:
            return False
        key, digest, category, record = event.case
        if not self._described.is_known(key, digest):
            self._part.cases.append((self._seq, key, digest, category, record))
            self._size += event.size + len(record)
        return self._size >= BATCH_SIZE

    def _take(self) -> PackedBatch:
        batch, self._batch = self._batch, PackedBatch()
        self._part.attempts = Columns.joined(self._segments)
        if self._run:
            batch.parts = {self._run: self._part}
        self._part, self._segments, self._rows, self._size = RunPart(), [], 0, 0
        return batch

    def close(self) -> PackedBatch:
        for stream in (self._records, self._steps):
            if stream.open:
                self._part.blocks.append((stream.number, bytes(stream.open)))
        return self._take()


def _starts(ends: list[int], start: int, stop: int) -> list[int]:
    """Where the records of some rows begin: each where the one before it ends."""
    return [ends[start - 1] if start else 0, *ends[start : stop - 1]] if ends else []


def _merge(tally: Tally, more: Tally) -> None:
    for name, statuses in more.items():
        known = tally.setdefault(name, {})
        for status, often in statuses.items():
            known[status] = known.get(status, 0) + often
