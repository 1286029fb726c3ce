"""How an answer goes over the wire: as it should, and in every way we know to get it wrong."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import NamedTuple

JSON = "application/json"
HUGE = 64 * 1024 * 1024
CHUNK = b" " * 65_536
DRIP_SECONDS = 0.2


class Line(NamedTuple):
    """An open connection, and where a redirect would lead."""

    writer: asyncio.StreamWriter
    elsewhere: str

    async def send(self, status: str, body: bytes, *, kind: str = JSON, **headers: str) -> None:
        named = {"content-type": kind, "content-length": str(len(body))}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        told = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        self.writer.write(f"HTTP/1.1 {status}\r\n{told}\r\n".encode() + body)
        await self.writer.drain()

    async def refuse(self, status: str, **headers: str) -> None:
        told = {"error": {"message": status, "type": "server_error", "code": None}}
        await self.send(status, json.dumps(told).encode(), **headers)


Way = Callable[[Line, bytes], Awaitable[None]]


async def properly(line: Line, body: bytes) -> None:
    await line.send("200 OK", body)


async def rate_limited(line: Line, body: bytes) -> None:
    await line.refuse("429 Too Many Requests")


async def rate_limited_seconds(line: Line, body: bytes) -> None:
    await line.refuse("429 Too Many Requests", retry_after="1")


async def rate_limited_milliseconds(line: Line, body: bytes) -> None:
    await line.refuse("429 Too Many Requests", retry_after_ms="120")


async def rate_limited_date(line: Line, body: bytes) -> None:
    when = datetime.now(UTC) + timedelta(seconds=2)
    await line.refuse("429 Too Many Requests", retry_after=format_datetime(when, usegmt=True))


async def internal_error(line: Line, body: bytes) -> None:
    await line.refuse("500 Internal Server Error")


async def bad_gateway(line: Line, body: bytes) -> None:
    await line.send("502 Bad Gateway", b"<html><body>bad gateway</body></html>", kind="text/html")


async def unavailable(line: Line, body: bytes) -> None:
    await line.refuse("503 Service Unavailable", retry_after="not a time")


async def hang(line: Line, body: bytes) -> None:
    """Nothing, for as long as the other side waits."""
    await asyncio.sleep(3_600)


async def half_closed(line: Line, body: bytes) -> None:
    """A head that promises more than comes."""
    half = body[: len(body) // 2]
    await line.send("200 OK", half, content_length=str(len(body)))
    line.writer.close()


async def closed_at_once(line: Line, body: bytes) -> None:
    line.writer.close()


async def truncated(line: Line, body: bytes) -> None:
    """Whole as HTTP, half as JSON."""
    await line.send("200 OK", body[: len(body) // 2])


async def other_shape(line: Line, body: bytes) -> None:
    await line.send("200 OK", b'{"status": "ok", "result": [1, 2, 3]}')


async def no_choices(line: Line, body: bytes) -> None:
    await line.send("200 OK", json.dumps(json.loads(body) | {"choices": []}).encode())


async def nothing(line: Line, body: bytes) -> None:
    await line.send("200 OK", b"")


async def not_http(line: Line, body: bytes) -> None:
    line.writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    await line.writer.drain()
    line.writer.close()


async def html(line: Line, body: bytes) -> None:
    await line.send("200 OK", b"<html><body>Sign in to the hotel's network</body></html>", kind="text/html")


async def wrong_type(line: Line, body: bytes) -> None:
    """The right answer, called plain text."""
    await line.send("200 OK", body, kind="text/plain")


async def wrong_encoding(line: Line, body: bytes) -> None:
    await line.send("200 OK", body, content_encoding="gzip")


async def flood(line: Line, body: bytes) -> None:
    """More than anybody can use, and no length said beforehand."""
    line.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(HUGE // len(CHUNK)):
        line.writer.write(b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK))
        await line.writer.drain()
    line.writer.close()


async def slow_drip(line: Line, body: bytes) -> None:
    """A byte now and then: no single wait is long."""
    await line.send("200 OK", b"", content_length=str(len(body)))
    for at in range(len(body)):
        line.writer.write(body[at : at + 1])
        await line.writer.drain()
        await asyncio.sleep(DRIP_SECONDS)


async def redirect(line: Line, body: bytes) -> None:
    await line.send("307 Temporary Redirect", b"", location=line.elsewhere)


async def unauthorized(line: Line, body: bytes) -> None:
    told = {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "bad_key"}}
    await line.send("401 Unauthorized", json.dumps(told).encode())


async def no_such_model(line: Line, body: bytes) -> None:
    told = {"error": {"message": "The model does not exist", "type": "x", "code": "model_not_found"}}
    await line.send("404 Not Found", json.dumps(told).encode())


async def no_quota(line: Line, body: bytes) -> None:
    told = {"error": {"message": "You exceeded your current quota", "type": "x", "code": "insufficient_quota"}}
    await line.send("429 Too Many Requests", json.dumps(told).encode())


async def too_long(line: Line, body: bytes) -> None:
    told = {"error": {"message": "maximum context length", "type": "x", "code": "context_length_exceeded"}}
    await line.send("400 Bad Request", json.dumps(told).encode())


WAYS: dict[str, Way] = {
    way.__name__: way
    for way in (
        *(rate_limited, rate_limited_seconds, rate_limited_milliseconds, rate_limited_date),
        *(internal_error, bad_gateway, unavailable, hang, half_closed, closed_at_once, truncated, other_shape),
        *(no_choices, nothing, not_http, html, wrong_type, wrong_encoding, flood, slow_drip, redirect),
        *(unauthorized, no_such_model, no_quota, too_long),
    )
}
"""Kind → how it is sent. A kind that does not stand here is sent properly; what is wrong is in the answer."""
