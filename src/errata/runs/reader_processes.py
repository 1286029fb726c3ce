"""Processes that read a large log while this one writes. Several read an archive or lines in turns, where they can."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from itertools import groupby
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import IO, Self, cast

import msgspec

from errata import sources
from errata.errors import ErrataError
from errata.runs import log_states, small_logs
from errata.runs.child_processes import ForkedProcess, can_fork, collect_seldom, end_with_listener
from errata.runs.frames import (
    DATA,
    END,
    ERROR,
    FOR_OTHERS,
    ORDER,
    PIPE_SIZE,
    ROWS,
    FrameQueue,
    batch_decoder,
    encoded,
    encoded_rows,
    ended_early,
    raise_sent,
    read_frame,
    rows_decoder,
    send_frame,
    sent_error,
)
from errata.runs.log_search import Order, found_by
from errata.sources.base import ReaderShare, Shareable, is_zip
from errata.store.packing import PackedBatch, pack_items
from errata.store.shared_rows import SharedRows, laid_out, pack_shared

PARALLEL_FROM = 16 * 1024 * 1024
"""Below this size starting a process costs more than it saves."""

LOOKED_AT = 200
"""About as many of the files and folders in a folder tell how large the others are."""
READERS_OF_ARCHIVE = 2
MOST_READERS = 4
"""More would wait for the process that writes."""


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
        recognised, share = found_by(order), _share(order, request, frames)
        rows = None if order.alone else sources.read_rows(recognised, share)
        if rows is not None:
            for frame in pack_shared(rows):
                frames.send(ROWS, encoded_rows(frame))
        else:
            readers = order.readers if isinstance(recognised.source, Shareable) else 1
            for batch in pack_items(sources.read_share(recognised, share), reader=order.reader, of=readers):
                frames.send(DATA, encoded(batch))
        frames.send(END, b"")
        frames.flush()
    except ErrataError as error:
        frames.send(ERROR, sent_error(error))
        frames.flush()
    except BrokenPipeError:
        # the writing process is gone; so is the reason to go on
        os._exit(1)


def _share(order: Order, request: IO[bytes], frames: FrameQueue) -> ReaderShare:
    def hear() -> list[bytes]:
        frames.flush()
        heard = [read_frame(request) for _ in range(order.readers - 1)]
        return [one[1] for one in heard if one is not None]

    return ReaderShare(order.reader, order.readers, lambda message: frames.send(FOR_OTHERS, message), hear)


class Reader:
    """One process, and the order it was given."""

    def __init__(self, order: Order, process: "subprocess.Popen[bytes] | ForkedProcess") -> None:
        self._order, self._process = order, process
        self.ended = False
        self.for_others = b""
        # the standard library's JSON can hold a path that is not UTF-8
        self._write(ORDER, json.dumps(msgspec.structs.asdict(order)).encode())

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

    def turn(self) -> Iterator[PackedBatch | SharedRows]:
        """Until another reader's turn comes, or all is read."""
        assert self._process.stdout is not None
        while True:
            frame = read_frame(self._process.stdout)
            if frame is None:
                raise ended_early(self._order.path)
            kind, data = frame
            if kind in (DATA, ROWS):
                batch: PackedBatch | SharedRows = (batch_decoder if kind == DATA else rows_decoder).decode(data)
                yield batch
                if batch.ends_turn:
                    return
            elif kind == FOR_OTHERS:
                self.for_others = data
            elif kind == ERROR:
                raise_sent(data)
            else:
                self.ended = True
                return

    def hear(self, message: bytes) -> None:
        self._write(FOR_OTHERS, message)

    def _write(self, kind: bytes, data: bytes) -> None:
        assert self._process.stdin is not None
        # a reader process that exited early is reported when its result is missing
        with suppress(BrokenPipeError):
            send_frame(self._process.stdin, kind, data)


