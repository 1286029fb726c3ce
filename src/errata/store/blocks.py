"""Small byte strings collected into compressed blocks of about 256 kB, and taken out again."""

from collections.abc import Callable

from errata.store.zstd import compress, decompress

BLOCK_SIZE = 256 * 1024
_LENGTH = 4


class BlockWriter:
    """Gives each byte string an address; hands over each block when it is full."""

    def __init__(self, take_number: Callable[[], int], emit: Callable[[int, bytes], None]) -> None:
        self._take_number = take_number
        self._emit = emit
        self._open = bytearray()
        self._number = -1

    def add(self, data: bytes) -> tuple[int, int]:
        if self._number < 0:
            self._number = self._take_number()
        at = len(self._open)
        self._open += len(data).to_bytes(_LENGTH, "big")
        self._open += data
        address = (self._number, at)
        if len(self._open) >= BLOCK_SIZE:
            self.flush()
        return address

    def flush(self) -> None:
        if self._number >= 0:
            self._emit(self._number, compress(self._open))
            self._open = bytearray()
            self._number = -1


class BlockReader:
    """Takes byte strings out of blocks; keeps the last block of each kind, since rows come in order."""

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
