"""`errata buckets rename`."""

import click

from errata.buckets.changes import rename
from errata.buckets.names import bucket_named
from errata.cli.buckets.changing import show_done, signed_by
from errata.cli.options import Options, shared_options


@click.command("rename")
@click.argument("bucket", metavar="BUCKET")
@click.argument("title")
@click.option("--slug", default="", help="The short name for commands; else made of the title.")
@shared_options
def command(bucket: str, title: str, slug: str, options: Options) -> None:
    """Give BUCKET another title.

    Its id stays the same, and verdicts that name it by its old slug still mean it.
    """
    store = options.store
    meant = bucket_named(bucket, store)
    done = rename(meant, title, store, signed_by(options), slug=slug)
    show_done(done, f"renamed {meant.slug}", options, dry_run=False)
