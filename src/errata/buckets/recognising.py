"""Known buckets found again: by what a verdict names, by keys, and, through their words, by texts that are alike."""

from collections import Counter
from collections.abc import Iterator, Sequence

from errata.buckets.groups import Unit
from errata.buckets.opinions import is_opinion, slug_of
from errata.buckets.readers import Opinion
from errata.buckets.symptoms import Symptom
from errata.model import Bucket


class Known:
    """Buckets by their places in a list."""

    def __init__(self, buckets: Sequence[Bucket]) -> None:
        self._buckets = buckets
        self._by_key: dict[tuple[str, str], list[int]] = {}
        # the larger one is meant where a key leads to several
        order = sorted(range(len(buckets)), key=lambda at: (-len(buckets[at].members), buckets[at].id))
        for place in order:
            for key in (*buckets[place].keys, f"verdict:{slug_of(buckets[place].slug)}"):
                self._by_key.setdefault((buckets[place].suite, key), []).append(place)

    def of_key(self, symptom: Symptom) -> int | None:
        places = self._by_key.get((symptom.suite, symptom.key), [])
        same = [place for place in places if self._buckets[place].parameters.get("owner") == symptom.owner]
        return next(iter(same or places), None)

    def of_opinions(self, said: Sequence[tuple[Opinion, Sequence[Unit]]]) -> Iterator[int | None]:
        """For each the bucket that its readers name; else the provisional one that they, and no others, have read."""
        named = [self._named(opinion) for opinion, _ in said]
        provisional = [
            None if place is not None else self._provisional(units)
            for place, (_, units) in zip(named, said, strict=True)
        ]
        often = Counter(provisional)
        for place, other in zip(named, provisional, strict=True):
            yield other if place is None and often[other] == 1 else place

    def _named(self, opinion: Opinion) -> int | None:
        for key in opinion.keys:
            if places := self._by_key.get((opinion.suite, key)):
                return places[0]
        return None

    def _provisional(self, units: Sequence[Unit]) -> int | None:
        if any(unit.symptom.kind == "bare" for unit in units):
            return None
        found = {self.of_key(unit.symptom) for unit in units}
        place = found.pop() if len(found) == 1 else None
        if place is None or any(map(is_opinion, self._buckets[place].keys)):
            return None
        return place
