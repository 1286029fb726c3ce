"""Values out of loosely typed JSON: whatever has the wrong type is absent, whatever has no home is kept plain."""

from collections.abc import Collection
from typing import Any

from errata.model import times
from errata.sources.base import number_or_none

_INT_CAP = 2**63


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    number = number_or_none(value) if not isinstance(value, str) else None
    return int(number) if number is not None and 0 <= number < _INT_CAP else None


def seconds(milliseconds: Any) -> float | None:
    number = number_or_none(milliseconds) if not isinstance(milliseconds, str) else None
    return number / 1000 if number is not None else None


def moment(milliseconds: Any, later: Any = 0) -> str | None:
    """A time in milliseconds since 1970, plus a duration in milliseconds; none where either is absent."""
    start, more = seconds(milliseconds), seconds(later)
    if start is None or more is None:
        return None
    try:
        return times.from_milliseconds((start + more) * 1000)
    except (OverflowError, ValueError, OSError):
        return None


def rest(document: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The fields that have no home in a record."""
    return {key: plain(value) for key, value in document.items() if key not in known and value is not None}


def plain(value: Any) -> Any:
    """JSON that every store can hold: infinities and numbers over 64 bits become text."""
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    if isinstance(value, float):
        return value if number_or_none(value) is not None else _text_of(value)
    if isinstance(value, int) and not -_INT_CAP <= value < _INT_CAP:
        return str(value)
    return value


def _text_of(value: float) -> str:
    if value != value:
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
