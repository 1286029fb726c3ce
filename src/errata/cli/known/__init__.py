"""`errata known`: accepted limitations of a suite."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "add": ("gaps:add", "Record a known gap for a case, or for all cases that match a pattern."),
    "list": ("gaps:list_", "List known gaps."),
    "rm": ("gaps:rm", "Remove a known gap."),
}


@click.group("known", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.known")
def command() -> None:
    """Record accepted limitations of a suite.

    A known gap is an accepted limitation of a case. The label `KNOWN_GAP` is suggested for its failures.
    """
