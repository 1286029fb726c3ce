"""How alike texts are: rare words that they share weigh most (TF-IDF, cosine). Groups are found by their words."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

WIDE, LEADING, NEAREST = 100, 6, 12
"""A word that more groups have than this leads to none of them; words that lead; groups that are compared in full."""

Vector = dict[str, float]
Block = tuple[str, ...]
"""Only groups of the same block are ever compared."""


class Weights:
    """How much each word tells, by the share of texts that have it."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        counted: Counter[str] = Counter()
        total = 0
        for words in texts:
            counted.update(words)
            total += 1
        self._weights = {word: math.log((1 + total) / (1 + often)) + 1 for word, often in counted.items()}

    def vector(self, words: Iterable[str]) -> Vector:
        """Of length one."""
        found = {word: self._weights.get(word, 1.0) for word in sorted(words)}
        length = math.sqrt(sum(weight * weight for weight in found.values())) or 1.0
        return {word: weight / length for word, weight in found.items()}


class Mean:
    """What the texts of a group have in common: the mean of their vectors, so that no chain of neighbours forms."""

    def __init__(self) -> None:
        self._sum: Vector = {}
        self._count = 0

    def add(self, vector: Vector) -> list[str]:
        """The words that are new to it."""
        self._count += 1
        new = [word for word in vector if word not in self._sum]
        for word, weight in vector.items():
            self._sum[word] = self._sum.get(word, 0.0) + weight
        return new

    def likeness(self, vector: Vector) -> float:
        """The mean of the cosines, from 0 to 1."""
        if not self._count:
            return 0.0
        # an exact sum: whatever the order of a set, two runs of errata say the same
        return math.fsum(vector[word] * self._sum[word] for word in vector.keys() & self._sum.keys()) / self._count


class Space:
    """The means of many groups, found by the words that they have."""

    def __init__(self) -> None:
        self._means: list[Mean] = []
        self._by_word: dict[tuple[Block, str], list[int]] = {}

    def add(self, block: Block, place: int, vector: Vector) -> None:
        """`place` is the number of the group, from 0."""
        while len(self._means) <= place:
            self._means.append(Mean())
        for word in self._means[place].add(vector):
            self._by_word.setdefault((block, word), []).append(place)

    def near(self, block: Block, vector: Vector) -> Iterator[tuple[int, float]]:
        """Those that share the most words which few have, and how alike they are."""
        rarest = sorted(vector, key=lambda word: (-vector[word], word))
        listed = [self._by_word.get((block, word), []) for word in rarest]
        narrow = [places for places in listed if 0 < len(places) <= WIDE][:LEADING]
        if not narrow:
            narrow = [places[:WIDE] for places in sorted(listed, key=len) if places][:1]
        shared = Counter(chain.from_iterable(narrow))
        # most share a single word by chance; they count only where nobody shares more
        places = [place for place, often in shared.items() if often > 1] or shared
        for place in sorted(places, key=lambda place: (-shared[place], place))[:NEAREST]:
            yield place, self._means[place].likeness(vector)
