"""Times in the cells of a table: ISO 8601, seconds since 1970, and dates such as `04.11.2025 10:27`."""

from collections.abc import Iterable
from typing import Any, Literal

from errata.model.times import from_iso, from_milliseconds, parse
from errata.sources.generic.values import number
from errata.text.lazy_regex import lazy_regex

DateOrder = Literal["", "day_first", "month_first"]
"""Of dates with the year last; empty if the values don't decide."""
_YEAR_LAST = lazy_regex(
    r"(?P<first>\d{1,2})(?P<sign>[./])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4})"
    r"(?:(?:,\s*|\s+)(?P<hour>\d{1,2})(?P<minutes>:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:\s*Uhr)?)?"
)
_EPOCH = lazy_regex(r"\d{9,}(?:\.\d*)?")
_MILLISECONDS_FROM = 100_000_000_000


def date_order(values: Iterable[Any]) -> DateOrder:
    """A number above 12 is the day. With dots the day comes first unless the values contradict."""
    first = second = dots = False
    for value in values:
        match = _YEAR_LAST.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is not None:
            first |= int(match["first"]) > 12
            second |= int(match["second"]) > 12
            dots |= match["sign"] == "."
    if first and second:
        return ""
    if first or second:
        return "day_first" if first else "month_first"
    return "day_first" if dots else ""


def has_undecided_dates(values: Iterable[Any]) -> bool:
    """Whether the column has dates with the year last, and none with a day above 12."""
    matches = [_YEAR_LAST.fullmatch(value.strip()) for value in values if isinstance(value, str)]
    dates = [match for match in matches if match is not None]
    return bool(dates) and not any(int(match[part]) > 12 for match in dates for part in ("first", "second"))


def moment(value: Any, order: DateOrder = "") -> str:
    """ISO text. `ValueError` for a value that is not a time, and for a date whose order is unknown."""
    if isinstance(value, str) and not _EPOCH.fullmatch(value):
        text = value.strip()
        made = from_iso(_as_iso(text, order) if _YEAR_LAST.fullmatch(text) else text)
        parse(made)
        return made
    since = number(value)
    return from_milliseconds(since if since >= _MILLISECONDS_FROM else since * 1000)


def _as_iso(text: str, order: DateOrder) -> str:
    match = _YEAR_LAST.fullmatch(text)
    if match is None or not order:
        raise ValueError("is the day first, or the month?")
    day, month = (match["first"], match["second"]) if order == "day_first" else (match["second"], match["first"])
    date = f"{match['year']}-{month:0>2}-{day:0>2}"
    return f"{date}T{match['hour']:0>2}{match['minutes']}" if match["hour"] else date
