"""Values as MLflow keeps them: attributes of spans are JSON in a text, and so are some of the metadata."""

from typing import Any

from errata.sources.base import decode
from errata.sources.shared.values import moment, moment_since_1970, number, text


def decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode(value.encode())
    except (ValueError, UnicodeError):
        return value


def seconds_of(milliseconds: Any, written: Any) -> float | None:
    """`written` is how protobuf has a duration: `0.005s`."""
    told = number(milliseconds)
    if told is not None:
        return told / 1000
    try:
        return float(text(written).removesuffix("s")) if text(written).endswith("s") else None
    except ValueError:
        return None


def time_of(value: Any) -> str | None:
    """A text, or milliseconds since 1970."""
    told = number(value)
    return moment(value) if told is None else moment_since_1970(told / 1000)
