"""Small records collected into blocks of about 256 kB, compressed with Zstandard, taken out again, and hashed.

Zstandard is in the standard library from Python 3.14; before that, its backport is used.
"""

import sys
import threading
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

from errata.model.codec import pack, pack_into

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdCompressor, ZstdError, decompress
else:
    from backports.zstd import CompressionParameter, ZstdCompressor, ZstdError, decompress

__all__ = ["BlockReader", "BlockWriter", "ZstdError", "compress", "decompress"]

# level 1 packs log text 4 to 10 times smaller at hundreds of megabytes a second; higher ones cost more than they save
# with a checksum, so that damage is noticed
_OPTIONS: dict[int, int] = {CompressionParameter.compression_level: 1, CompressionParameter.checksum_flag: 1}

BLOCK_SIZE = 256 * 1024
LENGTH = 4
"""Before each record: how long it is, in this many bytes."""
NO_LENGTH = bytes(LENGTH)


class BlockWriter:
    """Gives each record an address; hands over each block when it is full."""

    def __init__(self, take_number: Callable[[], int], emit: Callable[[int, bytes], None]) -> None:
        self._take_number = take_number
        self._emit = emit
        self._open = bytearray()
        self._number = -1

    def add(self, record: object) -> tuple[int, int]:
        block = self._open
        at = len(block)
        if at == 0:
            self._number = self._take_number()
        block += NO_LENGTH
        pack_into(record, block)
        end = len(block)
        block[at : at + LENGTH] = (end - at - LENGTH).to_bytes(LENGTH, "big")
        address = (self._number, at)
        if end >= BLOCK_SIZE:
            self.flush()
        return address

    def flush(self) -> None:
        if self._open:
            self._emit(self._number, bytes(self._open))
            self._open = bytearray()


class BlockReader:
    """Takes records out of blocks; keeps the last block, since rows come in order."""

    def __init__(self, load: Callable[[int], bytes]) -> None:
        self._load = load
        self._number = -1
        self._data = b""

    def get(self, number: int, at: int) -> bytes:
        data = self._data if number == self._number else self.block(number)
        begin = at + LENGTH
        return data[begin : begin + int.from_bytes(data[at:begin], "big")]

    def block(self, number: int) -> bytes:
        if number != self._number:
            self._data = decompress(self._load(number))
            self._number = number
        return self._data


def compress(data: bytes) -> bytes:
    """One frame. The compressor of a thread keeps its memory from one to the next."""
    compressor: ZstdCompressor | None = getattr(_of_thread, "compressor", None)
    if compressor is None:
        compressor = _of_thread.compressor = ZstdCompressor(options=_OPTIONS)
    return bytes(compressor.compress(data, mode=compressor.FLUSH_FRAME))


_of_thread = threading.local()


# --- the digest over the cases and blocks of a run


CHUNK = 64 * 1024
DIGEST_SIZE = 20


class ContentDigest:
    """Takes the records of cases in the order of the log, and blocks in any order."""

    def __init__(self) -> None:
        self._blocks: dict[int, bytes] = {}
        self._chunks = bytearray()
        self._open = bytearray()

    def add_cases(self, records: Iterable[bytes]) -> None:
        for record in records:
            self._open += record
            if len(self._open) >= CHUNK:
                # every byte goes through it, and processors have instructions for this one
                self._chunks += sha256(self._open).digest()
                self._open.clear()

    def add_block(self, number: int, data: bytes) -> None:
        self._blocks[number] = sha256(data).digest()

    def hexdigest(self) -> str:
        cases = sha256(bytes(self._chunks) + sha256(self._open).digest()).digest()
        return sha256(pack((cases, sorted(self._blocks.items())))).hexdigest()


OLDER_SIZE = 16
"""Of the digests of earlier versions of errata, which covered blocks in the order of reading."""


class OlderContent:
    """The digest of the content as earlier versions of errata took it: batch by batch, cases before blocks."""

    def __init__(self) -> None:
        self._content = sha256()

    def add(self, cases: Iterable[tuple[Any, ...]], blocks: Iterable[tuple[int, bytes]]) -> None:
        for case in cases:
            self._content.update(case[-1])
        for _, data in blocks:
            self._content.update(decompress(data))

    def hexdigest(self) -> str:
        return self._content.hexdigest()
