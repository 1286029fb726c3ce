"""The words of a text that tell one failure from another: masked, split, without those that every failure has."""

import re
from collections.abc import Iterable
from functools import lru_cache

from errata.text.mask import mask

LONGEST = 400
"""Characters of a text; what comes later are listings and repetitions."""
_STATUS = re.compile(r"(?i)\b(?:code|status|error|http(?:/\d(?:\.\d)?)?|rejected)\b[\s:=(]{1,3}([45]\d\d)\b")
_MASKED = re.compile(r"<(?:time|url|uuid|ip|path|hex|id|str|n)>")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_DULL = frozenset(
    "an and are as at be been but by can could did do does error exception exc fail failed fails failure for from had "
    "has have he if in into is it its no not none null of on or other our out over she so some than that the their "
    "them then there they this to true type false unset up was we were what when which while who will with would you "
    "your message param code line column char file test tests scored success pass passed expected".split()
)


def words_of(texts: Iterable[str]) -> tuple[str, ...]:
    """In order, each once."""
    found: dict[str, None] = {}
    for text in texts:
        found.update(_words(text[:LONGEST]))
    return tuple(found)


@lru_cache(maxsize=20_000)
def _words(text: str) -> dict[str, None]:
    found = {f"http{code}": None for code in _STATUS.findall(text)}
    plain = _CAMEL.sub(" ", _MASKED.sub(" ", mask(text, strings=False)))
    for word in _WORD.findall(plain):
        lowered = word.lower()
        if lowered not in _DULL:
            found[_stem(lowered)] = None
    return found


def _stem(word: str) -> str:
    """Enough to see that `limits` and `limited` are of one kind."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
