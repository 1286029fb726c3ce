"""Values of a row as records may hold them: finite, of a size that can be stored, plain JSON."""

from types import NoneType
from typing import Any

from errata.sources.base import number_or_none

_SMALLEST = -(2**63)
_LARGEST = 2**63 - 1


def plain(value: Any) -> Any:
    """Plain JSON. What has no finite number stays as its text: `NaN`, `Infinity`, integers beyond 64 bits."""
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
        return value if _SMALLEST <= value <= _LARGEST else _digits(value)
    if kind is float:
        return value if value - value == 0 else _CONSTANTS.get(value, "NaN")
    return repr(value)


_HARMLESS = frozenset((str, bool, NoneType))
_TEXT = frozenset((str,))
_CONSTANTS = {float("inf"): "Infinity", float("-inf"): "-Infinity"}


def _digits(value: int) -> str:
    # str() refuses integers of more than a few thousand digits
    return hex(value)


def count(value: Any) -> int | None:
    """A whole number of tokens, turns or rows."""
    if type(value) is int:
        return value if 0 <= value <= _LARGEST else None
    number = number_or_none(value)
    return int(number) if number is not None and 0 <= number <= _LARGEST and number == int(number) else None


def words(value: Any) -> str:
    """Text as it is; nothing for anything else."""
    return value if type(value) is str else ""


def mapping(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def sequence(value: Any) -> list[Any]:
    return value if type(value) is list else []


def number(value: Any) -> float | None:
    """A finite number, also from a table's text."""
    if type(value) is int:
        return value if _SMALLEST <= value <= _LARGEST else None
    return number_or_none(value)
