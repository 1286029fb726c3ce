"""`errata serve`."""

import click

from errata.cli.options import chosen_store
from errata.cli.output import put
from errata.server import require_server
from errata.settings import load_settings


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option("--port", default=8731, show_default=True, help="Port; 0 takes any that is free.")
@click.option("--store", metavar="FILE", default="", help="Path of the store; default: as for every command.")
def command(host: str, port: int, store: str) -> None:
    """Show runs in the browser and answer the API.

    Serves the pages and the API of the store until you press Ctrl-C. It answers this machine only. Needs the extra
    `server`.
    """
    require_server()
    from errata.server.serving import bound, serve

    settings = load_settings(store=store or chosen_store(click.get_current_context()))
    listening = bound(host, port)
    name, number = listening.getsockname()[:2]
    put(f"http://{f'[{name}]' if ':' in name else name}:{number}/")
    serve(settings, listening)
