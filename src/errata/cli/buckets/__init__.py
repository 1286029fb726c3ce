"""`errata buckets`: root causes with their counts, and what people say of them."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "list": ("list_", "List the buckets of RUNS; of all runs where none is given."),
    "show": ("show", "Show BUCKET and its members."),
    "suggest": ("edit:suggest", "Put the failures of RUNS into buckets anew; what people did stays."),
    "merge": ("edit:merge", "Make one bucket of several."),
    "split": ("edit:split", "Take the failures at CASES out of BUCKET into one of their own."),
    "rename": ("edit:rename", "Give BUCKET another title."),
    "move": ("edit:move", "Put FAILURES into another bucket."),
    "confirm": ("edit:confirm", "Say that BUCKET is final, where enough of it was read."),
    "undo": ("edit:undo", "Take back what was done last; once more redoes it."),
    "history": ("history", "Tell what was done to BUCKET, or to all."),
}


@click.group("buckets", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.buckets")
def command() -> None:
    """Group failures by cause, and correct the groups.

    Buckets come from failure keys, verdicts and texts that are alike, and are PROVISIONAL until enough of their members
    were read. BUCKET is a slug, the beginning of one, or an id.
    """
