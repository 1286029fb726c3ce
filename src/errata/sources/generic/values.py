"""The values of cells: texts, numbers, times, yes or no, from JSON values and from the text of tables."""

import ast
import re
from typing import Any

import msgspec

from errata.sources.base import decode, number_or_none
from errata.sources.shared.values import LARGEST, as_text, plain
from errata.text.lazy_regex import lazy_regex

YES = frozenset(
    (
        "true",
        "t",
        "yes",
        "y",
        "1",
        "1.0",
        "pass",
        "passed",
        "c",
        "correct",
        "right",
        "success",
        "ok",
        "resolved",
        "solved",
        "accepted",
        "p",
        "ja",
        "wahr",
        "richtig",
        "korrekt",
        "✓",
        "✔",
        "✅",
    )
)
NO = frozenset(
    (
        "false",
        "f",
        "no",
        "n",
        "0",
        "0.0",
        "fail",
        "failed",
        "i",
        "incorrect",
        "wrong",
        "failure",
        "unresolved",
        "unsolved",
        "rejected",
        "nein",
        "falsch",
        "✗",
        "✘",
        "❌",
    )
)
NOTHING = frozenset(("", "none", "null", "nan", "n/a", "na"))
"""Spellings of an empty value in logs."""

CELL_CAP = 20_000
"""The most characters that are kept of a column that the mapping does not name."""

ENVIRONMENT = frozenset(("env", "environ", "env_vars", "environment_variables"))

NOT_UNDERSTOOD = (ValueError, TypeError, OverflowError, OSError)
"""The errors that a converter raises for a value that it can't convert."""

LITERAL_CAP = 200_000
_DECIMAL_COMMA = lazy_regex(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?")
_WITH_SIGNS = lazy_regex(r"[$€£¥]?\s?(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?:\s?(?:USD|EUR|GBP|CHF|JPY|[$€£¥]))?")
_WITH_UNIT = lazy_regex(r"(\d+(?:\.\d+)?)\s?(ns|us|µs|ms|s|secs?|seconds|min|minutes|m|h)", re.IGNORECASE)
UNITS = {"s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "ms": 1e3, "us": 1e6, "µs": 1e6, "ns": 1e9,
         "m": 1 / 60, "min": 1 / 60, "minutes": 1 / 60, "h": 1 / 3600}  # fmt: skip
_SHARE = lazy_regex(r"(\d+)\s*/\s*(\d+)")
_encode = msgspec.json.Encoder().encode
text = as_text


def is_empty(value: Any) -> bool:
    return value is None or value == "" or value != value


def number(value: Any) -> float:
    converted = number_or_none(value)
    if converted is None:
        converted = number_or_none(_without_signs(value))
    if converted is None:
        raise ValueError("not a number")
    return converted


def _without_signs(value: Any) -> Any:
    """`$1,234.50` as `1234.50`; other values unchanged."""
    if isinstance(value, str) and (match := _WITH_SIGNS.fullmatch(value.strip())):
        return match[1].replace(",", "")
    return value


CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_SIGNS_AND_SPACE = f"{''.join(CURRENCIES)} \t\xa0"
_CODE = lazy_regex(r"(?:^|[^a-z])(usd|eur|euros?|gbp|chf|jpy|cny|inr)(?:$|[^a-z])", re.IGNORECASE)


def currency_of(text: Any) -> str:
    """The currency that a cell or the name of a column names by sign or code: `0.02 €`, `cost_eur`; empty if none."""
    if not isinstance(text, str):
        return ""
    sign = next((code for sign, code in CURRENCIES.items() if sign in text), "")
    match = None if sign else _CODE.search(text)
    return sign or ("" if match is None else "EUR" if match[1].lower().startswith("euro") else match[1].upper())


def seconds(value: Any, unit: str) -> float:
    """A duration in a unit; `350 ms` and `1.2s` have their own."""
    if isinstance(value, str) and (match := _WITH_UNIT.fullmatch(value.strip())):
        return float(match[1]) / UNITS[match[2].lower()]
    return number(value) / UNITS[unit]


def whole(value: Any) -> int:
    converted = number(value)
    if not converted.is_integer() or abs(converted) > LARGEST:
        raise ValueError("not a whole number")
    return int(value) if isinstance(value, int) else int(converted)


def yes_or_no(value: Any) -> bool | None:
    """None for a value that is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in YES else False if word in NO else None
    return None


_DONE = frozenset(
    ("done", "complete", "finished", "ended", "end", "graded", "scored", "evaluated", "submitted", "stop")
)


def is_plain_word(word: str) -> bool:
    """Whether a status only repeats that the row was finished, passed or failed."""
    low = word.strip().lower()
    return low in YES or low in NO or low in NOTHING or low in _DONE


def structured(value: Any) -> Any:
    """JSON text in a table cell, or a Python literal as pandas writes it, parsed; other values unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return decode(value.encode())
        except ValueError:
            return _literal(value)
    return value


def _literal(value: str) -> Any:
    if "'" not in value or len(value) > LITERAL_CAP:
        return value
    try:
        parsed = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value
    return parsed if type(parsed) in (dict, list) else value


def plain_number(value: Any) -> Any:
    """`0,85`, `1.234,5` and `0,02 €` as `0.85`, `1234.5` and `0.02`; other values unchanged."""
    if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(shown := value.strip(_SIGNS_AND_SPACE)):
        return shown.replace(".", "").replace(",", ".")
    return value


def rate(value: Any) -> float | None:
    """A number, also from `62.5 %` and `3/5`; None for other values."""
    if isinstance(value, str) and (match := _SHARE.fullmatch(value.strip())) and 0 < int(match[2]) >= int(match[1]):
        return int(match[1]) / int(match[2])
    if isinstance(value, str) and value.strip().endswith("%"):
        percent = number_or_none(value.strip().removesuffix("%"))
        return None if percent is None else percent / 100
    return number_or_none(value)


def words(value: Any) -> tuple[str, ...]:
    """The words of a list, a list as JSON text, or text separated by commas or semicolons."""
    value = structured(value)
    if isinstance(value, list):
        return tuple(text(word) for word in value if not is_empty(word))
    if isinstance(value, str):
        return tuple(word for part in re.split("[,;]", value) if (word := part.strip()))
    return (text(value),)


def bounded(name: str, value: Any) -> Any:
    """The value to keep for an unmapped column, shortened. Of environment variables only the names are kept."""
    if type(value) is str:
        return value if len(value) <= CELL_CAP else _cut(value)
    if type(value) is dict or type(value) is list:
        value = _without_environment(name, plain(value))
        shown = _encode(value)
        return value if len(shown) <= CELL_CAP else _cut(shown.decode())
    return plain(value)


def _without_environment(name: str, value: Any) -> Any:
    if type(value) is list:
        return [_without_environment("", child) for child in value]
    if type(value) is not dict:
        return value
    if name.lower() in ENVIRONMENT:
        return sorted(value)
    return {key: _without_environment(key, child) for key, child in value.items()}


def _cut(shown: str) -> str:
    return f"{shown[:CELL_CAP]}… [{len(shown) - CELL_CAP} characters more]"
