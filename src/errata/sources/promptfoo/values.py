"""promptfoo's own values: times in two formats, and settings that may hold secrets."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import msgspec

from errata.model.times import from_milliseconds
from errata.sources.shared import values
from errata.sources.shared.values import has_value, number, plain

NOT_KEPT = "[not kept]"
"""Replaces a value that may be a secret; its name stays."""

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


def without_secrets(value: Any, name: str = "") -> Any:
    """The value without environment variables, request header values, and anything named like a key."""
    sort = _sort(name) if name else ""
    if sort == "secret" and isinstance(value, str | dict | list) and value:
        return NOT_KEPT
    if isinstance(value, list):
        return [without_secrets(child) for child in value]
    if not isinstance(value, dict):
        return value if isinstance(value, str) else plain(value)
    if sort == "environment":
        return dict.fromkeys(value, NOT_KEPT)
    if sort == "headers":
        return {key: child if _harmless(key) else NOT_KEPT for key, child in value.items()}
    if name == "http" and "status" in value:
        return {
            key: _response_headers(child) if key == "headers" else without_secrets(child, key)
            for key, child in value.items()
        }
    return {key: without_secrets(child, key) for key, child in value.items()}


def rest(document: dict[str, Any], known: Collection[str] = ()) -> dict[str, Any]:
    """The fields that no field of a record holds."""
    return {
        key: without_secrets(value, key) for key, value in document.items() if key not in known and has_value(value)
    }


@lru_cache(maxsize=4096)
def _sort(name: str) -> str:
    """What a name reveals about its value, however it is spelled."""
    bare = "".join(letter for letter in name.lower() if letter.isalnum())
    if bare.endswith(_SECRET_ENDS):
        return "secret"
    return "environment" if bare in _ENVIRONMENT else "headers" if bare in _HEADERS else ""


def _harmless(header: str) -> bool:
    return header.lower().replace("-", "") in _HARMLESS_HEADERS


def _response_headers(headers: Any) -> Any:
    """Response headers: kept, except for cookies and the like."""
    return (
        {key: without_secrets(child, key) for key, child in headers.items()}
        if isinstance(headers, dict)
        else without_secrets(headers)
    )
