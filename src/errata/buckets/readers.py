"""What was read is grouped by what its readers said of the cause, whatever it looks like."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from errata.buckets.failing import Failing
from errata.buckets.likeness import Space, Weights
from errata.buckets.opinions import cause_words, opinion_of

SAME_CAUSE = 0.4
"""How alike the sentences of two readers must be who name no bucket, or name it differently."""


class Opinion(NamedTuple):
    """Failures of one suite whose verdicts name the same cause."""

    suite: str
    owner: str
    keys: tuple[str, ...]
    """Each spelling, the most frequent first."""
    failures: list[Failing]


class _Named(NamedTuple):
    suite: str
    key: str
    failures: list[Failing]

    @property
    def owner(self) -> str:
        often = Counter(failing.owner for failing in self.failures)
        return min(often, key=lambda owner: (-often[owner], owner))

    @property
    def words(self) -> set[str]:
        return {word for failing in self.failures if failing.verdict for word in cause_words(failing.verdict)}


def opinions(read: Iterable[Failing]) -> list[Opinion]:
    """The largest first."""
    named = _named(read)
    weights = Weights(one.words for one in named)
    space, found = Space(), list[list[_Named]]()
    for one in named:
        block, vector = (one.suite, one.owner), weights.vector(one.words)
        near = [(likeness, -place) for place, likeness in space.near(block, vector) if likeness >= SAME_CAUSE]
        place = -max(near)[1] if near else len(found)
        if not near:
            found.append([])
        found[place].append(one)
        space.add(block, place, vector)
    return [_opinion(same) for same in found]


def _named(read: Iterable[Failing]) -> list[_Named]:
    found: dict[tuple[str, str], list[Failing]] = {}
    for failing in read:
        found.setdefault((failing.suite, opinion_of(failing)), []).append(failing)
    each = [_Named(suite, key, failures) for (suite, key), failures in found.items()]
    return sorted(each, key=lambda one: (-len(one.failures), one.suite, one.key))


def _opinion(same: list[_Named]) -> Opinion:
    failures = [failing for one in same for failing in one.failures]
    return Opinion(same[0].suite, same[0].owner, tuple(one.key for one in same), failures)
