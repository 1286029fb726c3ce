"""`errata known`: limitations of a suite that are accepted as they are."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "add": ("gaps:add", "Record a known gap of a case, or of all cases that a pattern fits."),
    "list": ("gaps:list_", "List the known gaps."),
    "rm": ("gaps:rm", "Forget a known gap."),
}


@click.group("known", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.known")
def command() -> None:
    """Record limitations of a suite that are accepted.

    A known gap is a limitation of a case that is accepted as it is. Its failures suggest the label `KNOWN_GAP`.
    """
