"""Very many small logs: copies of this program read them in turns, while it opens the store and writes.

Each copy reads every n-th group of the orders, packs and compresses what is in them, and sends it in one piece. A log
that is not small is left to the program itself, and so is everything if there are no copies.
"""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from stat import S_ISREG
from typing import IO

import msgspec

from errata import sources
from errata.errors import ErrataError
from errata.runs.child_processes import ForkedProcess, collect_seldom, end_with_listener
from errata.runs.frames import (
    DATA,
    PIPE_SIZE,
    FrameQueue,
    encoded,
    ended_early,
    raise_sent,
    read_frame,
    sent_error,
)
from errata.runs.log_search import Order, found_by
from errata.store.packing import PackedBatch, pack_items, seal_small

MANY = 500
"""Orders; fewer are read about as fast as they can be shared out."""
GROUP = 32
MOST_SIZE = 256 * 1024
"""Bytes of a file that is small. Folders are left to the program itself."""


class ReadLog(msgspec.Struct, array_like=True):
    """What a copy has made of one order."""

    batches: list[PackedBatch] | None = None
    """None for a log that is not small."""
    error: bytes = b""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[ReadLog])


class SmallLogReaders:
    """The copies, and the orders that they read."""

    def __init__(self, orders: Sequence[Order], count: int) -> None:
        self.orders = orders
        self._group: list[ReadLog] = []
        self._processes = [
            ForkedProcess(partial(_read_share, orders, number, count), PIPE_SIZE) for number in range(count)
        ]

    def batches_of(self, place: int) -> Iterator[PackedBatch] | None:
        """Of the order at this place, as `seal_small` gives them. Each is asked for once, in their order.

        None for a log that is not small.
        """
        if place % GROUP == 0:
            frame = read_frame(self._processes[place // GROUP % len(self._processes)].stdout)
            if frame is None:
                raise ended_early(self.orders[place].path)
            self._group = _decoder.decode(frame[1])
        log, self._group[place % GROUP] = self._group[place % GROUP], ReadLog()
        if log.error:
            raise_sent(log.error)
        return None if log.batches is None else iter(log.batches)

    def end(self) -> None:
        for process in self._processes:
            with process:
                process.kill()


_begun: list[SmallLogReaders] = []


def begin(orders: Sequence[Order], count: int) -> None:
    """Read them, if there are many, until they are asked for."""
    if len(orders) >= MANY and not any(order.map for order in orders):
        _begun.append(SmallLogReaders(orders, count))


def begun(orders: object) -> SmallLogReaders | None:
    """The readers of these orders."""
    return next((readers for readers in _begun if readers.orders is orders), None)


def end() -> None:
    while _begun:
        _begun.pop().end()


def _read_share(orders: Sequence[Order], number: int, count: int, _request: IO[bytes], answer: IO[bytes]) -> None:
    collect_seldom()
    end_with_listener(answer)
    frames = FrameQueue(answer)
    try:
        for start in range(number * GROUP, len(orders), count * GROUP):
            frames.send(DATA, _encoded(list(map(_read_log, orders[start : start + GROUP]))))
        frames.flush()
    except BrokenPipeError:
        os._exit(1)  # nobody waits for it any more


def _read_log(order: Order) -> ReadLog:
    try:
        if not _is_small(order.path):
            return ReadLog()
        return ReadLog(seal_small(pack_items(sources.read(found_by(order)))))
    except ErrataError as error:
        return ReadLog(error=sent_error(error))


def _encoded(logs: list[ReadLog]) -> bytes:
    try:
        return _encoder.encode(logs)
    except (OverflowError, UnicodeEncodeError):
        for batch in chain.from_iterable(log.batches or () for log in logs):
            encoded(batch)  # which makes it fit
        return _encoder.encode(logs)


def _is_small(path: str) -> bool:
    try:
        stat = os.stat(path)  # noqa: PTH116 a path object for each would take longer
    except (OSError, ValueError):
        return False
    return S_ISREG(stat.st_mode) and stat.st_size < MOST_SIZE
