"""Times as text: UTC ends in `Z`; a time without any offset is local to the machine that logged it."""

from datetime import UTC, datetime


def from_milliseconds(value: float) -> str:
    """Convex and others keep milliseconds since 1970."""
    return _text(datetime.fromtimestamp(value / 1000, UTC))


def from_iso(text: str) -> str:
    """UTC where the text has an offset; unchanged, and so marked local, where it has none. `ValueError` for no time."""
    moment = datetime.fromisoformat(text)
    if text.endswith("Z"):
        return text
    return text.replace(" ", "T") if moment.tzinfo is None else _text(moment.astimezone(UTC))


def is_local(text: str) -> bool:
    return not text.endswith("Z")


def parse(text: str) -> datetime:
    """Aware for UTC, naive for a local time."""
    return datetime.fromisoformat(text)


def _text(moment: datetime) -> str:
    shown = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return shown.replace("+00:00", "Z")
