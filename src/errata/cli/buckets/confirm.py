"""`errata buckets confirm`."""

import click

from errata.buckets.confirm import confirm
from errata.buckets.names import bucket_named
from errata.cli.buckets.changing import show_done, signed_by
from errata.cli.options import Options, shared_options
from errata.cli.output import plural


@click.command("confirm")
@click.argument("bucket", metavar="BUCKET")
@shared_options
def command(bucket: str, options: Options) -> None:
    """Say that BUCKET is final, where enough of it was read.

    Three members, or all of a smaller bucket, must have been read themselves, with verdicts that name it as the cause.
    Else it is told which are missing. Its members then stay where they are, whatever is suggested later.
    """
    store = options.store
    done = confirm(bucket_named(bucket, store), store, signed_by(options))
    carried = plural(len(done.bucket.supported_by), "verdict")
    show_done(done, f"confirmed {done.bucket.slug}: {carried} carry it", options, dry_run=False)
