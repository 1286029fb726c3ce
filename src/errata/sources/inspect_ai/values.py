"""Values of a log as records may hold them: of the type that was expected, finite, plain JSON."""

from typing import Any

from errata.model.times import from_iso
from errata.sources.base import number_or_none

_SMALLEST = -(2**63)
_LARGEST = 2**63 - 1
_CONSTANTS = {float("inf"): "Infinity", float("-inf"): "-Infinity"}


def mapping(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def sequence(value: Any) -> list[Any]:
    return value if type(value) is list else []


def words(value: Any) -> str:
    """Text as it is, numbers as text; nothing for anything else."""
    if type(value) is str:
        return value
    return str(plain(value)) if type(value) is int or type(value) is float else ""


def number(value: Any) -> float | None:
    """A finite number; none for text, even where it reads as one."""
    return number_or_none(value) if type(value) is int or type(value) is float else None


def count(value: Any) -> int | None:
    """A whole number of tokens, samples or epochs."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= _LARGEST and found == int(found) else None


def moment(value: Any) -> str | None:
    try:
        return from_iso(value) if type(value) is str and value else None
    except ValueError:
        return None


def plain(value: Any) -> Any:
    """Plain JSON. What has no finite number stays as its text: `NaN`, `Infinity`, integers beyond 64 bits."""
    kind = type(value)
    if kind is dict:
        return {key if type(key) is str else str(key): plain(child) for key, child in value.items()}
    if kind is list or kind is tuple:
        return [plain(child) for child in value]
    if kind is int:
        # str() refuses integers of more than a few thousand digits
        return value if _SMALLEST <= value <= _LARGEST else hex(value)
    if kind is float:
        return value if value - value == 0 else _CONSTANTS.get(value, "NaN")
    return value


def rest(data: dict[str, Any], taken: frozenset[str]) -> dict[str, Any]:
    """What a record has no field for; empty values tell nothing."""
    return {key: plain(child) for key, child in data.items() if key not in taken and told(child)}


def told(value: Any) -> bool:
    return value is not None and value != {} and value != []
