"""How an answer goes over the wire: as it should, and in every way we know to get it wrong."""

import asyncio
import gzip
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
    """An open connection, the answer that is due, and where a redirect would lead."""

    writer: asyncio.StreamWriter
    body: bytes
    elsewhere: str

    async def send(self, status: str, body: bytes, *, kind: str = JSON, **headers: str) -> None:
        named = {"content-type": kind, "content-length": str(len(body))}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        fields = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        self.writer.write(f"HTTP/1.1 {status}\r\n{fields}\r\n".encode() + body)
        await self.writer.drain()

    async def hang_up(self, reply: bytes = b"") -> None:
        self.writer.write(reply)
        await self.writer.drain()
        self.writer.close()


Way = Callable[[Line], Awaitable[None]]


async def properly(line: Line) -> None:
    await line.send("200 OK", line.body)


def refusing(status: str, code: str | None = None, **headers: str) -> Way:
    body = json.dumps({"error": {"message": status, "type": "error", "code": code}}).encode()
    return lambda line: line.send(status, body, **headers)


def saying(body: bytes, *, kind: str = JSON, status: str = "200 OK") -> Way:
    return lambda line: line.send(status, body, kind=kind)


async def rate_limited_date(line: Line) -> None:
    when = datetime.now(UTC) + timedelta(seconds=2)
    await refusing("429 Too Many Requests", retry_after=format_datetime(when, usegmt=True))(line)


async def hang(_line: Line) -> None:
    """Nothing, for as long as the other side waits."""
    await asyncio.sleep(3_600)


async def half_closed(line: Line) -> None:
    """A head that promises more than comes."""
    await line.send("200 OK", line.body[: len(line.body) // 2], content_length=str(len(line.body)))
    await line.hang_up()


async def truncated(line: Line) -> None:
    """Whole as HTTP, half as JSON."""
    await line.send("200 OK", line.body[: len(line.body) // 2])


async def no_choices(line: Line) -> None:
    await line.send("200 OK", json.dumps(json.loads(line.body) | {"choices": []}).encode())


async def wrong_type(line: Line) -> None:
    """The right answer, called plain text."""
    await line.send("200 OK", line.body, kind="text/plain")


async def wrong_encoding(line: Line) -> None:
    await line.send("200 OK", line.body, content_encoding="gzip")


async def bomb(line: Line) -> None:
    """A few kilobytes that unpack to very many."""
    await line.send("200 OK", gzip.compress(b" " * HUGE), content_encoding="gzip")


async def flood(line: Line) -> None:
    """More than anybody can use, without a length beforehand."""
    line.writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(HUGE // len(CHUNK)):
        line.writer.write(b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK))
        await line.writer.drain()
    line.writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(line.body), line.body))
    await line.writer.drain()


async def slow_drip(line: Line) -> None:
    """A byte now and then: no single wait is long."""
    await line.send("200 OK", b"", content_length=str(len(line.body)))
    for at in range(len(line.body)):
        line.writer.write(line.body[at : at + 1])
        await line.writer.drain()
        await asyncio.sleep(DRIP_SECONDS)


async def redirect(line: Line) -> None:
    await line.send("307 Temporary Redirect", b"", location=line.elsewhere)


TOO_MANY = "429 Too Many Requests"
WAYS: dict[str, Way] = {
    "rate_limited": refusing(TOO_MANY),
    "rate_limited_seconds": refusing(TOO_MANY, retry_after="1"),
    "rate_limited_milliseconds": refusing(TOO_MANY, retry_after_ms="120"),
    "rate_limited_date": rate_limited_date,
    "rate_limited_for_a_day": refusing(TOO_MANY, retry_after="86400"),
    "internal_error": refusing("500 Internal Server Error"),
    "bad_gateway": saying(b"<html><body>bad gateway</body></html>", kind="text/html", status="502 Bad Gateway"),
    "unavailable": refusing("503 Service Unavailable", retry_after="not a time"),
    "hang": hang,
    "half_closed": half_closed,
    "closed_at_once": Line.hang_up,
    "truncated": truncated,
    "other_shape": saying(b'{"status": "ok", "result": [1, 2, 3]}'),
    "no_choices": no_choices,
    "nothing": saying(b""),
    "not_http": lambda line: line.hang_up(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "html": saying(b"<html><body>Sign in to the hotel's network</body></html>", kind="text/html"),
    "wrong_type": wrong_type,
    "wrong_encoding": wrong_encoding,
    "bomb": bomb,
    "flood": flood,
    "slow_drip": slow_drip,
    "redirect": redirect,
    "bad_key": refusing("401 Unauthorized: no such key, sk-proj-abcdefghijklmnop1234567890", code="invalid_api_key"),
    "no_such_model": refusing("404 Not Found", code="model_not_found"),
    "no_quota": refusing(TOO_MANY, code="insufficient_quota"),
    "too_long": refusing("400 Bad Request", code="context_length_exceeded"),
}
"""Kind → how it is sent. A kind that does not stand here is sent properly; what is wrong is in the answer."""
