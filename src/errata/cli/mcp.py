"""`errata mcp`."""

import click

from errata.cli.options import chosen_store
from errata.mcp import require_sdk
from errata.settings import load_settings


@click.command("mcp")
@click.option("--store", metavar="FILE", default="", help="Path of the store; default: as for every command.")
def command(store: str) -> None:
    """Serve errata to agents over MCP.

    Speaks the Model Context Protocol on stdin and stdout until the client closes them; an agent starts it. Needs the
    extra `mcp`. Tools, resources and prompts use the store of the folder that the server is started in.
    """
    require_sdk()
    from errata.mcp.server import serve

    serve(load_settings(store=store or chosen_store(click.get_current_context())))
