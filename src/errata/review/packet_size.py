"""Texts into the room that a packet has for them: each a readable part in the order of its rank, then the whole."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from errata.model import PacketPlace
from errata.review.excerpts import CutPoints, Excerpt, Tell, excerpt, in_short, weight
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
    """The name under which omitted texts of a kind are listed together."""


def tokens(size: int) -> int:
    return -(-size // BYTES_A_TOKEN)


def cost(wanted: WantedPlace, given: int) -> int:
    """The size of the text in the packet, in bytes."""
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
            place, size = wanted[at], sizes[at]
            enough = size if whole else min(size, place.share)
            around = 0 if given[at] else cost(place, 1) - 1
            more = min(enough - given[at], left - around)
            if more > 0 and given[at] + more >= min(size, READABLE):
                given[at] += more
                left -= more + around
    return given


class PlaceCut(NamedTuple):
    place: str
    missing: int
    """Characters that are left out."""
    size: int
    """All of them."""


class Fitted(NamedTuple):
    places: tuple[PacketPlace, ...]
    cut: tuple[PlaceCut, ...]
    omitted: tuple[WantedPlace, ...]
    """For which there is no room at all."""


class Fitting:
    def __init__(self, wanted: Iterable[WantedPlace], tell: Tell) -> None:
        self._wanted = list(_with_unique_names(wanted, tell))
        self._tell = tell
        self._redacted: set[int] = set()

    def within(self, room: int, budget: int) -> Fitted:
        places, cut, omitted = [], [], []
        for at, given in enumerate(self._shares(room, budget)):
            place = self._wanted[at]
            if not given:
                omitted.append(place)
                continue
            text, missing = self._excerpt(place, given, is_redacted=at in self._redacted)
            if missing:
                cut.append(PlaceCut(place.place, missing, len(place.text)))
            places.append(PacketPlace(place=place.place, source=place.source, text=text))
        return Fitted(tuple(places), tuple(cut), tuple(omitted))

    def _shares(self, room: int, budget: int) -> list[int]:
        """What gets room is redacted, which changes its length; so the room is dealt out until nothing changes."""
        while True:
            shares = rooms(self._wanted, room, budget)
            new = [at for at, one in enumerate(self._wanted) if shares[at] and self._is_unredacted(at, one)]
            if not new:
                return shares
            for at in new:
                place = self._wanted[at]
                self._wanted[at] = msgspec.structs.replace(place, text=self._tell(place.text))
            self._redacted.update(new)

    def _is_unredacted(self, at: int, place: WantedPlace) -> bool:
        """A very long text is redacted in parts, once it is known which parts are shown."""
        return at not in self._redacted and len(place.text) <= LONG

    def _excerpt(self, place: WantedPlace, given: int, *, is_redacted: bool) -> Excerpt:
        cut_points = None if is_redacted else CutPoints(place.text, self._tell)
        return excerpt(place.text, given, needles=place.needles, tail=place.tail, cut_points=cut_points)


def _with_unique_names(wanted: Iterable[WantedPlace], tell: Tell) -> Iterator[WantedPlace]:
    """Without what is empty, and every name once."""
    names: set[str] = set()
    for place in wanted:
        if place.text.strip():
            name, source = in_short(place.place, NAME, tell), in_short(place.source, 2 * NAME, tell)
            yield msgspec.structs.replace(place, place=_unique(name, names), source=source)


def _unique(name: str, names: set[str]) -> str:
    number, made = 1, name
    while made in names:
        number += 1
        made = f"{name}#{number}"
    names.add(made)
    return made
