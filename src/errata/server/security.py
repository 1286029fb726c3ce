"""What every answer carries, and which requests are refused before anything else is done about them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from mmap import mmap
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from errata.server.exchange import LOOPBACK
from errata.server.problems import API, problem

__all__ = ["HEADERS", "LOOPBACK", "MOST_BODY", "Bodies", "DeniedError", "Guard", "is_cross_site", "is_foreign"]

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
MOST_OPEN_BODY = 10_000
"""Of one that nobody vouches for yet: a token and where to go."""
MOST_BODIES, MOST_OF_ADDRESS = 40_000_000, 32_000_000
"""Bytes of all requests that are arriving or answered."""
IDLE = 10.0
"""Seconds between two parts of a body."""
MOST_ANSWER = 64_000_000
SECONDS = 60.0
"""For one answer, and for the body of one request."""
SAFE = ("GET", "HEAD", "OPTIONS")


class DeniedError(Exception):
    """The request is refused before a handler sees it."""

    def __init__(self, status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.hint = status, message, hint
        self.headers = dict(headers or {})

    def answer(self, path: str) -> Response:
        return problem(path, self.status, self.message, self.hint, headers=self.headers)


class _Body:
    """Of one request."""

    def __init__(self, address: str, most: int) -> None:
        # pages of its own: the system has them back at once, which a heap with holes keeps
        self.content = mmap(-1, most)
        self.address, self.most, self.size, self.gave_way = address, most, 0, False
        self.limit: asyncio.Timeout | None = None
        """While it arrives."""


class Bodies:
    """What requests hold in memory. Where that is too much, the largest that still arrives gives way, of the address
    that holds most: a small request finds room at any time."""

    def __init__(self) -> None:
        self._held: list[_Body] = []
        self._bytes: Counter[str] = Counter()

    @asynccontextmanager
    async def of(self, request: Request, *, most: int = MOST_BODY) -> AsyncIterator[bytes]:
        """The body of a request, counted until it is answered."""
        body = _Body(address_of(request), most)
        self._held.append(body)
        try:
            await self._read(body, request)
            content = body.content[: body.size]
            body.content.close()
            yield content
        finally:
            self._held.remove(body)
            self._free(body)

    async def _read(self, body: _Body, request: Request) -> None:
        declared, clock = request.headers.get("content-length", ""), asyncio.get_running_loop().time
        end = clock() + SECONDS
        try:
            async with asyncio.timeout(IDLE) as body.limit:
                if declared.isdecimal() and (len(declared) > len(str(body.most)) or int(declared) > body.most):
                    raise _too_long(body.most)
                async for part in request.stream():
                    if body.gave_way:
                        break
                    if body.size + len(part) > body.most:
                        raise _too_long(body.most)
                    body.content[body.size : body.size + len(part)] = part
                    body.size += len(part)
                    self._bytes[body.address] += len(part)
                    self._make_room(body.address)
                    if not body.gave_way:
                        body.limit.reschedule(min(end, clock() + IDLE))
            if body.gave_way:
                raise TimeoutError
        except TimeoutError:
            if body.gave_way:
                raise DeniedError(503, "Too much arrives at once", "again later", {"Retry-After": "5"}) from None
            late = f"The request paused for {IDLE:.0f} s, or took longer than {SECONDS:.0f} s to arrive"
            raise DeniedError(408, late, headers={"Connection": "close"}) from None
        except ClientDisconnect:
            raise DeniedError(400, "The request ended before its last byte") from None
        finally:
            body.limit = None

    def _make_room(self, address: str) -> None:
        while self._bytes[address] > MOST_OF_ADDRESS or self._bytes.total() > MOST_BODIES:
            fullest = address if self._bytes[address] > MOST_OF_ADDRESS else self._bytes.most_common(1)[0][0]
            arriving = [each for each in self._held if each.limit is not None and each.address == fullest]
            largest = max(arriving, key=lambda each: each.size, default=None)
            if largest is None or not largest.size:
                return
            largest.gave_way = True
            self._free(largest)
            if largest.limit is not None and not largest.limit.expired():
                largest.limit.reschedule(0)

    def _free(self, body: _Body) -> None:
        self._bytes[body.address] -= body.size
        self._bytes += Counter()  # drops those at zero
        body.content.close()
        body.size = 0


def _too_long(most: int) -> DeniedError:
    return DeniedError(413, f"The request is longer than {most:,} bytes")


def address_of(request: Request) -> str:
    """Of the connection: a header that names another is the client's word."""
    return request.client.host if request.client else ""


class Guard:
    """Around the whole application: nothing behind it sees a request of another site, no error gets past it."""

    def __init__(
        self, app: ASGIApp, *, hosts: frozenset[str] | None, on_bug: Callable[[Exception, str, str], Response]
    ) -> None:
        self._app = app
        self._hosts, self._on_bug = hosts, on_bug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_answered = False

        async def send_with_headers(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = refusal(scope["method"], scope["path"], Headers(scope=scope), hosts=self._hosts)
        if refused is not None:
            status, message, hint = refused
            await problem(scope["path"], status, message, hint)(scope, receive, send_with_headers)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except DeniedError as error:
            await error.answer(scope["path"])(scope, receive, send_with_headers)
        except Exception as error:  # one of the five places: the door of the server
            if is_answered:
                raise
            await self._on_bug(error, scope["method"], scope["path"])(scope, receive, send_with_headers)


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
