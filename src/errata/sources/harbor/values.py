"""How long something took."""

from datetime import timedelta

from errata.model import times


def seconds_between(start: str | None, end: str | None) -> float | None:
    """None where a time is absent, or one of them is local and the other is not."""
    if start is None or end is None or times.is_local(start) != times.is_local(end):
        return None
    return round((times.parse(end) - times.parse(start)) / timedelta(seconds=1), 6)