def batches_of_readers(order: Order) -> Iterator[PackedBatch]:
    """In the order of the log, whoever reads it."""
    with ExitStack() as stack:
        readers = [stack.enter_context(reader) for reader in _begun.pop(order, None) or _readers(order)]
        for is_shared, some in groupby(_in_turns(readers), lambda batch: type(batch) is SharedRows):
            if is_shared:
                yield from laid_out(cast("Iterator[SharedRows]", some))
            else:
                yield from cast("Iterator[PackedBatch]", some)


def begin(orders: Sequence[Order]) -> None:
    """Read the first of them, where it is large, or many small ones, while the store is being opened."""
    if _may_fork.get() and can_fork():
        small_logs.begin(orders, readers_of_lines())
    if orders and is_large(orders[0]):
        log_states.begun[orders[0]] = log_states.state_of(orders[0])
        _begun[orders[0]] = _readers(orders[0])


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


def _readers(order: Order) -> list[Reader]:
    count = 1 if order.alone else _readers_of(order)
    processes = [_ready.pop(0) for _ in range(count)] if len(_ready) >= count else _start(count)
    return [
        Reader(msgspec.structs.replace(order, reader=number, readers=count), process)
        for number, process in enumerate(processes)
    ]


def _in_turns(readers: Sequence[Reader]) -> Iterator[PackedBatch | SharedRows]:
    first, *others = readers
    while not first.ended:
        yield from first.turn()
        for other in [one for one in others if not one.ended]:
            yield from other.turn()
            if other.ended:
                first.hear(other.for_others)


def _readers_of(order: Order) -> int:
    """Members of an archive can be read by two at once, lines by many, if the source agrees when it reads."""
    if is_zip(Path(order.path)):
        return READERS_OF_ARCHIVE
    return readers_of_lines() if sources.shares_rows(order.source) else 1


def readers_of_lines() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MOST_READERS)


_ready: list["subprocess.Popen[bytes] | ForkedProcess"] = []
_begun: dict[Order, list[Reader]] = {}
_may_fork = ContextVar("may_fork", default=False)


@contextmanager
def started_before(paths: Iterable[Path], *, fork: bool = False) -> Iterator[None]:
    """Before the format is recognised, which takes about as long: as many as the most demanding large path may need.

    All end with this context, whatever they are reading. `fork`: this is a program of its own, and may be copied.
    """
    token = _may_fork.set(fork)
    with sizes_kept():
        large = (path for path in paths if size_of(path) >= PARALLEL_FROM)
        needed = (READERS_OF_ARCHIVE if is_zip(path) else readers_of_lines() for path in large)
        _ready.extend(_start(max(needed, default=0)))
        try:
            yield
        finally:
            with ExitStack() as unneeded:
                for process in _ready:
                    unneeded.enter_context(process)
                    process.kill()
                for readers in _begun.values():
                    for reader in readers:
                        unneeded.enter_context(reader)
            _ready.clear()
            _begun.clear()
            small_logs.end()
            log_states.begun.clear()
            _may_fork.reset(token)


def _start(count: int) -> "list[subprocess.Popen[bytes] | ForkedProcess]":
    """All of one kind: readers of one log compare hashes of its cases, and have one hash seed."""
    if _may_fork.get() and can_fork():
        return [ForkedProcess(serve, PIPE_SIZE) for _ in range(count)]
    return [_start_program() for _ in range(count)]


def _start_program() -> "subprocess.Popen[bytes]":
    program = "import sys; from errata.runs.reader_processes import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
    # -P: the working folder may be a stranger's log, and nothing in it is to be imported
    command = [sys.executable, "-P", "-c", program]
    environment = os.environ | {"PYTHONHASHSEED": _SEED}
    # a group of its own: an interrupt from the keyboard is for the writing process, which ends this one
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pipesize=PIPE_SIZE,
        process_group=0,
        env=environment,
    )


_SEED = str(int.from_bytes(os.urandom(4), "big") or 1)
