"""`errata serve`."""

from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click
import msgspec

from errata.cli.options import chosen_store
from errata.cli.output import put, say
from errata.errors import SettingsError, extra_hint
from errata.settings import Settings, load_settings

if TYPE_CHECKING:
    from errata.server.exchange import MountedApp


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option("--port", default=8731, show_default=True, help="Port; 0 takes any that is free.")
@click.option("--require-token", is_flag=True, help="Also require tokens on this machine, for example behind a proxy.")
@click.option("--deployment", metavar="NAME", default="", help="Serve the store of a deployment in `errata.toml`.")
@click.option("--release", is_flag=True, help="With --deployment: migrate its store to the schema of this errata.")
@click.option(
    "--stuck-after", metavar="SECONDS", type=click.FloatRange(min=1), default=600, show_default=True,
    help="Mark a live run as stuck after this much silence.",
)  # fmt: skip
@click.option("--store", metavar="FILE", default="", help="Path of the store; default: as for every command.")
def command(
    host: str, port: int, require_token: bool, deployment: str, release: bool, stuck_after: float, store: str
) -> None:
    """Serve the runs as web pages and an HTTP API.

    Runs until you press Ctrl-C. By default the server accepts only connections from this machine, without a token. On
    any other address every request needs a token (`errata token create`). Needs the extra `server`.
    """
    require_server()
    from errata.server.serving import bound, checked_options, is_loopback, serve

    settings = _settings(store or chosen_store(click.get_current_context()), deployment, release)
    listening = bound(host, port)
    options = checked_options(settings, listening, require_token=require_token, deployment=deployment)
    name, number = listening.getsockname()[:2]
    put(f"http://{f'[{name}]' if ':' in name else name}:{number}/")
    if not is_loopback(listening):
        say("The connection is not encrypted: put a proxy with TLS in front, or use a private network.")
    started = msgspec.structs.replace(options, stuck_after=stuck_after)
    serve(settings, listening, started, agent_tools=_agent_tools(settings, deployment))


def _agent_tools(settings: Settings, deployment: str) -> "MountedApp | None":
    """Where the extra `mcp` is installed."""
    if find_spec("mcp") is None:
        return None
    from errata.mcp.server import HttpTools

    return HttpTools(settings, deployment=deployment)


def _settings(store: str, deployment: str, release: bool) -> Settings:
    settings = load_settings(store=store)
    if not deployment:
        if release:
            raise SettingsError("`--release` migrates the store of a deployment", hint="name it: `--deployment NAME`")
        return settings
    if store:
        raise SettingsError("`--deployment` names the store already", hint="leave out `--store`")
    from errata.verbs.serve import prepare_deployment, store_of_deployment

    path = store_of_deployment(deployment, settings)
    prepare_deployment(deployment, path, release=release, now=datetime.now(UTC))
    return msgspec.structs.replace(settings, store=path)


def require_server() -> None:
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        message = "`errata serve` needs the packages `starlette` and `uvicorn`, which are not installed"
        raise SettingsError(message, hint=extra_hint("server"))
