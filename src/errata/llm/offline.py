"""What a live request would send, and how a stored response is read: the library of live calls, without a network."""

from typing import Any

import httpx2
import msgspec

from errata.llm.asking import Asking
from errata.llm.spec import AskError, ModelAnswer, ModelSpec, RefusedError

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
