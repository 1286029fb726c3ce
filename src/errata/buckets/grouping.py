"""Failures into groups: what was read by what was said of it, the rest by equal keys, then by texts that are alike."""

from collections.abc import Iterable, Sequence

from errata.buckets.failing import Failing
from errata.buckets.groups import Group, Unit, units_of
from errata.buckets.likeness import Space, Vector, Weights
from errata.buckets.readers import Opinion, opinions
from errata.buckets.recognising import Known
from errata.buckets.rules import says_something
from errata.buckets.words import words_of
from errata.model import Bucket

SAME_RULE, SAME_OWNER = 0.15, 0.3
"""How alike texts must be where a rule says the same of both, and where only their owner is the same.
Chosen on the injected faults that may be tuned on; from 0.1 to 0.2 and from 0.25 to 0.5 nothing changes there."""


def grouped(read: Iterable[Failing], unread: Iterable[Failing], known: Sequence[Bucket] = ()) -> list[Group]:
    """The known ones first, in their order, then new ones as they were found."""
    said = [(opinion, units_of(opinion.failures)) for opinion in opinions(read)]
    units = units_of(unread)
    gathering = _Gathering(known, units)
    for (opinion, read_units), place in zip(said, gathering.known.of_opinions(said), strict=True):
        gathering.take_opinion(opinion, read_units, place)
    gathering.settle_claims()
    for compared in (False, True):  # a text may be like what a rule has named, and is then no group of its own
        for unit in units:
            if unit.is_compared is compared:
                gathering.take(unit)
    return gathering.groups


class _Gathering:
    def __init__(self, known: Sequence[Bucket], units: Sequence[Unit]) -> None:
        self.known = Known(known)
        self.groups = [Group(bucket.suite, bucket.parameters.get("owner", ""), bucket) for bucket in known]
        self._claims: dict[tuple[str, str], set[int]] = {}
        self._claimed: dict[tuple[str, str], int] = {}
        self._own: dict[tuple[str, str, str], int] = {}
        self._space = Space()
        shapes = [(place, words_of(shape)) for place, bucket in enumerate(known) for shape in bucket.words]
        self._weights = Weights([*(words for _, words in shapes), *(unit.words for unit in units)])
        for place, words in shapes:
            group = self.groups[place]
            scoring = "scoring" if any(key.startswith("scoring:") for key in group.keys) else ""
            self._space.add((group.suite, group.owner, scoring), place, self._weights.vector(words))

    def take_opinion(self, opinion: Opinion, units: Sequence[Unit], place: int | None) -> None:
        if place is None:
            place = self._new(opinion.suite, opinion.owner)
        group = self.groups[place]
        group.failures += opinion.failures
        group.keys.update(dict.fromkeys(opinion.keys, len(opinion.failures)))
        for unit in units:
            group.note(unit)
            self._space.add((group.suite, group.owner, unit.block[-1]), place, self._weights.vector(unit.words))
            # what says nothing is no sign of the same cause
            if unit.symptom.kind != "bare" and self.known.of_key(unit.symptom) in (None, place):
                self._claims.setdefault((group.suite, unit.symptom.key), set()).add(place)

    def settle_claims(self) -> None:
        """Where readers of the same thing disagree, it is a sign of neither, and nobody knows about the others."""
        for (suite, key), places in self._claims.items():
            if len(places) == 1:
                (self._claimed[suite, key],) = places
                self.groups[self._claimed[suite, key]].keys[key] += 1

    def take(self, unit: Unit) -> None:
        vector = self._weights.vector(unit.words)
        place = self._place_of(unit, vector)
        if place is None:
            place = self._new(unit.symptom.suite, unit.symptom.owner)
        self.groups[place].take(unit)
        self._own.setdefault(_own_key(unit), place)
        self._space.add(unit.block, place, vector)

    def _place_of(self, unit: Unit, vector: Vector) -> int | None:
        symptom = unit.symptom
        place = self.known.of_key(symptom)
        if place is None:
            place = self._claimed.get((symptom.suite, symptom.key))
        if place is None:
            place = self._own.get(_own_key(unit))
        return self._alike(unit, vector) if place is None and unit.is_compared else place

    def _alike(self, unit: Unit, vector: Vector) -> int | None:
        """The group that is alike by the largest margin; at equal margins the earlier, which is the larger."""
        near = self._space.near(unit.block, vector)
        margins = [(likeness - self._needed(unit, place), -place) for place, likeness in near]
        margin, place = max(margins, default=(-1.0, 0))
        return -place if margin >= 0 else None

    def _needed(self, unit: Unit, place: int) -> float:
        signal = unit.symptom.signal
        return SAME_RULE if says_something(signal) and signal in self.groups[place].signals else SAME_OWNER

    def _new(self, suite: str, owner: str) -> int:
        self.groups.append(Group(suite, owner))
        return len(self.groups) - 1


def _own_key(unit: Unit) -> tuple[str, str, str]:
    """A cluster is one cause, whomever it is attributed to in one place or the other."""
    symptom = unit.symptom
    return symptom.suite, "" if symptom.kind == "cluster" else symptom.owner, symptom.key
