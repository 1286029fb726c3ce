"""Texts into the room that a packet has for them: each a readable part in the order of its rank, then the whole."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from errata.model import PacketPlace
from errata.review.excerpts import Excerpt, Seams, Tell, excerpt, in_short, weight
from errata.review.redaction import LONG

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
NAME = 160


class WantedPlace(msgspec.Struct, frozen=True, kw_only=True):
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


def cost(wanted: WantedPlace, given: int) -> int:
    """Bytes of the packet, where the text gets so many of them."""
    return given + weight(wanted.place) + weight(wanted.source) + AROUND if given else 0


def rooms(wanted: Sequence[WantedPlace], room: int, budget: int) -> list[int]:
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


class Cut(NamedTuple):
    place: str
    missing: int
    """Characters that are left out."""
    size: int
    """All of them."""


class Fitted(NamedTuple):
    places: tuple[PacketPlace, ...]
    cut: tuple[Cut, ...]
    omitted: tuple[WantedPlace, ...]
    """For which there is no room at all."""


class Fitting:
    def __init__(self, wanted: Iterable[WantedPlace], tell: Tell) -> None:
        self._wanted = list(_named(wanted, tell))
        self._tell = tell
        self._told: set[int] = set()

    def within(self, room: int, budget: int) -> Fitted:
        places, cut, omitted = [], [], []
        for at, given in enumerate(self._shares(room, budget)):
            one = self._wanted[at]
            if not given:
                omitted.append(one)
                continue
            text, missing = self._excerpt(one, given, told=at in self._told)
            if missing:
                cut.append(Cut(one.place, missing, len(one.text)))
            places.append(PacketPlace(place=one.place, source=one.source, text=text))
        return Fitted(tuple(places), tuple(cut), tuple(omitted))

    def _shares(self, room: int, budget: int) -> list[int]:
        """What gets room is redacted, which changes its length; so the room is dealt out until nothing changes."""
        while True:
            shares = rooms(self._wanted, room, budget)
            new = [at for at, one in enumerate(self._wanted) if shares[at] and self._is_untold(at, one)]
            if not new:
                return shares
            for at in new:
                one = self._wanted[at]
                self._wanted[at] = msgspec.structs.replace(one, text=self._tell(one.text))
            self._told.update(new)

    def _is_untold(self, at: int, one: WantedPlace) -> bool:
        """What is very long is told in parts, when it is known which."""
        return at not in self._told and len(one.text) <= LONG

    def _excerpt(self, one: WantedPlace, given: int, *, told: bool) -> Excerpt:
        seams = None if told else Seams(one.text, self._tell)
        return excerpt(one.text, given, needles=one.needles, tail=one.tail, seams=seams)


def _named(wanted: Iterable[WantedPlace], tell: Tell) -> Iterator[WantedPlace]:
    """Without what is empty, and every name once."""
    names: set[str] = set()
    for one in wanted:
        if one.text.strip():
            place, source = in_short(one.place, NAME, tell), in_short(one.source, 2 * NAME, tell)
            yield msgspec.structs.replace(one, place=_unique(place, names), source=source)


def _unique(name: str, names: set[str]) -> str:
    number, made = 1, name
    while made in names:
        number += 1
        made = f"{name}#{number}"
    names.add(made)
    return made
