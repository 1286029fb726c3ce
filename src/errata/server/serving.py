"""Binding to an address and answering until interrupted."""

import socket
from ipaddress import ip_address

import uvicorn
from starlette.applications import Starlette

from errata.errors import SettingsError
from errata.model.store_address import PRODUCTION
from errata.server.app import build_app
from errata.server.exchange import MountedApp, ServerOptions
from errata.settings import Settings
from errata.verbs.store import open_store
from errata.verbs.tokens import has_tokens

MOST_CONNECTIONS = 500


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
    if not needs_token:
        return ServerOptions(deployment=deployment)
    store = open_store(settings.store, deployment=deployment)
    has_any = has_tokens(store)
    store.engine.dispose()
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


def server_of(app: Starlette) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
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
