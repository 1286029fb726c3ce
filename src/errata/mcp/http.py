"""The same server over HTTP, for callers on other machines: no tool that writes files, no paths as names of runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

from errata.mcp.server import build_server
from errata.model.token import Scope
from errata.settings import Settings

REVIEW = frozenset(("next_packet", "submit_verdict", "release"))
"""Tools that need the scope `review`; all others need `read`."""


class HttpTools:
    """An ASGI application whose requests stand alone, and what has to run beside it."""

    def __init__(self, settings: Settings, *, deployment: str = "") -> None:
        server = build_server(settings, is_remote=True, deployment=deployment)
        # the names under which the server may be called, and origins, are checked in front of it
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        self.app = StreamableHTTPASGIApp(self._manager)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    @staticmethod
    def scope_of(body: bytes) -> Scope:
        """What a request needs, by the tools that it calls."""
        try:
            calls: Any = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return "read"
        named = [_tool(call) for call in (calls if isinstance(calls, list) else [calls])]
        return "review" if REVIEW.intersection(named) else "read"


def _tool(call: Any) -> str:
    if not isinstance(call, dict) or call.get("method") != "tools/call" or not isinstance(call.get("params"), dict):
        return ""
    return str(call["params"].get("name", ""))
