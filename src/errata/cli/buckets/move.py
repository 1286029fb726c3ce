"""`errata buckets move`."""

import click

from errata.buckets.member_names import failures_named
from errata.buckets.names import bucket_named
from errata.buckets.place import move
from errata.cli.buckets.changing import dry_run_option, show_done, signed_by
from errata.cli.options import Options, shared_options
from errata.cli.output import plural


@click.command("move")
@click.argument("failures", nargs=-1, required=True, metavar="RUN/CASE…")
@click.option("--to", "to", required=True, metavar="BUCKET", help="Where they belong.")
@dry_run_option
@shared_options
def command(failures: tuple[str, ...], to: str, dry_run: bool, options: Options) -> None:
    """Put FAILURES into another bucket.

    They stay there whatever is suggested later. RUN/CASE means every failed attempt at the case, `#2` the second alone.
    """
    store = options.store
    attempts = failures_named(failures, store)
    done = move(attempts, bucket_named(to, store), store, signed_by(options, dry_run=dry_run))
    show_done(done, f"moved {plural(len(done.change.moves), 'failure')}", options, dry_run=dry_run)
