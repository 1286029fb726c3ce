"""Very many small logs: copies of this program read them in turns, while it opens the store and writes.

Each copy reads every n-th group of the orders, packs and compresses what is in them, and sends it. A log that is not
small is left to the program itself, and so is everything if there are no copies.
"""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from stat import S_ISREG
from typing import IO

from errata import sources
from errata.errors import ErrataError
from errata.runs.child_processes import ForkedProcess, collect_seldom, end_with_listener
from errata.runs.frames import (
    DATA,
    END,
    ERROR,
    PIPE_SIZE,
    SKIPPED,
    FrameQueue,
    batch_decoder,
    encoded,
    ended_early,
    raise_sent,
    read_frame,
    sent_error,
)
from errata.runs.log_search import Order, found_by
from errata.store.packing import PackedBatch, pack_items, seal

MANY = 500
"""Orders; fewer are read about as fast as they can be shared out."""
GROUP = 32
MOST_SIZE = 256 * 1024
"""Bytes of a file that is small. Folders are left to the program itself."""


class SmallLogReaders:
    """The copies, and the orders that they read."""

    def __init__(self, orders: Sequence[Order], count: int) -> None:
        self.orders = orders
        self._processes = [
            ForkedProcess(partial(_read_share, orders, number, count), PIPE_SIZE) for number in range(count)
        ]

    def batches_of(self, place: int) -> Iterator[PackedBatch] | None:
        """Of the order at this place, as `seal` gives them. Each is asked for once, in their order.

        None for a log that is not small.
        """
        path = self.orders[place].path
        stream = self._processes[place // GROUP % len(self._processes)].stdout
        first = _next_frame(stream, path)
        return None if first[0] == SKIPPED else _batches(first, stream, path)

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
            for order in orders[start : start + GROUP]:
                _send_log(order, frames)
        frames.flush()
    except BrokenPipeError:
        os._exit(1)  # nobody waits for it any more


def _send_log(order: Order, frames: FrameQueue) -> None:
    try:
        if not _is_small(order.path):
            frames.send(SKIPPED, b"")
            return
        for batch in seal(pack_items(sources.read(found_by(order)))):
            frames.send(DATA, encoded(batch))
        frames.send(END, b"")
    except ErrataError as error:
        frames.send(ERROR, sent_error(error))


def _is_small(path: str) -> bool:
    try:
        stat = os.stat(path)  # noqa: PTH116 a path object for each would take longer
    except (OSError, ValueError):
        return False
    return S_ISREG(stat.st_mode) and stat.st_size < MOST_SIZE


def _next_frame(stream: IO[bytes], path: str) -> tuple[bytes, bytes]:
    frame = read_frame(stream)
    if frame is None:
        raise ended_early(path)
    return frame


def _batches(frame: tuple[bytes, bytes], stream: IO[bytes], path: str) -> Iterator[PackedBatch]:
    kind, data = frame
    while kind == DATA:
        yield batch_decoder.decode(data)
        kind, data = _next_frame(stream, path)
    if kind == ERROR:
        raise_sent(data)
