"""A set of turn numbers that takes a bit for each."""

from collections.abc import Iterator

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

    def absent_below(self, end: int) -> Iterator[int]:
        """The turns from 0 to the end that are not in the set; turns in a page that begins full are not looked up."""
        for start in range(0, end, PAGE):
            stop = min(start + PAGE, end)
            size = (stop - start) // 8
            page = self._pages.get(start >> 16, bytearray())
            first = start + 8 * size if page[:size] == _FULL[:size] else start
            yield from (turn for turn in range(first, stop) if turn not in self)
