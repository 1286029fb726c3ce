"""What the commands that change buckets share: who does it, whether it is only tried, and what is told after."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

from errata.buckets.changes import By, Done
from errata.buckets.suggest import text_of
from errata.cli.options import Options
from errata.cli.output import plural, put, put_json, say

NOBODY = "somebody"


def dry_run_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")(function)


def signed_by(options: Options, *, dry_run: bool = False) -> By:
    """An author is never empty: what has none was done by a rule."""
    return By(author=options.settings.author or NOBODY, at=text_of(datetime.now(UTC)), tried=dry_run)


def show_done(done: Done, told: str, options: Options, *, dry_run: bool) -> None:
    bucket = done.bucket
    moved = [one for one in done.change.moves if one.before and one.after and one.before.bucket != one.after.bucket]
    if options.json:
        put_json(
            {
                "what": done.what,
                "dry_run": dry_run,
                "change": None if dry_run else done.event,
                "id": bucket.id,
                "slug": bucket.slug,
                "title": bucket.title,
                "suite": bucket.suite,
                "status": bucket.status,
                "rows": done.members,
                "moved": [{"attempt_id": one.attempt, "from": one.before and one.before.bucket} for one in moved],
            }
        )
        return
    put(f"{'would be: ' if dry_run else ''}{told}")
    put(f"{bucket.slug}   {bucket.title} · {bucket.status} · {plural(done.members, 'failure')}", hang=2)
    if not dry_run:
        say(f"change {done.event}; `errata buckets undo` takes it back")
