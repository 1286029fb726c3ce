"""Failures into groups: reviewed ones by verdicts, others by known buckets, keys and similar texts; and text search."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from errata.buckets.failure import FailureToGroup
from errata.buckets.opinions import NamedCause, is_opinion, is_owner, opinions, slug_of
from errata.buckets.rules import says_something
from errata.buckets.similarity import Mean, Space, Vector, Weights, words_of
from errata.buckets.symptoms import Symptom, symptom_of
from errata.model import Bucket

SAME_RULE, SAME_OWNER = 0.15, 0.3
"""How similar texts must be where the same rule matched both, and where only their owner is the same.
Chosen on the injected faults that may be tuned on; from 0.1 to 0.2 and from 0.25 to 0.5 nothing changes there."""

BySymptom = dict[Symptom, list[int]]
"""Failures that show the very same, by their places in the list of failures."""


class FailureGroup:
    """Failures with one cause, new or of a known bucket, while they are gathered."""

    def __init__(self, suite: str, owner: str, bucket: Bucket | None = None) -> None:
        self.suite, self.owner, self.bucket = suite, owner, bucket
        self.failures: list[int] = []
        """Places in the list of failures."""
        self.followers: list[int] = []
        self.keys: Counter[str] = Counter(dict.fromkeys(bucket.keys, 0) if bucket else {})
        """Key → how many of the failures at hand show it."""
        self.shapes: Counter[str] = Counter(dict.fromkeys(bucket.words, 0) if bucket else {})
        self.signals: set[str] = set()

    def take(self, symptom: Symptom, failures: Sequence[int]) -> None:
        self.failures += failures
        self.keys[symptom.key] += len(failures)
        if symptom.shape:
            self.shapes[symptom.shape] += len(failures)
        if symptom.signal:
            self.signals.add(symptom.signal)


def group_failures(
    failures: Sequence[FailureToGroup],
    chosen: Iterable[int],
    known: Sequence[Bucket] = (),
    sizes: Mapping[str, int] | None = None,
    staying: Mapping[int, int] | None = None,
) -> list[FailureGroup]:
    """The chosen ones, by their places. The known buckets come first, in their order, then new ones as they appear.

    `sizes` is the number of members that stay in a known bucket. `staying`: a failure whose verdict agrees with its
    bucket → the place of that bucket among the known ones.
    """
    staying = staying or {}
    read: list[int] = []
    unread: list[int] = []
    for at in chosen:
        if at not in staying:
            (read if failures[at].verdict else unread).append(at)
    units = by_symptom(failures, unread)
    gathering = _Gathering(known, units, sizes or {})
    for opinion in opinions(failures, read):
        gathering.take_opinion(opinion, by_symptom(failures, opinion.failures))
    gathering.pass_on_keys((*units, *by_symptom(failures, staying)))
    for compared in (False, True):  # a text may be like what a rule has named, and is then no group of its own
        for symptom, same in units.items():
            if symptom.is_compared is compared:
                gathering.take(symptom, same)
    agreeing: dict[int, list[int]] = {}
    for at, place in staying.items():
        agreeing.setdefault(place, []).append(at)
    for place, same in agreeing.items():
        gathering.keep(place, opinions(failures, same), by_symptom(failures, same))
    return gathering.groups


def by_symptom(failures: Sequence[FailureToGroup], chosen: Iterable[int]) -> BySymptom:
    """The most frequent first, and in an order that depends on nothing but what they show."""
    units: BySymptom = {}
    for at in chosen:
        units.setdefault(symptom_of(failures[at]), []).append(at)
    return dict(sorted(units.items(), key=lambda pair: (-len(pair[1]), pair[0])))


class _Gathering:
    def __init__(self, known: Sequence[Bucket], units: BySymptom, sizes: Mapping[str, int]) -> None:
        self.known = KnownBuckets(known, sizes)
        self.groups = [FailureGroup(bucket.suite, bucket.parameters.get("owner", ""), bucket) for bucket in known]
        self._named: dict[tuple[str, str], int] = {}
        """What verdicts call them → groups."""
        self._reviewed: dict[tuple[str, str], set[int]] = {}
        """What reviewed failures show → the groups that their verdicts put them into."""
        self._own: dict[tuple[str, str, str], int] = {}
        self._space = Space()
        shapes = [(place, words_of(shape)) for place, bucket in enumerate(known) for shape in bucket.words]
        self._weights = Weights([*(words for _, words in shapes), *(symptom.words for symptom in units)])
        for place, words in shapes:
            group = self.groups[place]
            scoring = "scoring" if any(key.startswith("scoring:") for key in group.keys) else ""
            self._space.add((group.suite, group.owner, scoring), place, self._weights.vector(words))

    def take_opinion(self, opinion: NamedCause, symptoms: BySymptom) -> None:
        """A verdict moves the failures that it was given for. Others stay, however similar."""
        place = self.known.of_opinion(opinion)
        if place is None:  # a bucket that verdicts form may have several owners
            places = (self._named.get((opinion.suite, key)) for key in opinion.keys)
            place = next((each for each in places if each is not None), None)
        if place is None:
            place = self._new(opinion.suite, opinion.owner)
        self._named |= {(opinion.suite, key): place for key in opinion.keys if (opinion.suite, key) not in self._named}
        group = self.groups[place]
        group.failures += opinion.failures
        group.keys.update(dict.fromkeys(opinion.keys, len(opinion.failures)))
        for symptom in symptoms:
            group.signals |= {symptom.signal} - {""}
            if symptom.kind in ("text", "signal"):
                self._reviewed.setdefault((symptom.suite, symptom.key), set()).add(place)

    def keep(self, place: int, agreeing: Sequence[NamedCause], symptoms: BySymptom) -> None:
        """Failures whose verdicts agree with their bucket stay in it, and support it.

        Where its members show unlike things, only those support it that give the most frequent reason.
        """
        group = self.groups[place]
        for symptom, same in symptoms.items():
            group.take(symptom, same)
        shown = {key for key in group.keys if not is_opinion(key)}
        is_one_text = len(shown) == 1 and not any(symptom.kind == "bare" for symptom in symptoms)
        is_one_cause = is_one_text or all(symptom.names_cause for symptom in symptoms)
        for opinion in agreeing if is_one_cause else agreeing[:1]:
            group.keys.update(dict.fromkeys(opinion.keys, len(opinion.failures)))

    def pass_on_keys(self, unread: Iterable[Symptom]) -> None:
        """Later failures are recognised by what only the reviewed members of one group show."""
        shown = {(symptom.suite, symptom.key) for symptom in unread}
        for (suite, key), places in self._reviewed.items():
            if len(places) == 1 and (suite, key) not in shown:
                self.groups[min(places)].keys[key] += 1

    def take(self, symptom: Symptom, same: Sequence[int]) -> None:
        vector = self._weights.vector(symptom.words)
        place = self._place_of(symptom, vector)
        if place is None:
            place = self._new(symptom.suite, symptom.owner)
        self.groups[place].take(symptom, same)
        self._own.setdefault(_own_key(symptom), place)
        self._space.add(symptom.block, place, vector)

    def _place_of(self, symptom: Symptom, vector: Vector) -> int | None:
        place = self.known.of_key(symptom)
        if place is None:
            place = self._own.get(_own_key(symptom))
        return self._most_similar(symptom, vector) if place is None and symptom.is_compared else place

    def _most_similar(self, symptom: Symptom, vector: Vector) -> int | None:
        """The group that is alike by the largest margin; at equal margins the earlier, which is the larger."""
        near = self._space.near(symptom.block, vector)
        margins = [(likeness - self._needed(symptom.signal, place), -place) for place, likeness in near]
        margin, place = max(margins, default=(-1.0, 0))
        return -place if margin >= 0 else None

    def _needed(self, signal: str, place: int) -> float:
        return SAME_RULE if says_something(signal) and signal in self.groups[place].signals else SAME_OWNER

    def _new(self, suite: str, owner: str) -> int:
        self.groups.append(FailureGroup(suite, owner))
        return len(self.groups) - 1


def _own_key(symptom: Symptom) -> tuple[str, str, str]:
    """A cluster is one cause, whomever it is attributed to in one place or the other."""
    return symptom.suite, "" if symptom.kind == "cluster" else symptom.owner, symptom.key


class KnownBuckets:
    """Buckets found again by what a verdict names and by keys, as places in a list."""

    def __init__(self, buckets: Sequence[Bucket], sizes: Mapping[str, int]) -> None:
        self._buckets = buckets
        self._by_key: dict[tuple[str, str], list[int]] = {}
        # where a key leads to several, one that rules formed is meant, then the larger one
        order = sorted(
            range(len(buckets)),
            key=lambda at: (buckets[at].is_of_reviewers, -sizes.get(buckets[at].id, 0), buckets[at].id),
        )
        for place in order:
            for key in (*buckets[place].keys, f"verdict:{slug_of(buckets[place].slug)}"):
                self._by_key.setdefault((buckets[place].suite, key), []).append(place)

    def of_key(self, symptom: Symptom) -> int | None:
        places = self._by_key.get((symptom.suite, symptom.key), [])
        same = [place for place in places if self._buckets[place].parameters.get("owner") == symptom.owner]
        return next(iter(same or places), None)

    def of_opinion(self, opinion: NamedCause) -> int | None:
        """The bucket that its reviewers name, if its owner is theirs."""
        for key in opinion.keys:
            places = self._by_key.get((opinion.suite, key), [])
            same = [place for place in places if self._buckets[place].parameters.get("owner") == opinion.owner]
            possible = [place for place in places if is_owner(opinion.owner, self._buckets[place])]
            if possible:
                return (same or possible)[0]
        return None


SEVERAL = 2


class TextSearch:
    """Compares as the grouping does: the rarer a word is among `texts`, the more it counts."""

    def __init__(self, words: Iterable[str], texts: Iterable[str]) -> None:
        # the case is a word of the grouping, but not of what is looked for in other cases
        self._words = frozenset(word for word in words if not word.startswith("@"))
        self._weights = Weights(map(words_of, texts))
        self._sought = Mean()
        if self._words:
            self._sought.add(self._weights.vector(self._words))

    def is_similar(self, text: str) -> bool:
        words = words_of(text)
        # most texts share a single word by chance
        if len(self._words.intersection(words)) < min(len(self._words), SEVERAL) or not self._words:
            return False
        return self._sought.likeness(self._weights.vector(words)) >= SAME_OWNER

    def similar_buckets(self, buckets: Iterable[Bucket], owner: str = "") -> Iterator[Bucket]:
        """By any text of a bucket. As in the grouping, failures of two owners are never the same."""
        for bucket in buckets:
            if owner in ("", bucket.parameters.get("owner", "")) and any(map(self.is_similar, texts_of(bucket))):
                yield bucket


def texts_of(bucket: Bucket) -> tuple[str, ...]:
    return (*bucket.words, bucket.title)
