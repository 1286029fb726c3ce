"""Times as text: UTC ends in `Z`; a time without any offset is local to the machine that logged it."""

from datetime import UTC, datetime


def from_milliseconds(value: float) -> str:
    """Convex and others keep milliseconds since 1970; what they hold beyond that is an order, not a time."""
    return _text(datetime.fromtimestamp(int(value) / 1000, UTC))


def from_iso(text: str) -> str:
    """UTC where the text has an offset; unchanged, and so marked local, where it has none. `ValueError` for no time."""
    moment = datetime.fromisoformat(text)
    if len(text) == _USUAL and text[10] == "T" and text[19] == "." and text[26:] == "+00:00":
        # as Python writes UTC, and so most logs: the text is there already
        return f"{text[: 26 if text[23:26] != '000' else 23 if moment.microsecond else 19]}Z"
    if text.endswith("Z"):
        return text
    if moment.tzinfo is None:
        return text.replace(" ", "T")
    try:
        return _text(moment.astimezone(UTC))
    except OverflowError:
        raise ValueError(f"out of range: {text}") from None


_USUAL = len("2026-03-01T10:00:00.123456+00:00")


def to_text(moment: datetime) -> str:
    """In whole seconds, always in the same length, so that times can be compared as texts."""
    return from_iso(moment.isoformat(timespec="seconds"))


def to_microseconds(moment: datetime) -> str:
    """Precise enough that verdicts and imports sort in the order they were made. `moment` is in UTC."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def now_as_text() -> str:
    return to_microseconds(datetime.now(UTC))


def is_local(text: str) -> bool:
    return not text.endswith("Z")


def parse(text: str) -> datetime:
    """Aware for UTC, naive for a local time."""
    return datetime.fromisoformat(text)


def moment_of(text: str) -> datetime:
    """For sorting: a local time is taken for UTC, what is not a time comes first."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(moment: datetime) -> str:
    spec = "microseconds" if moment.microsecond % 1000 else "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


def spelled_span(start: str | None, end: str | None) -> str:
    """`1 Apr 2026 13:22 → 2 Apr 13:25 UTC`; the second day only where it is another one. Empty if nothing is known."""
    if not start or (first := moment_of(start)).year == 1:
        return ""
    last = moment_of(end) if end else first
    zone = "local time" if parse(start).tzinfo is None else "UTC"
    shown = f"{first.day} {first:%b %Y %H:%M}"
    if last <= first:
        return f"{shown} {zone}"
    day = f"{last.day} {last:%b} " if last.date() != first.date() else ""
    return f"{shown} → {day}{last:%H:%M} {zone}"
