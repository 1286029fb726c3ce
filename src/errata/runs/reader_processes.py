"""A process that reads a large log while this one writes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import IO, Self

import msgspec

from errata import sources
from errata.errors import ErrataError
from errata.runs.child_processes import ForkedProcess, can_fork, collect_seldom, end_with_listener
from errata.runs.frames import (
    DATA,
    END,
    ERROR,
    ORDER,
    PIPE_SIZE,
    FrameQueue,
    batch_decoder,
    encoded,
    ended_early,
    raise_sent,
    read_frame,
    send_frame,
    sent_error,
)
from errata.runs.log_search import Order, found_by
from errata.store.packing import PackedBatch, pack_items

PARALLEL_FROM = 16 * 1024 * 1024
"""Below this size starting a process costs more than it saves."""

LOOKED_AT = 200
"""About as many of the files and folders in a folder tell how large the others are."""


def serve(request: IO[bytes], answer: IO[bytes]) -> None:
    """The reading process: an order comes in, frames go out."""
    collect_seldom()
    asked = read_frame(request)
    if asked is None:
        return  # nothing was found, or whoever would have ordered is gone
    end_with_listener(answer)
    order = Order(**json.loads(asked[1]))
    frames = FrameQueue(answer)
    try:
        for batch in pack_items(sources.read(found_by(order))):
            frames.send(DATA, encoded(batch))
        frames.send(END, b"")
        frames.flush()
    except ErrataError as error:
        frames.send(ERROR, sent_error(error))
        frames.flush()
    except BrokenPipeError:
        # the writing process is gone; so is the reason to go on
        os._exit(1)


class _Reader:
    """The process, and the order it was given."""

    def __init__(self, order: Order, process: "subprocess.Popen[bytes] | ForkedProcess") -> None:
        self._order, self._process = order, process
        assert process.stdin is not None
        # a reader process that exited early is reported when its result is missing
        with suppress(BrokenPipeError):
            # the standard library's JSON can hold a path that is not UTF-8
            send_frame(process.stdin, ORDER, json.dumps(msgspec.structs.asdict(order)).encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:
            self._process.kill()
            # what it did not take any more is of no use
            with suppress(BrokenPipeError):
                assert self._process.stdin is not None
                self._process.stdin.close()

    def batches(self) -> Iterator[PackedBatch]:
        assert self._process.stdout is not None
        while True:
            frame = read_frame(self._process.stdout)
            if frame is None:
                raise ended_early(self._order.path)
            kind, data = frame
            if kind == ERROR:
                raise_sent(data)
            if kind != DATA:
                return
            yield batch_decoder.decode(data)


def batches_of_reader(order: Order) -> Iterator[PackedBatch]:
    with _Reader(order, _ready.pop() if _ready else _start()) as reader:
        yield from reader.batches()


def is_large(order: Order) -> bool:
    return size_of(Path(order.path)) >= PARALLEL_FROM


_sizes: ContextVar[dict[str, int] | None] = ContextVar("sizes", default=None)


@contextmanager
def sizes_kept() -> Iterator[None]:
    """In this block the size of a path is looked up once: a folder may have very many files."""
    token = _sizes.set({} if _sizes.get() is None else _sizes.get())
    try:
        yield
    finally:
        _sizes.reset(token)


def size_of(path: Path) -> int:
    """Bytes at the path; of a large folder, at least as many as a process of its own is worth.

    In a folder with very many files or folders, only some of them are looked at: it is a guess then.
    """
    known, name = _sizes.get(), str(path)
    if known is None:
        return _size_at(name)
    if name not in known:
        known[name] = _size_at(name)
    return known[name]


def _size_at(path: str) -> int:
    try:
        stat = os.stat(path)  # noqa: PTH116 a path object for each would take longer
    except (OSError, ValueError):
        return 0
    if S_ISREG(stat.st_mode):
        return stat.st_size
    total, folders = 0, [(path, 1)]
    while folders and total < PARALLEL_FROM:
        folder, often = folders.pop()
        below: list[os.DirEntry[str]] = []
        files: list[os.DirEntry[str]] = []
        with suppress(OSError), os.scandir(folder) as listed:
            for entry in listed:
                (below if entry.is_dir(follow_symlinks=False) else files).append(entry)
        step = max(1, len(files) // LOOKED_AT)
        for entry in files[::step]:
            with suppress(OSError):
                total += often * step * entry.stat(follow_symlinks=False).st_size
        step = max(1, len(below) // LOOKED_AT)
        folders += [(entry.path, often * step) for entry in below[::step]]
    return total


_ready: list["subprocess.Popen[bytes] | ForkedProcess"] = []
_may_fork = ContextVar("may_fork", default=False)


@contextmanager
def started_before(paths: Iterable[Path], *, fork: bool = False) -> Iterator[None]:
    """Start the process before the format is recognised, which takes about as long, if a path is large.

    It ends with this context, whatever it is reading. `fork`: this is a program of its own, and may be copied.
    """
    token = _may_fork.set(fork)
    with sizes_kept():
        if any(size_of(path) >= PARALLEL_FROM for path in paths):
            _ready.append(_start())
        try:
            yield
        finally:
            while _ready:
                with _ready.pop() as process:
                    process.kill()
            _may_fork.reset(token)


def _start() -> "subprocess.Popen[bytes] | ForkedProcess":
    return ForkedProcess(serve, PIPE_SIZE) if _may_fork.get() and can_fork() else _start_program()


def _start_program() -> "subprocess.Popen[bytes]":
    program = "import sys; from errata.runs.reader_processes import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
    # -P: the working folder may be a stranger's log, and nothing in it is to be imported
    command = [sys.executable, "-P", "-c", program]
    # a group of its own: an interrupt from the keyboard is for the writing process, which ends this one
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pipesize=PIPE_SIZE,
        process_group=0,
    )
