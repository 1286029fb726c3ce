"""Numbers, percentages, sums of money and dates, whatever their spelling."""

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from typing import NamedTuple


class Canonical(NamedTuple):
    kind: str
    """number, percent, money, date, json, text, or long for what is not looked into."""
    value: object


_NUMBER = r"[+-]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
_TIMES_TEN = re.compile(r"\s*(?:[x×*]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*\{?([+-]?\d{1,3})\}?$")
_IS_NUMBER = re.compile(rf"{_NUMBER}$")
_FRACTION = re.compile(r"([+-]?\d{1,30})/(\d{1,30})$")
_PERCENT = re.compile(r"\s*(?:%|per ?cent)$", re.IGNORECASE)
_MONEY = re.compile(r"[+-]?([$€£¥])\s?(?=[\d.])")
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
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_ISO = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})$")
_DAY_FIRST = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -]{_MONTH},?[ -](\d{{4}})$", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})$", re.IGNORECASE)
_FIGURES = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$")


def _date(text: str) -> Canonical | None:
    if not 8 <= len(text) <= 30 or not text[-1].isdigit():
        return None
    found = _day(text)
    try:
        return Canonical("date", date(*found).isoformat()) if found else None
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
