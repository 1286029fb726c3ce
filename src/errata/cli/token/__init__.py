"""`errata token`: who may ask a server for what."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "create": ("tokens:create", "Create a token and print it once."),
    "list": ("tokens:list_", "List tokens with their scopes and last use."),
    "revoke": ("tokens:revoke", "Revoke a token."),
}


@click.group("token", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.token")
def command() -> None:
    """Create, list and revoke tokens of `serve`.

    A server on this machine alone needs no token to read and review. Everything else does: other addresses, and
    programs that report runs.
    """
