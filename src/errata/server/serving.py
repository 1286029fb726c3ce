"""Binding to an address and answering until interrupted."""

import asyncio
import socket
from ipaddress import ip_address

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from errata.errors import SettingsError
from errata.model.store_address import PRODUCTION
from errata.server.app import build_app
from errata.server.exchange import MountedApp, ServerOptions
from errata.settings import Settings
from errata.verbs.store import open_store
from errata.verbs.tokens import has_tokens

MOST_CONNECTIONS, MOST_OF_ADDRESS = 500, 250
HEADER_SECONDS = 10.0
"""For the headers of a request, from the connection or the last answer on."""


def bound(host: str, port: int) -> socket.socket:
    """Before anything is printed: a port that is taken is a sentence, not a traceback."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
    except OSError as error:
        listening.close()
        hint = "name another with `--port N`; `--port 0` takes any that is free"
        raise SettingsError(f"Port {port} of {host} can't be used: {error.strerror}", hint=hint) from None
    listening.listen(128)  # who reads the address may connect at once
    return listening


def is_loopback(listening: socket.socket) -> bool:
    return ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def checked_options(
    settings: Settings, listening: socket.socket, *, require_token: bool = False, deployment: str = ""
) -> ServerOptions:
    """Who has to show a token. Where everybody has to, there must be one."""
    needs_token = require_token or deployment in PRODUCTION or not is_loopback(listening)
    store = open_store(settings.store, deployment=deployment)  # a store that can't be opened is a sentence now
    has_any = needs_token and has_tokens(store)
    store.engine.dispose()
    if not needs_token:
        return ServerOptions(deployment=deployment)
    if not has_any:
        host = listening.getsockname()[0]
        where = "Every request needs a token" if is_loopback(listening) else f"Other machines can reach `{host}`"
        hint = "create one first: `errata token create NAME --scope review`"
        raise SettingsError(f"{where}, and this store has no token", hint=hint)
    return ServerOptions(hosts=None, needs_token=True, deployment=deployment)


class _Server(uvicorn.Server):
    """Ends the streams of events first: they never end by themselves, and a server waits for its connections."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app = self.config.app
        if isinstance(app, Starlette):
            await app.state.events.close()
        await super().shutdown(sockets)


class _Connection(H11Protocol):
    """One that waits for its client gives way where there are too many; one that is answered never does."""

    _due: asyncio.TimerHandle | None = None

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def gives_way(self) -> int:
        """0 while it is answered; 2 before its headers, which a client sends at once."""
        if self.cycle is None or self.cycle.response_complete:
            return 2
        return 1 if self.cycle.more_body else 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_headers()
        # a set has no order; the time shows which has waited longest
        open_now = [each for each in self.connections if isinstance(each, _Connection)]
        own = [each for each in open_now if each.address == self.address]
        for some, most in ((own, MOST_OF_ADDRESS), (open_now, MOST_CONNECTIONS - 1)):
            if len(some) > most:
                waiting = [each for each in some if each is not self and each.gives_way]
                if waiting:
                    min(waiting, key=lambda each: (-each.gives_way, each.since)).close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._due is not None:
            self._due.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._await_headers()

    def _await_headers(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self.since, cycle = self.loop.time(), self.cycle

        def end() -> None:
            if self.cycle is cycle:
                self.close()

        self._due = self.loop.call_later(HEADER_SECONDS, end)

    def close(self) -> None:
        self.transport.abort()
        self.connections.discard(self)


def server_of(app: Starlette) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=_Connection,
        # a header that any client may send is not where a request comes from
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    return _Server(config)


def serve(
    settings: Settings,
    listening: socket.socket,
    options: ServerOptions,
    *,
    agent_tools: MountedApp | None = None,
) -> None:
    server_of(build_app(settings, options, agent_tools=agent_tools)).run(sockets=[listening])
