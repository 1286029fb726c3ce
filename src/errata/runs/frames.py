"""Frames between two processes that share an import: batches and errors, each with its length before it."""

import os
import select
import struct
from collections import deque
from typing import IO, Any, NoReturn

import msgspec

from errata import errors
from errata.errors import ErrataError, SourceError
from errata.model.codec import fitting, pack, storable
from errata.store.packing import PackedBatch

PIPE_SIZE = 1024 * 1024
"""Where the system has such large ones: fewer waits of one process for the other."""

MOST_AHEAD = 8 * 1024 * 1024
"""Bytes that a reader keeps while the writing process is busy, mostly with its start."""


_HEAD = struct.Struct(">cI")
ORDER, DATA, ERROR, END = b"o", b"d", b"e", b"z"


class FrameQueue:
    """Frames on their way out. While nobody takes them, a few megabytes wait here, and reading goes on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        try:
            self._pipe = stream.fileno()
            os.set_blocking(self._pipe, False)
        except OSError:  # not a pipe
            self._pipe = -1

    def send(self, kind: bytes, data: bytes) -> None:
        self._waiting += (memoryview(_HEAD.pack(kind, len(data))), memoryview(data))
        self._size += _HEAD.size + len(data)
        self._write(most_left=MOST_AHEAD)

    def flush(self) -> None:
        self._write(most_left=0)

    def _write(self, *, most_left: int) -> None:
        """As much as is taken at once, and then until at most `most_left` bytes wait."""
        while self._waiting:
            head = self._waiting[0]
            try:
                written = os.write(self._pipe, head) if self._pipe >= 0 else self._stream.write(head)
            except BlockingIOError:
                if self._size <= most_left:
                    return
                select.select([], [self._pipe], [])
                continue
            self._size -= written
            if written == len(head):
                self._waiting.popleft()
            else:
                self._waiting[0] = head[written:]


def read_frame(stream: IO[bytes]) -> tuple[bytes, bytes] | None:
    """None where there is none any more, or not all of it."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, size = _HEAD.unpack(head)
    data = stream.read(size)
    return (kind, data) if len(data) == size else None


def send_frame(stream: IO[bytes], kind: bytes, data: bytes) -> None:
    stream.write(_HEAD.pack(kind, len(data)))
    stream.write(data)
    stream.flush()


def ended_early(path: str) -> SourceError:
    """For a process that owes an answer."""
    return SourceError(
        f"The process that was reading `{path}` ended early",
        hint="it may have run out of memory; nothing of this path was imported",
    )


def sent_error(error: ErrataError) -> bytes:
    return pack((type(error).__name__, error.message, error.hint))


def raise_sent(data: bytes) -> NoReturn:
    """An error that was raised on purpose in the other process."""
    name, message, hint = msgspec.msgpack.decode(data)
    raise getattr(errors, name)(message, hint=hint)


_encoder = msgspec.msgpack.Encoder()
batch_decoder = msgspec.msgpack.Decoder(PackedBatch)


def as_sent(batch: PackedBatch) -> PackedBatch:
    """Whichever process reads a log, its records are the same to the last bit."""
    return batch_decoder.decode(encoded(batch))


def encoded(batch: PackedBatch) -> bytes:
    try:
        return _encoder.encode(batch)
    except (OverflowError, UnicodeEncodeError):
        batch.runs = [storable(run) for run in batch.runs]
        batch.unreadables = [(run, storable(item)) for run, item in batch.unreadables]
        for part in batch.parts.values():
            part.cases, part.checks, part.attempts = map(_fitting_rows, (part.cases, part.checks, part.attempts))
            part.tally = {fitting(check): counts for check, counts in part.tally.items()}
        return _encoder.encode(batch)


def _fitting_rows(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(map(fitting, row)) for row in rows]
