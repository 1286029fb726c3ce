"""Small records collected into blocks of about 256 kB, to be compressed, and taken out again."""

from collections.abc import Callable

from errata.model.codec import pack_into
from errata.store.zstd import decompress

BLOCK_SIZE = 256 * 1024
_LENGTH = 4
_NO_LENGTH = bytes(_LENGTH)


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
        block += _NO_LENGTH
        pack_into(record, block)
        end = len(block)
        block[at : at + _LENGTH] = (end - at - _LENGTH).to_bytes(_LENGTH, "big")
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
        if number != self._number:
            self._data = decompress(self._load(number))
            self._number = number
        size = int.from_bytes(self._data[at : at + _LENGTH], "big")
        return self._data[at + _LENGTH : at + _LENGTH + size]
