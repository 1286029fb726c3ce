"""`errata models`: the models that `errata run` knows."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "list": ("definitions:list_", "List the models in the models file."),
    "check": ("definitions:check", "Check that every model has what it needs; sends nothing."),
    "smoke": ("definitions:smoke", "Try models on one or two cases."),
}


@click.group("models", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.models")
def command() -> None:
    """List, check and try the models that `run` uses.

    Models are defined in one file, `models.toml`.
    """
