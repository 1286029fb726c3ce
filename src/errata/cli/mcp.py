"""`errata mcp`."""

import os
import stat
from importlib.util import find_spec

import click

from errata.cli.options import chosen_store
from errata.cli.output import say
from errata.errors import SettingsError, extra_hint
from errata.settings import load_settings


@click.command("mcp")
@click.option("--store", metavar="FILE", default="", help="Path of the store; default: as for every command.")
def command(store: str) -> None:
    """Serve errata to agents over MCP.

    Speaks the Model Context Protocol on stdin and stdout until the client closes them; an agent starts it. Needs the
    extra `mcp`. Uses the store of the folder that it is started in.
    """
    require_sdk()
    from errata.mcp.server import serve

    if stat.S_ISCHR(os.fstat(0).st_mode):  # a terminal, or /dev/null: no client that speaks the protocol
        say("errata mcp is an MCP server for an agent's client, which starts it and speaks on stdin and stdout")
    serve(load_settings(store=store or chosen_store(click.get_current_context())))


def require_sdk() -> None:
    if find_spec("mcp") is None:
        message = "`errata mcp` needs the package `mcp`, which is not installed"
        raise SettingsError(message, hint=extra_hint("mcp"))
