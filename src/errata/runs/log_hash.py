"""The hash over a log that the store may know, made by a copy of this process while this one opens the store."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import IO, Any, NamedTuple

from errata.errors import ErrataError
from errata.runs.child_processes import ForkedProcess, can_fork, cores, end_with_listener
from errata.runs.log_search import Order, found_by
from errata.runs.log_states import FileStat, log_of, stat_of
from errata.sources import RecognisedPath
from errata.sources.line_growth import GrowingLog

READ_SIZE = 1024 * 1024
HASHED_FROM = 64 * 1024 * 1024
"""A smaller log is hashed in little more time than it takes to copy this process."""
_KEPT_EVERY = 4 * READ_SIZE
_NUMBER = Struct("<Q")
_DIGEST = sha256().digest_size


class LogHashes(NamedTuple):
    first_bytes: bytes
    """The digest of as many as were asked for."""
    whole: bytes


class EarlyHash:
    """It begins before the store can tell how many bytes of the log it knows."""

    def __init__(self, match: RecognisedPath, log: GrowingLog, stat: FileStat) -> None:
        self.match, self.log = match, log
        self._stat = stat
        self._process = ForkedProcess(partial(_answer, log.file, stat[0]), READ_SIZE)

    def hashes(self, stat: FileStat, size: int) -> LogHashes | None:
        """Over the first bytes of the log, and over all of it. None if it has changed since."""
        if stat != self._stat:
            return None
        with self._process as process:
            with suppress(BrokenPipeError):  # a log that could not be read has no answer
                process.stdin.write(_NUMBER.pack(size))
                process.stdin.flush()
            made = process.stdout.read()
        return LogHashes(made[:_DIGEST], made[_DIGEST:]) if len(made) == 2 * _DIGEST else None

    def end(self) -> None:
        with self._process as process:
            process.kill()


_begun: dict[Order, EarlyHash] = {}


def begin_hash(orders: Sequence[Order]) -> None:
    """Of the first log, if it grows line by line and another core can hash it."""
    if not orders or cores() < 2 or not can_fork():
        return
    with suppress(ErrataError, OSError, ValueError):  # the import reports it
        match = found_by(orders[0])
        log = log_of(match)
        if log is not None and (stat := stat_of(log.file))[0] >= HASHED_FROM:
            _begun[orders[0]] = EarlyHash(match, log, stat)


def begun_hash(order: Order) -> EarlyHash | None:
    return _begun.get(order)


def end_hashes() -> None:
    while _begun:
        _begun.popitem()[1].end()


def _answer(path: Path, end: int, request: IO[bytes], answer: IO[bytes]) -> None:
    """The copied process."""
    end_with_listener(answer)
    with path.open("rb", buffering=0) as file:
        content, kept, buffer = sha256(), [sha256()], memoryview(bytearray(READ_SIZE))
        for at in range(0, end, _KEPT_EVERY):
            if not _update(content, file, min(_KEPT_EVERY, end - at), buffer):
                return
            kept.append(content.copy())
        asked = request.read(_NUMBER.size)
        size = _NUMBER.unpack(asked)[0] if asked else end + 1
        if size > end:
            return
        blocks = size // _KEPT_EVERY
        file.seek(blocks * _KEPT_EVERY)
        if _update(kept[blocks], file, size - blocks * _KEPT_EVERY, buffer):
            answer.write(kept[blocks].digest() + content.digest())
            answer.flush()


def _update(content: Any, file: Any, size: int, buffer: memoryview) -> bool:
    """Add the next bytes; false where the file has fewer. New memory for each read would cost page faults."""
    while size and (count := file.readinto(buffer[:size])):
        content.update(buffer[:count])
        size -= count
    return not size
