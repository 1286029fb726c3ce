"""Texts into the room there is for them: redacted first, then cut."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from errata.model import Place
from errata.review.budget import Wanted, rooms
from errata.review.redaction import LONG
from errata.review.seams import Seams, Tell, in_short
from errata.review.windows import Excerpt, excerpt

NAME = 160


class Cut(NamedTuple):
    place: str
    missing: int
    """Characters that are left out."""
    size: int
    """All of them."""


class Fitted(NamedTuple):
    places: tuple[Place, ...]
    cut: tuple[Cut, ...]
    omitted: tuple[Wanted, ...]
    """For which there is no room at all."""


class Fitting:
    def __init__(self, wanted: Iterable[Wanted], tell: Tell) -> None:
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
            places.append(Place(place=one.place, source=one.source, text=text))
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

    def _is_untold(self, at: int, one: Wanted) -> bool:
        """What is very long is told in parts, when it is known which."""
        return at not in self._told and len(one.text) <= LONG

    def _excerpt(self, one: Wanted, given: int, *, told: bool) -> Excerpt:
        seams = None if told else Seams(one.text, self._tell)
        return excerpt(one.text, given, needles=one.needles, tail=one.tail, seams=seams)


def _named(wanted: Iterable[Wanted], tell: Tell) -> Iterator[Wanted]:
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
