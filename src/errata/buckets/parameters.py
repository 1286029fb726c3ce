"""Symptoms hide causes: what the members of a bucket have in common besides how they fail, more than the others do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from errata.buckets.failing import Failing
from errata.model import Bucket
from errata.text.clean import one_line
from errata.text.redact import redact

NEARLY_ALL = 0.9
USUAL, CHANCE = 0.75, 0.25
"""What more of the others have than this tells nothing; nor does what so few members may share by chance."""
SEVERAL = 2
LONGEST = 80
_ALMOST_ALL_OF_IT = 0.8


class Behind(NamedTuple):
    """One value of a parameter that several buckets have in common: perhaps they are one cause with many faces."""

    suite: str
    name: str
    value: str
    failures: int
    """That have it, in these buckets."""
    of: int
    """That have it at all."""
    buckets: tuple[str, ...]
    """Ids, the largest first."""


class Parameters:
    """What is usual in each suite, to see what is not."""

    def __init__(self, failures: Iterable[Failing]) -> None:
        self._usual: dict[str, Counter[tuple[str, str]]] = {}
        self._totals: Counter[str] = Counter()
        for failing in failures:
            self._totals[failing.suite] += 1
            self._usual.setdefault(failing.suite, Counter()).update(failing.parameters.items())

    def shared(self, suite: str, members: Sequence[Failing]) -> dict[str, str]:
        """Of two members or more, and only where the suite has other failures to compare with."""
        others = self._totals[suite] - len(members)
        if len(members) < SEVERAL or others <= 0:
            return {}
        counted = Counter(pair for failing in members for pair in failing.parameters.items())
        found = {}
        for (name, value), often in sorted(counted.items()):
            inside = often / len(members)
            outside = (self._usual[suite][name, value] - often) / others
            if inside >= NEARLY_ALL and outside <= USUAL and outside ** len(members) <= CHANCE:
                found[name] = _shown(value)
        return found


def is_shared(name: str, value: str, members: Sequence[Failing]) -> bool:
    """Whether nearly all have it; nobody contradicts where there are none."""
    return sum(_shown(one.parameters.get(name, "")) == value for one in members) >= NEARLY_ALL * len(members)


def behind(buckets: Sequence[Bucket], failures: Iterable[Failing]) -> list[Behind]:
    """Values that several buckets share and that hardly occur elsewhere; the most failures first.

    Seventeen failures in three buckets, all of one provider: probably what that provider needs is missing.
    """
    given = {failing.attempt: failing for failing in failures}
    total = Counter((one.suite, *pair) for one in given.values() for pair in one.parameters.items())
    found: dict[tuple[str, str, str], list[tuple[int, str]]] = {}
    for bucket in buckets:
        members = [given[member.attempt] for member in bucket.members if member.attempt in given]
        counted = Counter(pair for failing in members for pair in failing.parameters.items())
        for (name, value), often in counted.items():
            if often >= NEARLY_ALL * len(members):
                found.setdefault((bucket.suite, name, value), []).append((often, bucket.id))
    return _telling(found, total, Counter(one.suite for one in given.values()))


def _telling(
    found: dict[tuple[str, str, str], list[tuple[int, str]]],
    total: Counter[tuple[str, str, str]],
    sizes: Counter[str],
) -> list[Behind]:
    told = []
    for (suite, name, value), held in found.items():
        often, of = sum(count for count, _ in held), total[suite, name, value]
        several = len(held) >= SEVERAL and often >= SEVERAL * len(held)
        # what all failures of the suite have explains none of them
        if several and often >= _ALMOST_ALL_OF_IT * of and of < NEARLY_ALL * sizes[suite]:
            ids = tuple(each for _, each in sorted(held, key=lambda one: (-one[0], one[1])))
            told.append(Behind(suite, name, _shown(value), often, of, ids))
    return sorted(told, key=lambda one: (-one.failures, one.suite, one.name, one.value))


def _shown(value: str) -> str:
    return redact(one_line(value, LONGEST))
