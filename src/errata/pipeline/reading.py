"""Reading a path into batches: small ones here, large ones in a second process, which reads while this one writes."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from errata import errors, sources
from errata.errors import ErrataError, SourceError
from errata.model.codec import pack, storable
from errata.sources import Found, PassedOver
from errata.sources.base import Match
from errata.sources.generic import with_map
from errata.store.packing import Batch, pack_items, seal

PARALLEL_FROM = 16 * 1024 * 1024
"""Below this size starting a process costs more than it saves."""

PIPE_SIZE = 1024 * 1024
"""Where the system has such large ones: fewer waits of one process for the other."""

_FRAME = struct.Struct(">cI")
_DATA, _ERROR, _END = b"d", b"e", b"z"


class Order(msgspec.Struct, frozen=True):
    """What to read, in a form that another process understands."""

    path: str
    source: str
    map: str = ""
    passed_over: tuple[str, ...] = ()
    """What tells of the same evaluation, and less of it."""


def find(path: Path, *, source: str = "", map_path: Path | None = None) -> list[Order]:
    """What can be read at a path."""
    if map_path is not None:
        if not path.exists():
            raise SourceError(f"No such file or folder: `{path}`", hint="check the path")
        return [Order(str(path), "generic", str(map_path))]
    found, over = sources.look(path, source=source)
    return [_order(one, over) for one in found]


def together(orders: Sequence[Order], named: Collection[Path]) -> list[Order]:
    """Several paths at once: what belongs to one run is read as one, and once."""
    if len(named) < 2 or any(order.map for order in orders):
        return list(orders)
    known = {order.path: order.passed_over for order in orders}
    found = [_found(order) for order in orders]
    # what was found in a folder that was looked into is whole already
    own = sources.joined([one for one in found if one.path in named], named)
    left, over = sources.sift([*own, *(one for one in found if one.path not in named)])
    return [_order(one, over, known.get(str(one.path), ())) for one in left]


def _order(found: Found, over: Iterable[PassedOver], known: tuple[str, ...] = ()) -> Order:
    also = (str(one.path) for one in over if one.instead == found.path)
    return Order(str(found.path), found.source.NAME, passed_over=(*known, *also))


def batches(order: Order) -> Iterator[Batch]:
    """What is at the path, packed for the store."""
    if _size(Path(order.path)) < PARALLEL_FROM:
        yield from seal(map(_as_sent, pack_items(sources.read(_found(order)))))
    else:
        yield from seal(_from_process(order))


def serve(request: IO[bytes], answer: IO[bytes]) -> None:
    """The reading process: an order comes in, frames go out."""
    ordered = request.read()
    if not ordered:
        return  # nothing was found, or whoever would have ordered is gone
    order = Order(**json.loads(ordered))
    try:
        for batch in pack_items(sources.read(_found(order))):
            _send(answer, _DATA, _encoded(batch))
        _send(answer, _END, b"")
    except ErrataError as error:
        _send(answer, _ERROR, pack((type(error).__name__, error.message, error.hint)))
    except BrokenPipeError:
        # the writing process is gone; so is the reason to go on
        os._exit(1)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Batch)


def _as_sent(batch: Batch) -> Batch:
    """Whichever process reads a log, its records are the same to the last bit."""
    return _decoder.decode(_encoded(batch))


def _encoded(batch: Batch) -> bytes:
    try:
        return _encoder.encode(batch)
    except (OverflowError, UnicodeEncodeError):
        batch.runs = [storable(run) for run in batch.runs]
        batch.unreadables = [(run, storable(item)) for run, item in batch.unreadables]
        return _encoder.encode(batch)


def _found(order: Order) -> Found:
    path = Path(order.path)
    source = with_map(Path(order.map)) if order.map else sources.source_named(order.source)
    return Found(path, source, Match.sure("as ordered"))


_ready: list["subprocess.Popen[bytes]"] = []


@contextmanager
def made_ready(paths: Iterable[Path]) -> Iterator[None]:
    """Starts the process before it is known what is to be read: finding that out takes as long as starting does."""
    if any(_size(path) >= PARALLEL_FROM for path in paths):
        _ready.append(_started())
    try:
        yield
    finally:
        while _ready:
            with _ready.pop() as unneeded:
                unneeded.kill()


def _started() -> "subprocess.Popen[bytes]":
    program = "import sys; from errata.pipeline.reading import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
    # -P: the working folder may be a stranger's log, and nothing in it is to be imported
    command = [sys.executable, "-P", "-c", program]
    # a group of its own: an interrupt from the keyboard is for the writing process, which ends this one
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pipesize=PIPE_SIZE, process_group=0)


def _from_process(order: Order) -> Iterator[Batch]:
    with _ready.pop() if _ready else _started() as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        try:
            # one that has ended by now is told of where its answer is missing
            with suppress(BrokenPipeError):
                # the standard library's JSON can hold a path that is not UTF-8
                reader.stdin.write(json.dumps(msgspec.structs.asdict(order)).encode())
                reader.stdin.close()
            yield from _receive(reader.stdout, order)
        finally:
            reader.kill()


def _receive(stream: IO[bytes], order: Order) -> Iterator[Batch]:
    while True:
        kind, size = _FRAME.unpack(_exactly(stream, _FRAME.size, order))
        if kind == _END:
            return
        data = _exactly(stream, size, order)
        if kind == _ERROR:
            name, message, hint = msgspec.msgpack.decode(data)
            raise getattr(errors, name)(message, hint=hint)
        yield _decoder.decode(data)


def _exactly(stream: IO[bytes], size: int, order: Order) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise SourceError(
            f"The process that was reading `{order.path}` ended early",
            hint="it may have run out of memory; nothing of this path was imported",
        )
    return data


def _send(answer: IO[bytes], kind: bytes, data: bytes) -> None:
    answer.write(_FRAME.pack(kind, len(data)))
    answer.write(data)
    answer.flush()


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except OSError:
                continue
            if total >= PARALLEL_FROM:
                return total
    return total
