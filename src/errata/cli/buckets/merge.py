"""`errata buckets merge`."""

import click

from errata.buckets.changes import merge
from errata.buckets.names import bucket_named
from errata.cli.buckets.changing import dry_run_option, show_done, signed_by
from errata.cli.options import Options, shared_options
from errata.cli.output import plural


@click.command("merge")
@click.argument("buckets", nargs=-1, required=True, metavar="BUCKET BUCKET…")
@click.option("--into", default="", metavar="BUCKET", help="The one that stays; else the first.")
@dry_run_option
@shared_options
def command(buckets: tuple[str, ...], into: str, dry_run: bool, options: Options) -> None:
    """Make one bucket of several.

    The others are gone, and their names lead to the one that stays. Later failures that would have been put into them
    are put there.
    """
    store = options.store
    meant = [bucket_named(name, store) for name in buckets]
    target = bucket_named(into, store) if into else meant[0]
    done = merge(meant, target, store, signed_by(options, dry_run=dry_run))
    gone = [after.bucket.slug for _, after in done.change.filed if after.gone]
    told = f"merged {', '.join(gone)} into {done.bucket.slug}: {plural(len(done.change.moves), 'failure')} moved"
    show_done(done, told, options, dry_run=dry_run)
