"""`errata serve`."""

import click

from errata.cli.options import chosen_store
from errata.cli.output import put, say
from errata.server import require_server
from errata.settings import load_settings


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option("--port", default=8731, show_default=True, help="Port; 0 takes any that is free.")
@click.option("--require-token", is_flag=True, help="Ask for tokens on this machine too, as behind a proxy.")
@click.option("--store", metavar="FILE", default="", help="Path of the store; default: as for every command.")
def command(host: str, port: int, require_token: bool, store: str) -> None:
    """Show runs in the browser and answer the API.

    Serves the pages and the API of the store until you press Ctrl-C. By default only this machine can reach it, and
    needs no token. On any other address every request needs one (`errata token create`). Needs the extra `server`.
    """
    require_server()
    from errata.server.serving import bound, checked_options, is_loopback, serve

    settings = load_settings(store=store or chosen_store(click.get_current_context()))
    listening = bound(host, port)
    options = checked_options(settings, listening, require_token=require_token)
    name, number = listening.getsockname()[:2]
    put(f"http://{f'[{name}]' if ':' in name else name}:{number}/")
    if not is_loopback(listening):
        say("The connection is not encrypted: put a proxy with TLS in front, or use a private network.")
    serve(settings, listening, options)
