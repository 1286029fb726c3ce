"""Whether two texts say the same though written differently: numbers, dates, units, JSON, case, white space, markup."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from errata.text.answers import bare, unfenced
from errata.text.lazy_regex import lazy_regex


class Canonical(NamedTuple):
    kind: str
    """number, percent, money, date, json, text, or long for what is not looked into."""
    value: object


_NUMBER = r"[+-]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
_TIMES_TEN = lazy_regex(r"(?:(?<!\s)\s++)?(?:[x×*]|\\times|\\cdot)\s*+10\s*+(?:\^|\*\*)\s*+\{?([+-]?\d{1,3})\}?$")
_IS_NUMBER = lazy_regex(rf"{_NUMBER}$")
_FRACTION = lazy_regex(r"([+-]?\d{1,30})/(\d{1,30})$")
_PERCENT = lazy_regex(r"(?:(?<!\s)\s++)?(?:%|per ?cent)$", re.IGNORECASE)
_MONEY = lazy_regex(r"[+-]?([$€£¥])\s?(?=[\d.])")
MOST_DIGITS = 60


def _number(text: str) -> Canonical | None:
    value = _value(text)
    return None if value is None else Canonical("number", value)


def _percent(text: str) -> Canonical | None:
    if not text.endswith(("%", "t", "T")) or len(text) > MOST_DIGITS:
        return None
    value = _value(_PERCENT.sub("", text)) if _PERCENT.search(text) else None
    return None if value is None else Canonical("percent", value)


def _money(text: str) -> Canonical | None:
    sign = _MONEY.match(text)
    value = _value(text.replace(sign[1], "", 1).replace(" ", "")) if sign else None
    return None if value is None or sign is None else Canonical("money", (sign[1], value))


def _value(text: str) -> Fraction | None:
    """The number that a text is; none for anything that may be a code, such as `007`."""
    if len(text) > 2 * MOST_DIGITS:
        return None
    scaled = _TIMES_TEN.search(text)
    if scaled:
        text = f"{text[: scaled.start()]}e{scaled[1]}"
    divided = _FRACTION.match(text)
    if divided:
        below = int(divided[2])
        return Fraction(int(divided[1]), below) if below else None
    plain = text.replace(",", "").replace("_", "")
    digits = plain.lstrip("+-")
    if not digits or not (digits[0].isdigit() or digits[0] == ".") or len(digits) > MOST_DIGITS:
        return None
    if not text.isascii() or not _IS_NUMBER.match(text) or (digits[0] == "0" and digits[1:2].isdigit()):
        return None
    try:
        return Fraction(plain)
    except ValueError:
        return None


_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTHS = {name: at for at, name in enumerate(_MONTH_NAMES, 1)}
MONTH_NAME = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_ISO = lazy_regex(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})$")
_DAY_FIRST = lazy_regex(rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -]{MONTH_NAME},?[ -](\d{{4}})$", re.IGNORECASE)
_MONTH_FIRST = lazy_regex(rf"{MONTH_NAME} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})$", re.IGNORECASE)
_FIGURES = lazy_regex(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$")


def _date(text: str) -> Canonical | None:
    if not 8 <= len(text) <= 30 or not text[-1].isdigit():
        return None
    day = _day(text)
    try:
        return Canonical("date", date(*day).isoformat()) if day else None
    except ValueError:
        return None


def _day(text: str) -> tuple[int, int, int] | None:
    """Year, month, day. `03/05/2024` is two days, depending on who reads it, so it is none."""
    if match := _ISO.match(text):
        return int(match[1]), int(match[3]), int(match[4])
    if match := _DAY_FIRST.match(text):
        return int(match[3]), MONTHS[match[2][:3].lower()], int(match[1])
    if match := _MONTH_FIRST.match(text):
        return int(match[3]), MONTHS[match[1][:3].lower()], int(match[2])
    if match := _FIGURES.match(text):
        first, second = int(match[1]), int(match[3])
        if first > 12 or second > 12 or first == second:
            return int(match[4]), min(first, second), max(first, second)
    return None


FORMS: tuple[Callable[[str], Canonical | None], ...] = (_number, _percent, _money, _date)


LONGEST = 4_000
"""Of longer texts it is not asked whether they say the same."""


@lru_cache(maxsize=20_000)
def canonical(text: str) -> Canonical:
    if len(text) < MOST_DIGITS and text.isdigit() and text.isascii() and text[0] != "0":
        return Canonical("number", int(text))
    if len(text) > LONGEST:
        return Canonical("long", text)
    value = _json(unfenced(text))  # before cleaning: a backslash in JSON is not LaTeX
    if value is not None:
        return value
    short = bare(text)
    for form in FORMS:
        value = form(short)
        if value is not None:
            return value
    return Canonical("text", _words(short))


def same(text: str, other: str) -> bool:
    """Whether two texts say the same; never for a text that is too long or has nothing in it."""
    if len(text) > LONGEST or len(other) > LONGEST or _have_other_words(text, other):
        return False
    first = canonical(text)
    return first.value != "" and first == canonical(other)


_NO_LETTERS = lazy_regex(r"[\W\d_]+")
_REWRITTEN = lazy_regex(r"[\\`%{[]|per ?cent", re.IGNORECASE)
_MOST_LETTERS = 10
_LONGEST_DATE = 60


def _have_other_words(text: str, other: str) -> bool:
    """What nearly all wrong answers show at once, and at a fraction of the price: other letters than the right one."""
    if not (text.isascii() and other.isascii()):
        return False
    first, second = _NO_LETTERS.sub("", text).lower(), _NO_LETTERS.sub("", other).lower()
    if first == second or (not (first and second) and len(first) + len(second) <= _MOST_LETTERS):
        return False
    return not (_is_rewritten(text, first) or _is_rewritten(other, second))


def _is_rewritten(text: str, letters: str) -> bool:
    """Whether the letters of a text may count for nothing or change places: in LaTeX, JSON, `percent`, a month."""
    if len(text) <= _LONGEST_DATE and any(name in letters for name in MONTHS) and not text.isalpha():
        return True
    return _REWRITTEN.search(text) is not None


def same_value(first: Any, other: Any) -> bool:
    """The same for values of any type, as programs pass them: `5` and `"5"` are the same, `1` and `true` are not."""
    if isinstance(first, dict) and isinstance(other, dict):
        return first.keys() == other.keys() and all(same_value(first[key], other[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(other, list | tuple):
        return len(first) == len(other) and all(map(same_value, first, other))
    if isinstance(first, dict | list | tuple) or isinstance(other, dict | list | tuple):
        return False
    if first is None or other is None:
        return first is other
    return (type(first) is type(other) and first == other) or same(str(first), str(other))


def same_set(text: str, other: str) -> bool:
    """Lists whose order means nothing, as a task may say."""
    if len(text) > LONGEST or len(other) > LONGEST or not _SEPARATOR.search(text) or not _SEPARATOR.search(other):
        return False
    first, second = parts(text), parts(other)
    return len(first) > 1 and Counter(map(canonical, first)) == Counter(map(canonical, second))


def parts(text: str) -> list[str]:
    """What a list in words holds."""
    inner = bare(text).strip("[](){}")
    return [part for part in _SEPARATOR.split(inner) if part.strip()]


_SEPARATOR = lazy_regex(r"[,;\n]|\band\b")


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


_OPERATOR = lazy_regex(r"(?<=\S) ([-+*/=<>]) (?=\S)")
_OPENING = lazy_regex(r"(?<=[(\[{]) +")
_CLOSING = lazy_regex(r"(?<! ) ++(?=[)\]}])")
# two numbers with a comma between them are a list with a space, and may be one number without
_COMMA = lazy_regex(r"(?<!\d) ?,[ ]?|(?<=\d),(?= ?\D) ?")
# a word of its own, not a part of a name, a path, an address or a flag
_WORD = lazy_regex(r"(?<![\w{}\\/@#$.&=])[^\W\d_]+(?![\w{}\\/@#$&=(]|\.\w)")
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


_WITH_UNIT = lazy_regex(
    r"\s*+([-+]?[\d.,_]+(?:[eE][-+]?\d+)?)\s*+(%|°?[A-Za-zµΩ][A-Za-zµΩ/²³^\d]{0,15})\s*+(?:\.\s*+)?$"
)
_NO_UNIT = lazy_regex(
    r"\b(?:without|no|omit|leave out) (?:any |the )?units?\b"
    r"|\b(?:only|just) (?:the |a |an )?(?:number|integer|figure|value)\b"
    r"|\b(?:number|integer|figure|value) (?:only|alone)\b|\bnothing else\b|\bdigits only\b",
    re.IGNORECASE,
)
_PER_CENT = lazy_regex(r"%|\bper ?cent(?:age)?\b", re.IGNORECASE)


def is_in_the_unit_asked_for(given: str, wanted: str, task: str) -> bool:
    """`88.55%` for `88.55`, where the task asks for percent; never where it wants the number alone."""
    match = _WITH_UNIT.match(given)
    if match is None or _plain_number(match[1]) is None or _plain_number(match[1]) != _plain_number(wanted):
        return False
    return _names(task, match[2]) and _NO_UNIT.search(task) is None


def _plain_number(text: str) -> Canonical | None:
    value = canonical(text)
    return value if value.kind == "number" else None


def _names(task: str, unit: str) -> bool:
    """As a word of its own, in the letters it is written in: `m` is not `M`; a word may stand there in the plural."""
    if unit == "%":
        return _PER_CENT.search(task) is not None
    singular = unit.removesuffix("s") if len(unit) > 3 else unit
    return re.search(rf"(?<!\w){re.escape(singular)}(?:s)?(?!\w)", task) is not None
