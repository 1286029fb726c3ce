"""`errata action`: fixes for failures, and whether they worked."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "add": ("actions:add", "Record a change and the failures it addresses."),
    "list": ("actions:list_", "List actions, and whether each worked."),
    "rm": ("actions:rm", "Remove an action."),
}


@click.group("action", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.action")
def command() -> None:
    """Record fixes, and check whether they worked.

    An action is a change that people made; errata itself changes no code and no configuration.
    """
