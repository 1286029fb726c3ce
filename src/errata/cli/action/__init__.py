"""`errata action`: what was done about failures, and whether it worked."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "add": ("actions:add", "Record what was changed, where, and which failures it addresses."),
    "list": ("actions:list_", "List the actions, and whether each worked."),
    "rm": ("actions:rm", "Forget an action."),
}


@click.group("action", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.action")
def command() -> None:
    """Record fixes, and check whether they worked.

    errata itself changes no code and no configuration: an action tells what people changed.
    """
