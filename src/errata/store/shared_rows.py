"""Rows of one run that several readers share: what a reader sends, and the places that one reader would have given.

A reader packs its records into two streams of bytes. The writing process cuts the streams into blocks and batches where
a reader of the whole log would have cut them, so that the store is the same, bit for bit, however many read.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from errata.model import Attempt, Case, Item, Run, Unreadable
from errata.model.codec import pack, pack_into
from errata.model.record import TurnBegins
from errata.store.blocks import BLOCK_SIZE, LENGTH, NO_LENGTH
from errata.store.packing import (
    BATCH_ROWS,
    BATCH_SIZE,
    Blob,
    CheckCounter,
    DescribedCases,
    PackedBatch,
    RunPart,
    Tally,
    facts_of,
    stored_attempt,
    stored_case,
)

FRAME_SIZE = 256 * 1024


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
    attempts: list[tuple[Any, ...]] = []
    """Columns between an attempt's number and its addresses."""
    records: bytes = b""
    record_ends: list[int] = []
    steps: bytes = b""
    step_ends: list[int] = []
    sizes: dict[int, int] = {}
    """Attempt → size of its files, where it has any."""
    events: list[RowEvent] = []
    checks: list[tuple[int, int, str, str]] = []
    """Each begins with the place of its attempt in the frame."""
    blobs: list[Blob] = []
    tally: Tally = {}
    items: int = 0
    ends_turn: bool = False


def pack_shared(items: Iterable[Item | TurnBegins]) -> Iterator[SharedRows]:
    """The share of one reader, in frames that fit into a pipe. All of it belongs to one run."""
    packer = _FramePacker()
    turns = 0
    for item in items:
        if type(item) is Attempt:
            packer.add_attempt(item)
        elif type(item) is Case:
            packer.add_case(item)
        elif type(item) is Unreadable:
            packer.frame.events.append(RowEvent(len(packer.frame.attempts), unreadable=(item.run, item)))
        elif type(item) is Run:
            packer.frame.runs.append(item)
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
        self._records, self._steps = bytearray(), bytearray()
        self._checks = CheckCounter()

    @property
    def is_full(self) -> bool:
        size = len(self._records) + len(self._steps)
        return size >= FRAME_SIZE or len(self.frame.attempts) + len(self.frame.events) >= BATCH_ROWS

    def take(self, *, ends_turn: bool = False) -> SharedRows:
        frame = self.frame
        frame.records, frame.steps, frame.ends_turn = bytes(self._records), bytes(self._steps), ends_turn
        self._checks.count(frame.tally)
        self._begin()
        return frame

    def add_attempt(self, attempt: Attempt) -> None:
        frame = self.frame
        place = len(frame.attempts)
        frame.run = attempt.run
        if attempt.steps:
            _append(attempt.steps, self._steps)
        frame.step_ends.append(len(self._steps))
        kept, size = stored_attempt(attempt, frame.blobs)
        _append(kept, self._records)
        frame.record_ends.append(len(self._records))
        if size:
            frame.sizes[place] = size
        frame.attempts.append(facts_of(attempt))
        if attempt.checks:
            for noteworthy in self._checks.add(attempt.checks, frame.tally):
                frame.checks.append((place, *noteworthy))

    def add_case(self, case: Case) -> None:
        frame = self.frame
        frame.run = case.run
        kept, size = stored_case(case, frame.blobs)
        described = (case.key, case.digest, case.category, pack(kept))
        frame.events.append(RowEvent(len(frame.attempts), described, size))


def _append(record: object, stream: bytearray) -> None:
    at = len(stream)
    stream += NO_LENGTH
    pack_into(record, stream)
    stream[at : at + LENGTH] = (len(stream) - at - LENGTH).to_bytes(LENGTH, "big")


def laid_out(frames: Iterable[SharedRows]) -> Iterator[PackedBatch]:
    """The batches that one reader of the whole log would have made of the same rows."""
    layout = _Layout()
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


class _Layout:
    def __init__(self) -> None:
        self._batch, self._part = PackedBatch(), RunPart()
        self._run = ""
        self._size = self._seq = self._number = 0
        self._records, self._steps = _Stream(), _Stream()
        self._described = DescribedCases()

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
        rows, seq = self._part.attempts, self._seq
        records, steps = self._records, self._steps
        at = frame.record_ends[start - 1] if start else 0
        steps_at = frame.step_ends[start - 1] if start else 0
        room = min(end - start, BATCH_ROWS - len(rows))
        place = start
        for place in range(start, start + room):
            address: tuple[int | None, int | None] = (None, None)
            steps_end = frame.step_ends[place]
            if steps_end > steps_at:
                if steps_at == steps.start:
                    self._number += 1
                    steps.number = self._number
                address = (steps.number, steps_at - steps.start)
                if steps_end - steps.start >= BLOCK_SIZE:
                    self._flush(steps, frame.steps, steps_end)
                steps_at = steps_end
            if at == records.start:
                self._number += 1
                records.number = self._number
            rows.append((seq, *frame.attempts[place], records.number, at - records.start, *address))
            at = frame.record_ends[place]
            if at - records.start >= BLOCK_SIZE:
                self._flush(records, frame.records, at)
            seq += 1
            if frame.sizes:
                self._size += frame.sizes.get(place, 0)
            if self._size >= BATCH_SIZE:
                break
        self._seq = seq
        return place + 1, len(rows) >= BATCH_ROWS or self._size >= BATCH_SIZE

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
        if self._run:
            batch.parts = {self._run: self._part}
        self._part, self._size = RunPart(), 0
        return batch

    def close(self) -> PackedBatch:
        for stream in (self._records, self._steps):
            if stream.open:
                self._part.blocks.append((stream.number, bytes(stream.open)))
        return self._take()


def _merge(tally: Tally, more: Tally) -> None:
    for name, statuses in more.items():
        known = tally.setdefault(name, {})
        for status, count in statuses.items():
            known[status] = known.get(status, 0) + count
