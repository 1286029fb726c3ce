"""`errata buckets`: failures grouped by cause, and corrections by people."""

import click

from errata.cli.lazy import LazyGroup, Table

SUBCOMMANDS: Table = {
    "list": ("list_", "List causes with counts and owner."),
    "show": ("show", "Show a bucket and its members."),
    "suggest": ("edit:suggest", "Sort failures into buckets again; manual changes stay."),
    "merge": ("edit:merge", "Merge several buckets into one."),
    "split": ("edit:split", "Split cases off a bucket into a new one."),
    "rename": ("edit:rename", "Change a bucket's title."),
    "move": ("edit:move", "Move failures to another bucket."),
    "confirm": ("edit:confirm", "Mark a bucket as final, if enough of it was reviewed."),
    "undo": ("edit:undo", "Undo the last change; a second undo redoes it."),
    "history": ("show:history", "List the changes to a bucket, or to all buckets."),
}


@click.group("buckets", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli.buckets")
def command() -> None:
    """Group failures by cause, and correct the groups.

    A bucket holds failures with the same cause. Buckets come from failure keys, verdicts and similar texts, and are
    PROVISIONAL until enough of their members were reviewed. BUCKET is a slug, the start of one, or an id.
    """
