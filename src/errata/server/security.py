"""What every answer carries, and which requests are refused before anything else is done about them."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from errata.server.exchange import LOOPBACK
from errata.server.problems import API, problem

__all__ = ["HEADERS", "LOOPBACK", "MOST_BODY", "Guard", "is_cross_site", "is_foreign"]

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
MOST_BODY = 16_000_000
"""Bytes of a request."""
MOST_ANSWER = 64_000_000
SECONDS = 60.0
"""For one answer, and for the body of one request."""
SAFE = ("GET", "HEAD", "OPTIONS")


class Guard:
    """Around the whole application: nothing behind it sees a request of another site."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = refusal(scope["method"], scope["path"], Headers(scope=scope), hosts=self._hosts)
        if refused is not None:
            status, message, hint = refused
            await problem(scope["path"], status, message, hint)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)


def refusal(
    method: str, path: str, headers: Mapping[str, str], *, hosts: frozenset[str] | None
) -> tuple[int, str, str] | None:
    """Status, message and hint of a request that nothing here answers."""
    if hosts is not None and is_foreign(headers, hosts=hosts):
        hint = "call it `localhost` or `127.0.0.1`; behind a proxy start it with `--require-token`"
        return 421, "This server is not called by that name", hint
    if method in SAFE:
        return None
    if is_cross_site(headers):
        return 403, "The request came from a page of another site", ""
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if path.startswith(API) and method != "DELETE" and media_type != "application/json":
        return 415, "The API takes JSON only", "send `Content-Type: application/json`"
    return None


def host_name(header: str) -> str:
    """The name in a `Host` header, without its port."""
    if header.startswith("["):
        return header.partition("]")[0] + "]"
    return header.partition(":")[0].lower()


def is_foreign(headers: Mapping[str, str], *, hosts: frozenset[str]) -> bool:
    """Whether the request came for another name, as after DNS rebinding."""
    return host_name(headers.get("host", "")) not in hosts


def is_cross_site(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent it from a page of another site. Other programs send no origin."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
