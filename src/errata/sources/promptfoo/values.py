"""What promptfoo writes of its own: times of two kinds, and settings that may hold secrets."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import msgspec

from errata.model.times import from_milliseconds
from errata.sources.shared import values
from errata.sources.shared.values import has_value, number, plain

NOT_KEPT = "[not kept]"
"""Stands where a value was that may be a secret; its name stays."""

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


def moment(value: Any) -> str | None:
    """ISO text, or milliseconds since 1970."""
    since = number(value)
    try:
        return values.moment(value) if since is None else from_milliseconds(since)
    except (ValueError, OverflowError, OSError):
        return None


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else _encode(plain(value)).decode()


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
    return {key: kept(value, key) for key, value in document.items() if key not in known and has_value(value)}


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
