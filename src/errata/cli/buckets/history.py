"""`errata buckets history`."""

import click

from errata.buckets.history import HistoryEntry
from errata.cli.options import Options, shared_options
from errata.cli.output import put_json, say
from errata.cli.table import put_table
from errata.json_output.buckets import event_output
from errata.verbs.buckets import bucket_history, bucket_named

HEADER = ("change", "when", "by", "what", "before", "after")
BY_RULE = "rule"


@click.command("history")
@click.argument("bucket", required=False, metavar="[BUCKET]")
@click.option("--limit", type=click.IntRange(min=1), help="Show only the last N changes.")
@shared_options
def command(bucket: str | None, limit: int | None, options: Options) -> None:
    """List the changes to a bucket, or to all buckets.

    Includes every move of a failure, manual or automatic, with its old and new bucket.
    """
    store = options.store
    entries = bucket_history(store, bucket_named(bucket, store) if bucket else None)
    shown = entries[-limit:] if limit else entries
    if options.json:
        for entry in shown:
            put_json(event_output(entry))
    elif shown:
        put_table(HEADER, map(_row, shown), right=("change",), give_way=("before", "after"))
    else:
        say("no changes yet (the first suggestion is not a change)")


def _row(entry: HistoryEntry) -> tuple[object, ...]:
    event = entry.event
    before, after = words_of(entry)
    count = f"{len(entry.moves):,} of " if entry.moves else ""
    undone = " (undone)" if event.undone else ""
    when = event.at[:16].replace("T", " ")
    what = f"{event.what}{undone}"
    return (event.number, when, event.by or BY_RULE, what, f"{count}{before or '–'}", after or entry.bucket or "–")


def words_of(entry: HistoryEntry) -> tuple[str, str]:
    """Before and after, in words."""
    event = entry.event
    if event.what in ("undo", "redo"):
        numbers = ", ".join(map(str, event.change.undoes))
        return f"change {numbers}", "undone" if event.what == "undo" else "redone"
    if event.what == "confirm":
        return "", f"{len(event.change.moves):,} failures stay"
    return entry.before, entry.after
