"""Times as Convex keeps them: milliseconds since 1970."""

from typing import Any

from errata.model.times import from_milliseconds
from errata.sources.shared.values import number


def moment(milliseconds: Any, later: Any = 0) -> str | None:
    """A time, and a duration after it; none where either is absent."""
    start, more = number(milliseconds), number(later)
    if start is None or more is None:
        return None
    try:
        return from_milliseconds(start + more)
    except (OverflowError, ValueError, OSError):
        return None
