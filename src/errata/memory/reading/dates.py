"""Days as people write them, in one form: `2026-02-12`. What may be two days is none."""

import re
from datetime import date

from errata.text.lazy_regex import lazy_regex

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.)?"
_FORMS = (
    lazy_regex(r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    lazy_regex(r"(?<![\w-])(?P<y>20\d\d)(?P<m>\d\d)(?P<d>\d\d)(?![\d-])"),
    lazy_regex(rf"(?<!\d){_DAY}\s+(?:of\s+)?{_MONTH},?\s+(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    lazy_regex(rf"\b{_MONTH}\s+{_DAY},?\s+(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    lazy_regex(rf"(?<![\w/])(?P<d>\d{{1,2}})([/-]){_MONTH}\2(?P<y>\d{{4}}|\d\d)(?!\d)", re.IGNORECASE),
    lazy_regex(r"(?<![\w.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?!\d)"),
)
# only a number above twelve shows whether the day or the month comes first
_SLASHED = lazy_regex(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])")
_LONGEST = 600


_WITHOUT_YEAR = (
    lazy_regex(rf"(?<![\w.]){_DAY}\s+(?:of\s+)?{_MONTH}(?![\w-])", re.IGNORECASE),
    lazy_regex(rf"\b{_MONTH}\s+{_DAY}(?![\w-])", re.IGNORECASE),
)


def date_in(text: str, *, year: str = "") -> str:
    """The first day that a text names; empty where it names none. `year`: of a day without one, `4 March`."""
    days = [(match.start(), day) for match, day in _matches(text[:_LONGEST]) if day]
    if not days and year:
        matches = [match for form in _WITHOUT_YEAR for match in form.finditer(text[:_LONGEST])]
        days = [(match.start(), day) for match in matches if (day := _day(match, year))]
    return min(days)[1] if days else ""


def without_date(text: str) -> str:
    """The text without the first day that it names."""
    spans = [(match.start(), match.end()) for match, day in _matches(text[:_LONGEST]) if day]
    if not spans:
        return text
    start, end = min(spans)
    before = re.sub(r"(?i)\b(?:on|at)\s*$", "", text[:start])
    return f"{before}{text[end:].lstrip(' :,–—-')}"


def _matches(text: str) -> list[tuple[re.Match[str], str]]:
    plain = [(match, _day(match)) for form in _FORMS for match in form.finditer(text)]
    return [*plain, *((match, _slashed(match)) for match in _SLASHED.finditer(text))]


def _day(match: re.Match[str], year: str = "") -> str:
    parts = {"y": year} | match.groupdict()
    name = parts.get("name")
    month = _MONTHS.index(name.lower()) + 1 if name else int(parts["m"])
    return _text(int(parts["y"]) + (2000 if len(parts["y"]) == 2 else 0), month, int(parts["d"]))


def _slashed(match: re.Match[str]) -> str:
    first, second, year = (int(part) for part in match.groups())
    if first == second or second > 12:
        return _text(year, first, second)
    return _text(year, second, first) if first > 12 else ""


def _text(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
