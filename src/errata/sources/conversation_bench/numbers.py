"""Numbers of rows, logs and tables alike: in the last two they are text."""

from typing import Any

from errata.sources.base import number_or_none
from errata.sources.shared import values
from errata.sources.shared.values import LARGEST, SMALLEST


def count(value: Any) -> int | None:
    """A whole number of tokens, turns or rows."""
    return values.count(number_or_none(value) if type(value) is str else value)


def number(value: Any) -> float | None:
    if type(value) is int:
        return value if SMALLEST <= value <= LARGEST else None
    return number_or_none(value)
