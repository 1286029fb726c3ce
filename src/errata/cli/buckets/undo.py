"""`errata buckets undo`."""

import click

from errata.buckets.undo import undo
from errata.cli.buckets.changing import dry_run_option, signed_by
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say


@click.command("undo")
@click.option(
    "--to", "to", type=click.IntRange(min=1), metavar="NUMBER", help="Take back this change and all after it."
)
@click.option("--suite", default=None, help="The last change in this suite, not in the whole store.")
@dry_run_option
@shared_options
def command(to: int | None, suite: str | None, dry_run: bool, options: Options) -> None:
    """Take back what was done last; once more redoes it.

    Only what people did is taken back, never a verdict or what a rule made of it. `errata buckets history` numbers the
    changes.
    """
    done = undo(options.store, signed_by(options, dry_run=dry_run), suite=suite, to=to)
    if options.json:
        put_json(
            {
                "what": done.what,
                "dry_run": dry_run,
                "change": None if dry_run else done.event,
                "undone": [{"number": one.number, "what": one.what, "by": one.by, "at": one.at} for one in done.undone],
                "failures": done.failures,
            }
        )
        return
    for one in done.undone:
        verb = "would take back" if dry_run else "took back"
        put(f"{verb} change {one.number}: {one.what} by {one.by}, {one.at[:16].replace('T', ' ')}")
    if done.failures:
        put(f"{plural(done.failures, 'failure')} {'would lie' if dry_run else 'lie'} where they lay before")
    if not dry_run:
        say(f"change {done.event}; `errata buckets undo` once more redoes it")
