"""Symptoms hide causes: what the members of a bucket have in common besides how they fail, more than the others do."""

from collections import Counter
from collections.abc import Iterable, Sequence

from errata.buckets.failing import Failing
from errata.text.clean import one_line
from errata.text.redact import redact

NEARLY_ALL = 0.9
USUAL, CHANCE = 0.75, 0.25
"""What more of the others have than this tells nothing; nor does what so few members may share by chance."""
SEVERAL = 2
LONGEST = 80


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


def _shown(value: str) -> str:
    return redact(one_line(value, LONGEST))
