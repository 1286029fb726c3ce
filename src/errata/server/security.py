"""What every answer carries, and which requests are refused before a handler sees them."""

from collections.abc import Mapping
from urllib.parse import urlsplit

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # not `no-referrer`: with it a form of our own pages would send `Origin: null`
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})
MOST_BODY = 16_000_000
"""Bytes of a request."""


def host_name(header: str) -> str:
    """The name in a `Host` header, without its port."""
    if header.startswith("["):
        return header.partition("]")[0] + "]"
    return header.partition(":")[0].lower()


def is_foreign(headers: Mapping[str, str], *, hosts: frozenset[str]) -> bool:
    """Whether the request came for another name, as after DNS rebinding."""
    return host_name(headers.get("host", "")) not in hosts


def is_cross_site(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent it from a page of another site. A program that is no browser sends no origin."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
