"""Who gets how much room: each text a readable part in the order of its rank, then the whole of it."""

from collections.abc import Sequence

import msgspec

from errata.review.windows import weight

BUDGET = 12_000
"""Tokens of a packet, everything counted."""
UNLIMITED = 10**9
BYTES_A_TOKEN = 4
READABLE = 300
"""Bytes; a smaller part of a text helps nobody."""
SHARE = 4_000
"""Bytes that a text gets before one of a lower rank gets any."""
AROUND = 48
"""Bytes of the packet that a place takes beside its text."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a reviewer should see, as far as there is room."""

    place: str
    source: str
    text: str
    rank: int
    """The lowest comes first."""
    least: int = 0
    """Bytes of it that are in the packet whatever the budget is."""
    share: int = SHARE
    most: float = 1.0
    """Of the whole budget: no log fills a packet alone, however much room is left."""
    needles: tuple[str, ...] = ()
    """What to look for where the text has to be cut."""
    tail: float = 0.4
    """Of what is kept, how much of the end."""
    group: str = ""
    """Under which name those that find no room are told of together."""


def tokens(size: int) -> int:
    return -(-size // BYTES_A_TOKEN)


def cost(wanted: Wanted, given: int) -> int:
    """Bytes of the packet, where the text gets so many of them."""
    return given + weight(wanted.place) + weight(wanted.source) + AROUND if given else 0


def rooms(wanted: Sequence[Wanted], room: int, budget: int) -> list[int]:
    """The bytes for each text. Those that must be there get their least, even where that is too much together."""
    caps = [max(int(one.most * budget) * BYTES_A_TOKEN, one.least, READABLE) for one in wanted]
    sizes = [max(min(weight(one.text), cap), 1) for one, cap in zip(wanted, caps, strict=True)]
    if sum(map(cost, wanted, sizes)) <= room:
        return sizes
    given = [min(one.least, size) for one, size in zip(wanted, sizes, strict=True)]
    left = room - sum(map(cost, wanted, given))
    order = sorted(range(len(wanted)), key=lambda at: wanted[at].rank)
    for whole in (False, True):
        for at in order:
            one, size = wanted[at], sizes[at]
            enough = size if whole else min(size, one.share)
            around = 0 if given[at] else cost(one, 1) - 1
            more = min(enough - given[at], left - around)
            if more > 0 and given[at] + more >= min(size, READABLE):
                given[at] += more
                left -= more + around
    return given
