"""Search failures by text: the texts and buckets that are like the one that is looked for."""

from collections.abc import Iterable, Iterator

from errata.buckets.grouping import SAME_OWNER
from errata.buckets.similarity import Mean, Weights, words_of
from errata.model import Bucket

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
