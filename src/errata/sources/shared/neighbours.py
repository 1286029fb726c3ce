"""Whose is what can't be read in a file of several runs? That of the rows around it, where these agree.

Rows that alternate between runs, or repeat in small groups, never stand twice before and twice after a place; where
they do, the file keeps the rows of a run together. Anything else stays without a run, and may be any one's.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from errata.model import Attempt, Item, Unreadable

AROUND = 2
WAITING_CAP = 1_000


def by_neighbours(items: Iterable[Item]) -> Iterator[Item]:
    waiting: list[Unreadable] = []
    run, streak, after = "", 0, 0
    for item in items:
        if type(item) is Attempt:
            streak = streak + 1 if item.run == run else 1
            if waiting:
                after = after + 1 if item.run == run else AROUND
                if after == AROUND:
                    yield from _settled(waiting, run if item.run == run else "")
                    waiting = []
            run = item.run
        elif type(item) is Unreadable and not item.run and streak >= AROUND and len(waiting) < WAITING_CAP:
            waiting.append(item)
            after = 0
            continue
        yield item
    yield from waiting


def _settled(waiting: list[Unreadable], run: str) -> Iterator[Unreadable]:
    return (replace(item, run=run) for item in waiting)
