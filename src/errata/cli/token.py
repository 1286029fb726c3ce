"""`errata token`: access tokens for a server."""

from datetime import UTC, datetime

import click

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json, say
from errata.cli.render.fields import place_of, put_field
from errata.cli.table import put_table
from errata.model.output.token import TokenCreateOutput, token_output
from errata.model.token import SCOPES, Scope
from errata.verbs.tokens import create_token, list_tokens, revoke_token

SUBCOMMANDS: Table = {
    "create": ("token:create", "Create a token and print it once."),
    "list": ("token:list_", "List tokens with their scopes and last use."),
    "revoke": ("token:revoke", "Revoke a token."),
}


@click.group("token", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def command() -> None:
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
