"""`errata store`: the store as a whole."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "backup": ("backup:backup", "Back up the store while others use it."),
    "restore": ("backup:restore", "Replace the store with a backup."),
    "size": ("space:size", "Show how much of the store each run takes."),
    "thin": ("space:thin", "Reduce old transcripts to what verdicts and evidence cite."),
    "copy": ("backup:copy", "Copy a store, and prove that nothing was lost."),
}


@click.group("store", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.store")
def command() -> None:
    """Back up, restore, copy, measure and thin the store.

    `errata doctor` checks it for damage, and `errata rm --older-than 90d` removes old runs.
    """
