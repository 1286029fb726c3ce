"""The words of a text that tell one failure from another: masked, split, without those that every failure has."""

import re
from collections.abc import Iterable
from functools import lru_cache

from errata.text.mask import mask

LONGEST = 400
"""Characters of a text; what comes later are listings and repetitions."""
MOST = 40
_STATUS = re.compile(r"(?i)\b(?:code|status|error|http(?:/\d(?:\.\d)?)?|rejected)\b[\s:=(]{1,3}([45]\d\d)\b")
_MASKED = re.compile(r"<(?:time|url|uuid|ip|path|hex|id|str|n)>")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_QUOTES = re.compile(r"(?<!\w)['\"]|['\"](?!\w)")
_WORD = re.compile(r"[^\W\d_]{2,}")
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
    "actual answer answered array assert assertion assertions contain contains deep deeply differ differs equal equals "
    "expect expected expecting got include includes instead match matches object output received result return "
    "returned returns reward strictly value values wrong"
)
_DULL = frozenset(f"{_ANY_SENTENCE} {_ANY_FAILURE} {_ANY_ASSERTION}".split())


def words_of(*texts: str, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Each once, in no order of the text; `without` are names that need no telling, such as those of the checks."""
    dull = {word for name in without for word in _words(name)}
    found = dict.fromkeys(word for text in texts for word in _words(text[:LONGEST]) if word not in dull)
    return tuple(sorted(tuple(found)[:MOST]))


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    plain = _CAMEL.sub(" ", _MASKED.sub(" ", masked(text)))
    lowered = (word.lower() for word in _WORD.findall(plain))
    # a status is masked with all other numbers, and tells more than they do
    return (*(f"http{code}" for code in _STATUS.findall(text)), *(_stem(word) for word in lowered if word not in _DULL))


def masked(text: str) -> str:
    """What stands in quotes is often the whole point of a message, and often holds a path or an id."""
    return mask(_QUOTES.sub("", text))


def _stem(word: str) -> str:
    """Enough to see that `limits` and `limited` are of one kind."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
