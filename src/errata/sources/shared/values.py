"""Values from loosely typed JSON: a value of the wrong type counts as missing, all others become storable."""

import re
from collections.abc import Collection
from types import NoneType
from typing import Any, TypedDict

import msgspec

from errata.model.times import from_iso, from_milliseconds
from errata.model.words import CostSource
from errata.sources.base import number_or_none
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact, redact_named

LARGEST = 2**63 - 1
SMALLEST = -(2**63)

_CONSTANTS = {float("inf"): "Infinity", float("-inf"): "-Infinity"}
_HARMLESS = frozenset((str, bool, NoneType))
_TEXT = frozenset((str,))
_DIGITS = 10_000
_encode = msgspec.json.Encoder().encode
_ENVIRONMENT = lazy_regex(r"(?i)^(?:.*_)?(?:env|environ|env_vars|headers)$")
_SECRET = lazy_regex(r"(?i)(?:key|token|secret|password|passwd|credentials?|auth|authorization|cookie)$")


def mapping(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def sequence(value: Any) -> list[Any]:
    return value if type(value) is list else []


def text(value: Any) -> str:
    return value if type(value) is str else ""


def as_text(value: Any) -> str:
    """A value as text; an integer stays one even if a table turned it into `12.0`."""
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (int, float)) else _encode(plain(value)).decode()


def name_of(value: Any) -> str:
    """A name as text; `ValueError` if it is missing."""
    if value is None or value == "":
        raise ValueError("a row without an id")
    return as_text(value)


def number(value: Any) -> float | None:
    """A finite number; None for text, even if it looks like a number."""
    return number_or_none(value) if type(value) is int or type(value) is float else None


def cost_number(value: Any) -> float | None:
    """A cost as the log has it, also a negative one or `NaN`: the checkup reports these."""
    return float(value) if type(value) is float else number(value)


class _Cost(TypedDict):
    cost: float | None
    cost_source: CostSource


def reported_cost(value: Any) -> _Cost:
    cost = cost_number(value)
    return {"cost": cost, "cost_source": "unknown" if cost is None else "reported"}


def count(value: Any) -> int | None:
    """A whole number of tokens, samples or trials."""
    if type(value) is int:
        return value if 0 <= value <= LARGEST else None
    if value is None:
        return None
    value = number(value)
    return int(value) if value is not None and 0 <= value <= LARGEST and value.is_integer() else None


def integer(value: Any) -> int | None:
    """A whole number, even if it is written as text."""
    parsed = number_or_none(value)
    return int(parsed) if parsed is not None and parsed.is_integer() and abs(parsed) <= LARGEST else None


def seconds(milliseconds: Any) -> float | None:
    value = number(milliseconds)
    return None if value is None else value / 1000


def moment(value: Any) -> str | None:
    """A time in the format of the records; None if it is not a time."""
    try:
        return from_iso(value) if type(value) is str else None
    except ValueError:
        return None


def moment_since_1970(seconds: Any) -> str | None:
    """The same for a time that is a number of seconds."""
    value = number(seconds)
    try:
        return None if value is None else from_milliseconds(value * 1000)
    except (OverflowError, ValueError, OSError):
        return None


def last_part(path: Any) -> str:
    """The last name in a path, from any operating system."""
    return "".join(parts(path)[-1:])


def parts(path: Any) -> list[str]:
    """The names in a path, from any operating system."""
    return [part for part in re.split(r"[/\\]", path) if part] if type(path) is str and path else []


def plain(value: Any) -> Any:
    """A value that every store can hold: `NaN`, infinities and integers beyond 64 bits become text."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict:
        # arguments and results are mostly flat and of text
        if _HARMLESS.issuperset(map(type, value.values())) and _TEXT.issuperset(map(type, value)):
            return value
        return {key if type(key) is str else str(key): plain(child) for key, child in value.items()}
    if kind is list or kind is tuple:
        return [plain(child) for child in value]
    if kind is int:
        return value if SMALLEST <= value <= LARGEST else _digits(value)
    if kind is float:
        return value if value - value == 0 else _CONSTANTS.get(value, "NaN")
    return value


def indented_json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def has_value(value: Any) -> bool:
    """Whether a field has a value; zero, false and an empty text count."""
    return value is not None and value != {} and value != []


def rest(document: dict[str, Any], homes: Collection[str] = ()) -> dict[str, Any]:
    """For `extra`: the fields that no field of a record holds."""
    if not document:
        return {}
    return {
        key: value if type(value) is str else plain(value)
        for key, value in document.items()
        if key not in homes and (type(value) is str or has_value(value))
    }


def non_empty(**facts: Any) -> dict[str, Any]:
    """For `extra`: the given fields, without the empty ones."""
    return {name: plain(fact) for name, fact in facts.items() if fact not in (None, "", [], {}, ())}


def differing(repeated: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(fact) for name, fact in repeated.items() if name not in first or first[name] != fact}


def _digits(value: int) -> str:
    # str() refuses integers of more than a few thousand digits
    return str(value) if value.bit_length() < _DIGITS else hex(value)


def settings(value: Any) -> Any:
    """A configuration without unset values and secrets."""
    if isinstance(value, dict):
        items = {str(key): _setting(str(key), item) for key, item in value.items()}
        return {key: item for key, item in items.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [settings(item) for item in value]
    return redact(value) if isinstance(value, str) else plain(value)


def _setting(name: str, value: Any) -> Any:
    if _ENVIRONMENT.match(name) and isinstance(value, dict | list):
        return sorted(str(item).partition("=")[0] for item in value if not isinstance(item, dict | list))
    if isinstance(value, str):
        return "[redacted:named]" if value and _SECRET.search(name) else redact_named(name, value)
    return settings(value)
