"""Values as tracers write them: ids in hex or base64, 64-bit numbers as text, nanoseconds, JSON inside of a text."""

import base64
import binascii
import re
from typing import Any

from errata.model.times import from_milliseconds
from errata.sources.base import decode
from errata.sources.shared.values import text

_HEX = re.compile(r"[0-9a-fA-F]+")
_SIZES = (8, 16)
"""Bytes of the id of a span, and of a trace."""


def whole(value: Any) -> int | None:
    """A 64-bit number, which JSON has as text."""
    if isinstance(value, bool):
        return None
    try:
        return int(value) if isinstance(value, int) or (isinstance(value, str) and len(value) <= 20) else None
    except ValueError:
        return None


def hex_id(value: Any) -> str:
    """An id in hex, also where an encoder that does not know better wrote base64."""
    told = text(value)
    if len(told) in (2 * size for size in _SIZES) and _HEX.fullmatch(told):
        return told.lower()
    try:
        data = base64.b64decode(told, validate=True)
    except (binascii.Error, ValueError):
        return told
    return data.hex() if len(data) in _SIZES else told


def moment(nanoseconds: Any) -> str | None:
    """Zero is how protobuf writes that nothing was said."""
    found = whole(nanoseconds)
    try:
        return from_milliseconds(found / 1_000_000) if found else None
    except (OverflowError, ValueError, OSError):
        return None


def parsed(value: Any) -> Any:
    """A value that is JSON in a text, where it is that."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return decode(value.encode())
    except (ValueError, UnicodeError):
        return value
