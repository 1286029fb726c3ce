"""`errata serve`, `errata token` and `errata mcp`: errata for other programs."""

import os
import stat
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click
import msgspec

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import Options, chosen_store, shared_options
from errata.cli.output import put, put_json, say
from errata.cli.render.fields import place_of, put_field
from errata.cli.table import put_table
from errata.errors import SettingsError, extra_hint
from errata.model.output.store import TokenCreateOutput, token_output
from errata.model.token import SCOPES, Scope
from errata.settings import Settings, load_settings
from errata.verbs.tokens import create_token, list_tokens, revoke_token

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


@click.command("mcp")
@click.option("--store", metavar="FILE", default="", help="Path of the store; default: as for every command.")
def mcp(store: str) -> None:
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


SUBCOMMANDS: Table = {
    "create": ("serve:create", "Create a token and print it once."),
    "list": ("serve:list_", "List tokens with their scopes and last use."),
    "revoke": ("serve:revoke", "Revoke a token."),
}


@click.group("token", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def token() -> None:
    """Create, list and revoke tokens for `serve`.

    A server on this machine alone needs no token to read and review. Everything else does: other addresses, and
    programs that report runs.
    """


@click.command("create")
@click.argument("name", metavar="NAME")
@click.option(
    "--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES), help="What it allows; repeatable."
)
@shared_options
def create(name: str, scopes: tuple[Scope, ...], options: Options) -> None:
    """Create a token and print it once.

    NAME is the author of verdicts given with the token. The store keeps only a hash: replace a token that you lose.

    \b
    read     pages and data
    review   read, and give verdicts
    report   report runs in progress
    admin    everything
    """
    created = create_token(name, scopes, options.store, now=datetime.now(UTC), author=options.settings.author)
    if options.json:
        put_json(TokenCreateOutput(token=token_output(created.token), secret=created.secret), raw=True)
        return
    put(created.secret, raw=True)
    say(f"Token `{name}` ({', '.join(created.token.scopes)}) for {place_of(options.store.place)}")
    say("Copy it now: it is not shown again.")


@click.command("list")
@shared_options
def list_(options: Options) -> None:
    """List tokens with their scopes and last use."""
    tokens = list_tokens(options.store)
    if options.json:
        for token in tokens:
            put_json(token_output(token))
        return
    if not tokens:
        say("No tokens. `errata token create NAME --scope read` creates one.")
        return
    rows = [
        (
            token.name,
            ", ".join(token.scopes),
            token.created_at,
            token.last_used_at or "never",
            f"revoked {token.revoked_at}" if token.revoked_at else "active",
        )
        for token in tokens
    ]
    put_table(("name", "scopes", "created", "last used", "state"), rows)


@click.command("revoke")
@click.argument("name", metavar="NAME")
@shared_options
def revoke(name: str, options: Options) -> None:
    """Revoke a token.

    NAME is its name or id. From the next request on, servers refuse it.
    """
    token = revoke_token(name, options.store, now=datetime.now(UTC))
    if options.json:
        put_json(token_output(token))
        return
    put_field("token", f"{token.name} · {', '.join(token.scopes)}")
    put_field("state", f"revoked {token.revoked_at}")
