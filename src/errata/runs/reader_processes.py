"""A process that reads a large log while this one writes.

It gets an order on its stdin and answers with frames: a kind, a length, and batches or an error.
"""

import gc
import json
import os
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISREG
from typing import IO

import msgspec

from errata import errors, sources
from errata.errors import ErrataError, SourceError
from errata.model.codec import pack
from errata.runs.log_search import Order, found_by
from errata.store.packing import PackedBatch, batch_decoder, encoded, pack_items

PARALLEL_FROM = 16 * 1024 * 1024
"""Below this size starting a process costs more than it saves."""

MOST_FILES = 20_000
"""In a folder with more files, the others are taken for empty."""
PIPE_SIZE = 1024 * 1024
"""Where the system has such large ones: fewer waits of one process for the other."""

_HEAD = struct.Struct(">cI")
DATA, ERROR, END = b"d", b"e", b"z"


def serve(request: IO[bytes], answer: IO[bytes]) -> None:
    collect_seldom()
    order = Order(**json.loads(request.read()))
    _end_with_listener(answer)
    try:
        for batch in pack_items(sources.read(found_by(order))):
            _send(answer, DATA, encoded(batch))
        _send(answer, END, b"")
    except ErrataError as error:
        _send(answer, ERROR, pack((type(error).__name__, error.message, error.hint)))
    except BrokenPipeError:
        os._exit(1)  # the writing process is gone; so is the reason to go on


def _send(answer: IO[bytes], kind: bytes, data: bytes) -> None:
    answer.write(_HEAD.pack(kind, len(data)) + data)
    answer.flush()


def collect_seldom() -> None:
    """Records hold no cycles; looking for some among those of a batch would take a tenth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _end_with_listener(answer: IO[bytes]) -> None:
    """When nobody can hear an answer any more, at once, even while a file is waited for."""

    def end_unheard() -> None:
        poll = select.poll()
        poll.register(answer.fileno(), 0)  # which leaves only the other end's closing
        poll.poll()
        os._exit(1)

    if hasattr(select, "poll"):
        threading.Thread(target=end_unheard, daemon=True).start()


def batches_of_reader(order: Order) -> Iterator[PackedBatch]:
    program = "import sys; from errata.runs.reader_processes import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
    # -P: the working folder may be a stranger's log, and nothing in it is to be imported; a group of its own: an
    # interrupt from the keyboard is for the writing process, which ends this one
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pipesize=PIPE_SIZE,
        process_group=0,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        try:
            # a process that exited early is reported when its result is missing
            with suppress(BrokenPipeError), process.stdin as request:
                # the standard library's JSON can hold a path that is not UTF-8
                request.write(json.dumps(msgspec.structs.asdict(order)).encode())
            while (frame := _read_frame(process.stdout, order))[0] == DATA:
                yield batch_decoder.decode(frame[1])
        finally:
            process.kill()
    if frame[0] == ERROR:
        name, message, hint = msgspec.msgpack.decode(frame[1])
        raise getattr(errors, name)(message, hint=hint)


def _read_frame(answer: IO[bytes], order: Order) -> tuple[bytes, bytes]:
    head = answer.read(_HEAD.size)
    if len(head) == _HEAD.size:
        kind, size = _HEAD.unpack(head)
        data = answer.read(size)
        if len(data) == size:
            return kind, data
    raise SourceError(
        f"The process that was reading `{order.path}` ended early",
        hint="it may have run out of memory; nothing of this path was imported",
    )


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
    """Bytes at the path; of a large folder, at least as many as a process of its own is worth."""
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
    total = looked_at = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(folder, name), follow_symlinks=False).st_size  # noqa: PTH116, PTH118
        looked_at += len(names)
        if total >= PARALLEL_FROM or looked_at > MOST_FILES:
            break
    return total
