"""A set of turn numbers that takes a bit for each."""

from collections.abc import Collection, Iterator

PAGE = 1 << 16
_FULL = b"\xff" * (PAGE // 8)


class TurnSet:
    """A set of turn numbers as bit pages, allocated on demand."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    def __contains__(self, turn: int) -> bool:
        page = self._pages.get(turn >> 16)
        return page is not None and bool(page[turn >> 3 & 0x1FFF] >> (turn & 7) & 1)

    def add(self, turn: int) -> None:
        page = self._pages.get(turn >> 16)
        if page is None:
            page = self._pages[turn >> 16] = bytearray(PAGE // 8)
        page[turn >> 3 & 0x1FFF] |= 1 << (turn & 7)

    def isdisjoint(self, turns: Collection[int]) -> bool:
        return not any(self._bits(at) & bits for at, bits in _bits_of(turns).items())

    def update(self, turns: Collection[int]) -> None:
        for at, bits in _bits_of(turns).items():
            self._pages[at] = bytearray((self._bits(at) | bits).to_bytes(PAGE // 8, "little"))

    def _bits(self, at: int) -> int:
        return int.from_bytes(self._pages.get(at, b""), "little")

    def pages(self) -> dict[int, bytes]:
        return {number: bytes(page) for number, page in self._pages.items()}

    def join(self, pages: dict[int, bytes]) -> bool:
        """Add another set; false if both have a turn in common."""
        for at, page in pages.items():
            own, other = int.from_bytes(self._pages.get(at, b""), "big"), int.from_bytes(page, "big")
            if own & other:
                return False
            self._pages[at] = bytearray((own | other).to_bytes(PAGE // 8, "big"))
        return True

    def absent_below(self, end: int) -> Iterator[int]:
        """The turns from 0 to the end that are not in the set; turns in a page that begins full are not looked up."""
        for start in range(0, end, PAGE):
            stop = min(start + PAGE, end)
            size = (stop - start) // 8
            page = self._pages.get(start >> 16, bytearray())
            first = start + 8 * size if page[:size] == _FULL[:size] else start
            yield from (turn for turn in range(first, stop) if turn not in self)


def _bits_of(turns: Collection[int]) -> dict[int, int]:
    """Page → the bits of the turns in it."""
    first, last = min(turns, default=0), max(turns, default=-1)
    if last - first + 1 == len(turns) == len(set(turns)) and first >> 16 == last >> 16:
        # as most logs have them: one after the other
        return {first >> 16: ((1 << len(turns)) - 1) << (first & 0xFFFF)}
    bits: dict[int, int] = {}
    for turn in turns:
        bits[turn >> 16] = bits.get(turn >> 16, 0) | 1 << (turn & 0xFFFF)
    return bits


def first_turns(count: int) -> dict[int, bytes]:
    """The pages of a set that has every turn below this number."""
    full, rest = divmod(count, PAGE)
    pages = dict.fromkeys(range(full), _FULL)
    return pages | {full: ((1 << rest) - 1).to_bytes(PAGE // 8, "little")} if rest else pages
