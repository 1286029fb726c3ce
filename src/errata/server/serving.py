"""Binding to an address and answering until interrupted."""

import socket

import uvicorn

from errata.errors import SettingsError
from errata.server.app import build_app
from errata.server.security import LOOPBACK
from errata.settings import Settings


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
    return listening


def serve(settings: Settings, listening: socket.socket) -> None:
    host = listening.getsockname()[0]
    if host not in LOOPBACK:
        raise SettingsError(f"`{host}` is not an address of this machine alone", hint="use `--host 127.0.0.1`")
    config = uvicorn.Config(build_app(settings), log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])
