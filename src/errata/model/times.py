"""Times as text: UTC ends in `Z`; a time without any offset is local to the machine that logged it."""

import re
from datetime import UTC, datetime

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")


def from_milliseconds(value: float) -> str:
    """Convex and others keep milliseconds since 1970."""
    return _text(datetime.fromtimestamp(value / 1000, UTC))


def from_iso(text: str) -> str:
    """UTC where the text has an offset; unchanged, and so marked local, where it has none. `ValueError` for no time."""
    if _UTC.fullmatch(text):
        return text
    moment = datetime.fromisoformat(text)
    return text.replace(" ", "T") if moment.tzinfo is None else _text(moment.astimezone(UTC))


def is_local(text: str) -> bool:
    return not text.endswith("Z")


def parse(text: str) -> datetime:
    """Aware for UTC, naive for a local time."""
    return datetime.fromisoformat(text)


def _text(moment: datetime) -> str:
    shown = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return shown.replace("+00:00", "Z")
