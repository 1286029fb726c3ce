"""Whether two texts say the same though written differently: numbers, dates, JSON, case, white space, markup.

Every text has one canonical form, so that sameness is reflexive, symmetric and transitive. What could mean something
is kept: the case of symbols, names and short words (`Co` is not `CO`), leading zeros, units, the order of a list.
"""

import re
import unicodedata
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import Any

import msgspec

from errata.triage.figures import FORMS, MONTHS, MOST_DIGITS, Canonical
from errata.triage.markup import bare, unfenced

LONGEST = 4_000
"""Of longer texts it is not asked whether they say the same."""


@lru_cache(maxsize=20_000)
def canonical(text: str) -> Canonical:
    if len(text) < MOST_DIGITS and text.isdigit() and text.isascii() and text[0] != "0":
        return Canonical("number", int(text))
    if len(text) > LONGEST:
        return Canonical("long", text)
    found = _json(unfenced(text))  # as it stands: a backslash in JSON is no LaTeX
    if found is not None:
        return found
    short = bare(text)
    for form in FORMS:
        found = form(short)
        if found is not None:
            return found
    return Canonical("text", _words(short))


def same(one: str, other: str) -> bool:
    """Whether two texts say the same; never for a text that is too long or has nothing in it."""
    if len(one) > LONGEST or len(other) > LONGEST or _have_other_words(one, other):
        return False
    first = canonical(one)
    return first.value != "" and first == canonical(other)


_NO_LETTERS = re.compile(r"[\W\d_]+")
_REWRITTEN = re.compile(r"[\\`%{[]|per ?cent", re.IGNORECASE)
_MOST_LETTERS = 10
_LONGEST_DATE = 60


def _have_other_words(one: str, other: str) -> bool:
    """What nearly all wrong answers show at once, and at a fraction of the price: other letters than the right one."""
    if not (one.isascii() and other.isascii()):
        return False
    first, second = _NO_LETTERS.sub("", one).lower(), _NO_LETTERS.sub("", other).lower()
    if first == second or (not (first and second) and len(first) + len(second) <= _MOST_LETTERS):
        return False
    return not (_is_rewritten(one, first) or _is_rewritten(other, second))


def _is_rewritten(text: str, letters: str) -> bool:
    """Whether the letters of a text may count for nothing or change places: in LaTeX, JSON, `percent`, a month."""
    if len(text) <= _LONGEST_DATE and any(name in letters for name in MONTHS) and not text.isalpha():
        return True
    return _REWRITTEN.search(text) is not None


def same_value(one: Any, other: Any) -> bool:
    """The same for values of any type, as programs pass them: `5` and `"5"` are the same, `1` and `true` are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict | list | tuple) or isinstance(other, dict | list | tuple):
        return False
    if one is None or other is None:
        return one is other
    return (type(one) is type(other) and one == other) or same(str(one), str(other))


def same_set(one: str, other: str) -> bool:
    """Lists whose order means nothing, as a task may say."""
    if len(one) > LONGEST or len(other) > LONGEST or not _SEPARATOR.search(one) or not _SEPARATOR.search(other):
        return False
    first, second = parts(one), parts(other)
    return len(first) > 1 and Counter(map(canonical, first)) == Counter(map(canonical, second))


def parts(text: str) -> list[str]:
    """What a list in words holds."""
    inner = bare(text).strip("[](){}")
    return [part for part in _SEPARATOR.split(inner) if part.strip()]


_SEPARATOR = re.compile(r"[,;\n]|\band\b")


def _json(text: str) -> Canonical | None:
    if not text.startswith(("{", "[")):
        return None
    try:
        return Canonical("json", _frozen(msgspec.json.decode(text)))
    except (msgspec.DecodeError, RecursionError, ValueError, OverflowError):
        return None


def _frozen(value: Any) -> object:
    """Order of keys and the type of numbers mean nothing; everything else does."""
    if isinstance(value, dict):
        return "object", tuple(sorted((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return "list", tuple(map(_frozen, value))
    if isinstance(value, bool) or value is None:
        return "word", str(value)
    return ("text", value) if isinstance(value, str) else ("number", str(Fraction(value)))


_OPERATOR = re.compile(r"(?<=\S) ([-+*/=<>]) (?=\S)")
_OPENING = re.compile(r"(?<=[(\[{]) +")
_CLOSING = re.compile(r" +(?=[)\]}])")
# two numbers with a comma between them are a list with a space, and may be one number without
_COMMA = re.compile(r"(?<!\d) ?,[ ]?|(?<=\d),(?= ?\D) ?")
# a word of its own, not a part of a name, a path, an address or a flag
_WORD = re.compile(r"(?<![\w{}\\/@#$.&=])[^\W\d_]+(?![\w{}\\/@#$&=(]|\.\w)")
_LITTLE = frozenset(
    ("a", "an", "as", "at", "by", "he", "in", "is", "it", "no", "of", "ok", "on", "or", "so", "to", "we")
)


def _words(text: str) -> str:
    text = _OPERATOR.sub(r"\1", " ".join(unicodedata.normalize("NFC", text).split()))
    text = _COMMA.sub(",", _CLOSING.sub("", _OPENING.sub("", text)))
    return _WORD.sub(_folded, text)


def _folded(match: re.Match[str]) -> str:
    """Lower case for what is a plain word; `Co`, `mW` and `getUser` mean something else in other letters."""
    word = match[0]
    lower = word.lower()
    plain = len(word) > 2 or lower in _LITTLE
    return lower if plain and (word.islower() or word.isupper() or word.istitle()) else word
