"""How alike texts are: the words that tell failures apart, and TF-IDF vectors of them compared by cosine."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from errata.text.lazy_regex import lazy_regex
from errata.text.mask import LONGEST as MASKED
from errata.text.mask import mask, mask_of_equal_digits
from errata.text.redact import with_equal_digits as equal_digits

LONGEST = 400
"""Characters of a text; what comes later are listings and repetitions."""
MOST = 40
_STATUS = lazy_regex(r"(?i)\b(?:code|status|error|http(?:/\d(?:\.\d)?)?|rejected)\b[\s:=(]{1,3}([45]\d\d)\b")
_STATUS_OF_EQUAL = lazy_regex(_STATUS.pattern.replace("[45]", "1"))
_MASKED = lazy_regex(r"<(?:time|url|uuid|ip|path|hex|id|str|n)>")
_CAMEL = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_QUOTES = lazy_regex(r"(?<!\w)['\"]|['\"](?!\w)")
_WORD = lazy_regex(r"[^\W\d_]{2,}")
_ANY_SENTENCE = (
    "an and any are as at be been but by can could did do does for from had has have he her his how if in into is it "
    "its me my no not of on or other our out over she should so some than that the their them then there these they "
    "this those to too under up was we were what when where which while who why will with would you your"
)
_ANY_FAILURE = (
    "code column char cmd command error errors exception exc exit fail failed fails failing failure false file line "
    "lines message none null param pass passed passes score scored status success test tests true type unset undefined"
)
_ANY_ASSERTION = (
    "actual answer answered array assert assertion assertions contain contains deep deeply differ differs equal "
    "equality equals expect expected expecting got include includes instead match matches object output received "
    "result return returned returns reward strictly value values wrong"
)
_DULL = frozenset(f"{_ANY_SENTENCE} {_ANY_FAILURE} {_ANY_ASSERTION}".split())


def words_of(*texts: str, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Each once, in no order of the text; `without` are names that need no telling, such as those of the checks."""
    dull = {word for name in without for word in _words(name)}
    words = dict.fromkeys(word for text in texts for word in _words(text[:LONGEST]) if word not in dull)
    return tuple(sorted(tuple(words)[:MOST]))


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    words = _words_of_shape(masked(text))
    # a status code is masked like every other number, but identifies the error better
    codes = _STATUS.findall(text)
    return (*(f"http{code}" for code in codes), *words) if codes else words


@lru_cache(maxsize=20_000)
def _words_of_shape(text: str) -> tuple[str, ...]:
    plain = _CAMEL.sub(" ", _MASKED.sub(" ", text))
    lowered = (word.lower() for word in _WORD.findall(plain))
    return tuple([_stem(word) for word in lowered if word not in _DULL])


@lru_cache(maxsize=1_000)
def masked(text: str) -> str:
    """Quoted text is often the point of a message, and often holds a path or an id."""
    return mask(_QUOTES.sub("", text))


def with_equal_digits(text: str) -> str:
    """The text with all digits made equal, where neither its words nor its mask depend on them; else as it is.

    A thousand messages that differ in a number are then one text.
    """
    equal = equal_digits(text)
    return equal if _is_same_with_other_digits(equal) else text


@lru_cache(maxsize=20_000)
def _is_same_with_other_digits(equal: str) -> bool:
    if _STATUS_OF_EQUAL.search(equal):
        return False
    parts = {equal, equal[:LONGEST]}
    return all(mask_of_equal_digits(_QUOTES.sub("", part)[:MASKED], True) is not None for part in parts)


def _stem(word: str) -> str:
    """Enough to see that `limits` and `limited` are of one kind."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


WIDE, LEADING, NEAREST = 100, 6, 12
"""A word that more groups have than this leads to none of them; words that lead; groups that are compared in full."""

Vector = dict[str, float]
Block = tuple[str, ...]
"""Only groups of the same block are ever compared."""


class Weights:
    """The weight of each word, by the share of texts that have it."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        counted: Counter[str] = Counter()
        total = 0
        for words in texts:
            counted.update(words)
            total += 1
        self._weights = {word: math.log((1 + total) / (1 + often)) + 1 for word, often in counted.items()}

    def vector(self, words: Iterable[str]) -> Vector:
        """Of length one."""
        weights = {word: self._weights.get(word, 1.0) for word in sorted(words)}
        length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {word: weight / length for word, weight in weights.items()}


class Mean:
    """What the texts of a group have in common: the mean of their vectors, so that no chain of neighbours forms."""

    def __init__(self) -> None:
        self._sum: Vector = {}
        self._count = 0

    def add(self, vector: Vector) -> list[str]:
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
