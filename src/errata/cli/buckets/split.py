"""`errata buckets split`."""

import click

from errata.buckets.member_names import members_named
from errata.buckets.names import bucket_named
from errata.buckets.place import split
from errata.cli.buckets.changing import dry_run_option, show_done, signed_by
from errata.cli.options import Options, shared_options
from errata.cli.output import plural


@click.command("split")
@click.argument("bucket", metavar="BUCKET")
@click.argument("cases", nargs=-1, required=True, metavar="CASE…")
@click.option("--title", required=True, help="Of the new bucket: the cause in a few words.")
@dry_run_option
@shared_options
def command(bucket: str, cases: tuple[str, ...], title: str, dry_run: bool, options: Options) -> None:
    """Take the failures at CASES out of BUCKET into one of their own.

    CASE is a case in every run, RUN/CASE in one run, or an attempt's id.
    """
    store = options.store
    meant = bucket_named(bucket, store)
    attempts = members_named(meant, cases, store)
    done = split(meant, attempts, title, store, signed_by(options, dry_run=dry_run))
    told = f"split {plural(done.members, 'failure')} off {meant.slug}"
    show_done(done, told, options, dry_run=dry_run)
