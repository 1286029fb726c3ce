"""`errata buckets history`."""

import click

from errata.buckets.history import Told, history
from errata.buckets.names import bucket_named
from errata.cli.options import Options, shared_options
from errata.cli.output import put_lines_of_json, say
from errata.cli.table import put_table

HEADER = ("change", "when", "by", "what", "before", "after")
BY_RULE = "rule"


@click.command("history")
@click.argument("bucket", required=False, metavar="[BUCKET]")
@click.option("--limit", type=click.IntRange(min=1), help="Only the last so many.")
@shared_options
def command(bucket: str | None, limit: int | None, options: Options) -> None:
    """Tell what was done to BUCKET, or to all.

    Old and new bucket of every failure that was put elsewhere are among it, whoever did it.
    """
    store = options.store
    told = history(store, bucket=bucket_named(bucket, store) if bucket else None)
    shown = told[-limit:] if limit else told
    if options.json:
        put_lines_of_json(shown)
    elif shown:
        put_table(HEADER, map(_row, shown), right=("change",), give_way=("before", "after"))
    else:
        say("nothing was done yet: what is suggested at first is no change")


def _row(one: Told) -> tuple[object, ...]:
    event = one.event
    count = f"{len(one.moves):,} of " if one.moves else ""
    undone = " (undone)" if event.undone else ""
    when = event.at[:16].replace("T", " ")
    after = one.after or one.bucket
    return (
        event.number,
        when,
        event.by or BY_RULE,
        f"{event.what}{undone}",
        f"{count}{one.before or '–'}",
        after or "–",
    )
