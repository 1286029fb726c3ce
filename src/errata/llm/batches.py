"""OpenAI's Batch API: a file of requests, a batch, a file of answers. Each request is what a live call would send."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from typing import Any

import httpx2
import msgspec

from errata.llm.asking import (
    CONNECT_SECONDS,
    MOST_BYTES,
    PLAIN,
    Asking,
    RedirectedError,
    UnusableError,
    checked,
    short,
    tls,
)
from errata.llm.batch_spec import BatchRequest, BatchRow, BatchStatus, RemoteBatch
from errata.llm.spec import AskError, GoneError, ModelAnswer, ModelSpec, NoAccessError, NotNowError, RefusedError

ANY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
"""A response is read the same way, whatever form it was asked for in."""


class WireRequest(msgspec.Struct, frozen=True):
    url: httpx2.URL
    headers: httpx2.Headers
    body: dict[str, Any]


class _Offline(httpx2.AsyncBaseTransport):
    def __init__(self) -> None:
        self.sent: httpx2.Request | None = None
        self.reply: httpx2.Response | None = None

    def forget(self) -> None:
        self.sent, self.reply = None, None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent = request
        if self.reply is None:
            raise httpx2.ConnectError("recorded, not sent", request=request)
        return self.reply


class Offline:
    def __init__(self, spec: ModelSpec) -> None:
        self._transport = _Offline()
        self._asking = Asking(spec, timeout=1.0, parallel=1, transport=self._transport)

    async def request_for(self, text: str, schema: dict[str, Any]) -> WireRequest:
        """The request that a live call would make, with its headers and key."""
        self._transport.forget()
        try:
            await self._asking.ask(text, schema)
        except AskError as error:
            sent = self._transport.sent
            if sent is None:
                raise
            body = msgspec.json.decode(sent.content)
            if not isinstance(body, dict):
                raise RefusedError("the request has no JSON body") from error
            return WireRequest(sent.url, sent.headers, body)
        raise AssertionError("nothing answers offline")

    async def answer_in(self, status: int, body: bytes) -> ModelAnswer:
        """Raises what a live call raises on such a response."""
        self._transport.reply = httpx2.Response(status, content=body, headers={"content-type": "application/json"})
        return await self._asking.ask("", ANY_SCHEMA)

    async def close(self) -> None:
        await self._asking.close()


MOST_DOWNLOAD = 256 * 1024 * 1024
ENDPOINTS = ("/chat/completions", "/responses")
MARK = "errata_batch"
"""The key in the metadata of a batch by which an interrupted submission is found again."""
WINDOW = "24h"
PAGE, MOST_PAGES = 100, 50
_KEYS = ("authorization", "openai-organization", "openai-project")
_NO_ACCESS = (401, 403)
_NOT_NOW = (408, 409, 425, 429)
_GONE = 404
_ERRORS = 400

_STATUSES: dict[str, BatchStatus] = {
    "completed": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}


class BatchService:
    """An open connection. Every method raises an `AskError`, nothing else."""

    def __init__(self, spec: ModelSpec, *, timeout: float) -> None:
        self._offline = Offline(spec)
        self._http = httpx2.AsyncClient(
            follow_redirects=False,
            verify=tls(),
            headers=PLAIN,
            event_hooks={"response": [partial(checked, most=MOST_DOWNLOAD)]},
            timeout=httpx2.Timeout(timeout, connect=CONNECT_SECONDS),
        )
        self._base, self._endpoint = "", ""
        self._headers: dict[str, str] = {}

    async def close(self) -> None:
        await self._http.aclose()
        await self._offline.close()

    async def line_for(self, request: BatchRequest) -> bytes:
        """One line of the input file."""
        wire = await self._offline.request_for(request.text, request.schema)
        self._learn(wire)
        line = {"custom_id": request.id, "method": "POST", "url": self._endpoint, "body": wire.body}
        return msgspec.json.encode(line) + b"\n"

    async def upload(self, name: str, lines: Iterable[bytes]) -> str:
        """The id of the file."""
        content = await asyncio.to_thread(b"".join, lines)
        form = {"data": {"purpose": "batch"}, "files": {"file": (f"{name}.jsonl", content, "application/jsonl")}}
        return _text(await self._json("POST", "/files", **form), "id")

    async def create(self, input_file: str, mark: str) -> RemoteBatch:
        body = {
            "input_file_id": input_file,
            "endpoint": self._endpoint,
            "completion_window": WINDOW,
            "metadata": {MARK: mark},
        }
        return remote_batch(await self._json("POST", "/batches", json=body))

    async def find(self, mark: str, *, since: float) -> RemoteBatch | None:
        """The batch with this mark, among those created since then (in seconds)."""
        after: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = await self._json("GET", "/batches", params={"limit": str(PAGE), **after})
            listed = [remote_batch(one) for one in _list(page, "data")]
            marked = next((one for one in listed if one.mark == mark), None)
            if marked or not listed or not page.get("has_more") or listed[-1].created_at < since:
                return marked
            after = {"after": listed[-1].id}
        return None

    async def get(self, remote: str) -> RemoteBatch:
        return remote_batch(await self._json("GET", f"/batches/{remote}"))

    async def cancel(self, remote: str) -> RemoteBatch:
        return remote_batch(await self._json("POST", f"/batches/{remote}/cancel"))

    async def rows(self, batch: RemoteBatch) -> AsyncIterator[BatchRow]:
        """Of the answers, then of the errors."""
        for file in batch.files:
            async for line in self._lines(file):
                yield await self._row(line)

    async def discard(self, files: Sequence[str]) -> None:
        """As far as possible: what stays is deleted by the provider later."""
        for file in filter(None, files):
            try:
                await self._json("DELETE", f"/files/{file}")
            except AskError:
                continue

    async def discard_named(self, name: str) -> None:
        """The input file of a batch that was never created."""
        try:
            page = await self._json("GET", "/files", params={"purpose": "batch", "limit": str(PAGE)})
        except AskError:
            return
        await self.discard(
            [str(one.get("id")) for one in _list(page, "data") if one.get("filename") == f"{name}.jsonl"]
        )

    async def _row(self, line: bytes) -> BatchRow:
        try:
            row = msgspec.json.decode(line, type=_BatchOutputRow)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return BatchRow("", RefusedError(short(f"a row of the batch can't be read: {error}")))
        if row.response is not None:
            try:
                return BatchRow(
                    row.custom_id, await self._offline.answer_in(row.response.status_code, bytes(row.response.body))
                )
            except AskError as error:
                return BatchRow(row.custom_id, error)
        problem = row.error or _RowError(message="the row has neither an answer nor an error")
        return BatchRow(row.custom_id, RefusedError(short(": ".join(filter(None, (problem.code, problem.message))))))

    async def _lines(self, file: str) -> AsyncIterator[bytes]:
        """Of one file; a line beyond any answer's size is cut, so that it can't be read."""
        await self._ready()
        rest = b""
        try:
            async with self._http.stream(
                "GET", f"{self._base}/files/{file}/content", headers=self._headers
            ) as response:
                if response.status_code >= _ERRORS:
                    raise _http_error(response.status_code, await response.aread(), response.headers)
                async for chunk in response.aiter_bytes():
                    *whole, rest = (rest + chunk).split(b"\n")
                    for line in whole:
                        if line.strip():
                            yield line
                    rest = rest[: MOST_BYTES + 1]
        except (httpx2.HTTPError, RedirectedError, UnusableError) as error:
            raise _transport_error(error) from error
        if rest.strip():
            yield rest

    async def _json(self, method: str, path: str, **given: Any) -> dict[str, Any]:
        await self._ready()
        try:
            response = await self._http.request(method, self._base + path, headers=self._headers, **given)
        except (httpx2.HTTPError, RedirectedError, UnusableError) as error:
            raise _transport_error(error) from error
        if response.status_code >= _ERRORS:
            raise _http_error(response.status_code, response.content, response.headers)
        try:
            body = msgspec.json.decode(response.content)
        except msgspec.DecodeError as error:
            raise NotNowError(short(f"the answer can't be read: {error}"), in_doubt=True) from error
        if not isinstance(body, dict):
            raise NotNowError("the answer is not a JSON object", in_doubt=True)
        return body

    async def _ready(self) -> None:
        """The address and the key are those of a live request."""
        if not self._base:
            self._learn(await self._offline.request_for("", {"type": "object"}))

    def _learn(self, wire: WireRequest) -> None:
        if self._base:
            return
        path = wire.url.path
        ending = next((one for one in ENDPOINTS if path.endswith(one)), None)
        if ending is None:
            raise NoAccessError("errata does not know a batch endpoint of this provider; leave out `--batch`")
        self._base = str(wire.url.copy_with(path=path.removesuffix(ending), query=None)).rstrip("/")
        self._endpoint = f"/v1{ending}"
        self._headers = {name: wire.headers[name] for name in _KEYS if name in wire.headers}


class _RowError(msgspec.Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _RowResponse(msgspec.Struct, frozen=True):
    status_code: int
    body: msgspec.Raw


class _BatchOutputRow(msgspec.Struct, frozen=True):
    custom_id: str
    response: _RowResponse | None = None
    error: _RowError | None = None


def remote_batch(body: dict[str, Any]) -> RemoteBatch:
    word = _text(body, "status")
    counts, metadata = body.get("request_counts") or {}, body.get("metadata") or {}
    errors = [str(one.get("message") or one.get("code") or "") for one in _list(body.get("errors") or {}, "data")]
    return RemoteBatch(
        id=_text(body, "id"),
        status=_STATUSES.get(word, "waiting"),
        word=short(word),
        done=_number(counts, "completed") + _number(counts, "failed"),
        total=_number(counts, "total"),
        files=tuple(str(body[name]) for name in ("output_file_id", "error_file_id") if body.get(name)),
        input_file=str(body.get("input_file_id") or ""),
        why=short("; ".join(filter(None, errors[:3]))),
        created_at=float(_number(body, "created_at")),
        mark=str(metadata.get(MARK) or "") if isinstance(metadata, dict) else "",
    )


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise NotNowError(f"the answer has no `{name}`", in_doubt=True)
    return value


def _number(body: Any, name: str) -> int:
    value = body.get(name) if isinstance(body, dict) else None
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**53 else 0


def _list(body: Any, name: str) -> list[dict[str, Any]]:
    rows = body.get(name) if isinstance(body, dict) else None
    return [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []


def _transport_error(error: Exception) -> AskError:
    if isinstance(error, RedirectedError):
        return NoAccessError(f"{error}; if that is intended, configure the new address")
    never_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)
    return NotNowError(short(f"{type(error).__name__}: {error}".removesuffix(": ")), in_doubt=not never_sent)


def _http_error(status: int, content: bytes, headers: httpx2.Headers) -> AskError:
    why = short(f"HTTP {status}: {_message(content)}")
    if status in _NO_ACCESS:
        return NoAccessError(why)
    if status == _GONE:
        return GoneError(why)
    if status in _NOT_NOW or status >= 500:
        after = headers.get("retry-after", "")
        return NotNowError(why, float(after) if after.isdigit() else None, in_doubt=status >= 500)
    return RefusedError(why)


def _message(content: bytes) -> str:
    try:
        body = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return content[:300].decode("utf-8", "replace")
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)
