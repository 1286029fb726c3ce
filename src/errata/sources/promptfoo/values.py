"""Values out of loosely typed JSON: what has the wrong type is absent, what has no home is kept without secrets."""

import math
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import msgspec

from errata.model.times import from_iso, from_milliseconds
from errata.sources.base import number_or_none

NOT_KEPT = "[not kept]"
"""Stands where a value was that may be a secret; its name stays."""

_LARGEST = 2**63
_SECRET_ENDS = (
    "apikey",
    "accesskey",
    "accesskeyid",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
)
_ENVIRONMENT = frozenset(("env", "environ", "environment", "envvars", "envoverrides"))
_HEADERS = frozenset(("headers", "requestheaders", "responseheaders", "extraheaders", "defaultheaders"))
_HARMLESS_HEADERS = frozenset(("accept", "acceptencoding", "contenttype", "useragent"))
_encode = msgspec.json.Encoder(order="deterministic").encode


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    return None if isinstance(value, str) else number_or_none(value)


def count(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and abs(found) < _LARGEST else None


def seconds(milliseconds: Any) -> float | None:
    found = number(milliseconds)
    return None if found is None else found / 1000


def moment(value: Any) -> str | None:
    """ISO text, or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            return from_iso(value)
        since = number(value)
        return None if since is None else from_milliseconds(since)
    except (ValueError, OverflowError, OSError):
        return None


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else _encode(plain(value)).decode()


def plain(value: Any) -> Any:
    """JSON that every store can hold: infinities and numbers over 64 bits become text."""
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        return str(value)
    return value


def kept(value: Any, name: str = "") -> Any:
    """The same without environment variables, the values of headers that are sent, and whatever is called a key."""
    sort = _sort(name) if name else ""
    if sort == "secret" and isinstance(value, str | dict | list) and value:
        return NOT_KEPT
    if isinstance(value, list):
        return [kept(child) for child in value]
    if not isinstance(value, dict):
        return value if isinstance(value, str) else plain(value)
    if sort == "environment":
        return dict.fromkeys(value, NOT_KEPT)
    if sort == "headers":
        return {key: child if _harmless(key) else NOT_KEPT for key, child in value.items()}
    if name == "http" and "status" in value:
        return {key: _answered(child) if key == "headers" else kept(child, key) for key, child in value.items()}
    return {key: kept(child, key) for key, child in value.items()}


def rest(document: dict[str, Any], known: Collection[str] = ()) -> dict[str, Any]:
    """The fields that have no home in a record."""
    return {key: kept(value, key) for key, value in document.items() if key not in known and not _is_nothing(value)}


@lru_cache(maxsize=4096)
def _sort(name: str) -> str:
    """What a name says of the value below it, however it is spelled."""
    bare = "".join(letter for letter in name.lower() if letter.isalnum())
    if bare.endswith(_SECRET_ENDS):
        return "secret"
    return "environment" if bare in _ENVIRONMENT else "headers" if bare in _HEADERS else ""


def _harmless(header: str) -> bool:
    return header.lower().replace("-", "") in _HARMLESS_HEADERS


def _answered(headers: Any) -> Any:
    """What a server sent back: worth keeping, but for cookies and the like."""
    return {key: kept(child, key) for key, child in headers.items()} if isinstance(headers, dict) else kept(headers)


def _is_nothing(value: Any) -> bool:
    return value is None or value == {} or value == []
