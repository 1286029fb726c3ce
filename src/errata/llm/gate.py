"""Guards for provider traffic: no stray keys, no redirects, no compressed and no endless responses."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache

import httpx2

MOST_BYTES = 8 * 1024 * 1024
"""A verdict has a few thousand bytes, long reasoning before it some hundred thousand."""
PLAIN = {"accept-encoding": "identity"}
"""Sent with every request: a small compressed response could expand to any size."""
_SENT = frozenset(("host", "content-length", "content-type", "accept", "accept-encoding", "connection", "user-agent"))


@cache
def tls() -> ssl.SSLContext:
    """Read once: the list of authorities takes a tenth of a second."""
    return httpx2.create_ssl_context()


class RedirectedError(Exception):
    """Following it would send the prompt, and perhaps the key, to a host that nobody configured."""


class UnusableError(Exception):
    """Too long, or compressed although that was not requested."""


def only_this_key(key: str | None) -> Callable[[httpx2.Request], Awaitable[None]]:
    """For the user's own server: libraries would add keys and headers meant for their provider."""

    async def cleared(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _SENT]:
            del request.headers[name]
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    return cleared


async def checked(response: httpx2.Response, most: int = MOST_BYTES) -> None:
    """Called with the head of each response, before its body is read; `most` bytes are read."""
    if response.has_redirect_location:
        there = httpx2.URL(response.headers["location"])
        raise RedirectedError(f"it redirects to `{there.scheme}://{there.netloc.decode('ascii', 'replace')}`")
    packed = response.headers.get("content-encoding", "identity").lower()
    if packed != "identity":
        raise UnusableError(f"the answer is compressed with `{packed}`, which was not requested")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Limited(response.stream, most)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise UnusableError(f"the answer has more than {self._most:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
