"""Of many rules the few that can match a text at all: by three letters first, then by the plain stretch they stand in.

Asking every rule for every stretch costs more than all else once there are many rules.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Generic, TypeVar

GRAM = 3
LONG = 2_000
"""Of a longer text cutting it up costs more than looking for every stretch."""

T = TypeVar("T")


class Sieve(Generic[T]):
    """Things to try, each with the lower-case stretches of which a text must hold one; without any it always stays."""

    def __init__(self, things: Iterable[tuple[T, tuple[str, ...]]]) -> None:
        listed = list(things)
        self._things = [thing for thing, _ in listed]
        self._always = frozenset(at for at, (_, stretches) in enumerate(listed) if not stretches)
        self._stretches = [(stretch, at) for at, (_, stretches) in enumerate(listed) for stretch in stretches]
        often = Counter(gram for stretch, _ in self._stretches for gram in grams(stretch))
        self._with: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for stretch, at in self._stretches:
            rarest = min(sorted(grams(stretch)), key=often.__getitem__)
            self._with[rarest].append((stretch, at))

    def that_may_match(self, lowered: str) -> list[T]:
        """In the order in which they were given."""
        if len(lowered) > LONG:
            asked = iter([self._stretches])
        else:
            asked = (self._with[gram] for gram in self._with.keys() & grams(lowered))
        kept = set(self._always)
        for stretches in asked:
            for stretch, at in stretches:
                if at not in kept and stretch in lowered:
                    kept.add(at)
        return [self._things[at] for at in sorted(kept)]


def grams(text: str) -> set[str]:
    return {text[at : at + GRAM] for at in range(len(text) - GRAM + 1)}
