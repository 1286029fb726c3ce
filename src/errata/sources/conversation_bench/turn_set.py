"""Which turns have been seen: a bit for each, so that a conversation of a million turns takes no memory to speak of."""

from collections.abc import Iterable, Iterator

_PAGE = 1 << 16


class TurnSet:
    """Pages of bits, made where a turn falls into one."""

    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}

    def __contains__(self, turn: int) -> bool:
        page = self._pages.get(turn >> 16)
        return page is not None and bool(page[turn >> 3 & 0x1FFF] >> (turn & 7) & 1)

    def add(self, turn: int) -> None:
        page = self._pages.get(turn >> 16)
        if page is None:
            page = self._pages[turn >> 16] = bytearray(_PAGE // 8)
        page[turn >> 3 & 0x1FFF] |= 1 << (turn & 7)

    def absent(self, turns: Iterable[int]) -> Iterator[int]:
        return (turn for turn in turns if turn not in self)
