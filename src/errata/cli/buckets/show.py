"""`errata buckets show`."""

import click

from errata import verbs
from errata.buckets.listing import Shown, ShownBucket
from errata.buckets.names import bucket_named
from errata.buckets.standing import ENOUGH
from errata.cli.buckets.list_ import json_of
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, put_quote
from errata.store.bucket_table import Counted
from errata.text.clean import one_line

SHOWN, LINES, CAUSE = 20, 3, 160


@click.command("show")
@click.argument("bucket", metavar="BUCKET")
@click.option("--all", "every", is_flag=True, help=f"Every member, not the first {SHOWN}.")
@shared_options
def command(bucket: str, every: bool, options: Options) -> None:
    """Show BUCKET and its members.

    What was read comes first, what only follows from another member last. A member that carries the bucket was read
    itself, with a verdict that names it as the cause.
    """
    store = options.store
    shown = verbs.show_bucket(bucket_named(bucket, store), store, most=None if every or options.json else SHOWN)
    if options.json:
        members = [one.as_json() for one in shown.members]
        put_json(json_of(shown.counted) | {"members": members, "history": [one.as_json() for one in shown.history]})
    else:
        _put_head(shown.counted)
        _put_members(shown)
        _put_tail(shown)


def _put_head(counted: Counted) -> None:
    bucket = counted.bucket
    put(f"{bucket.title}   ({bucket.slug} · id {bucket.id})", hang=2)
    mistakes = f"{plural(counted.rows, 'row')}, {plural(counted.mistakes, 'mistake')}"
    follow = f" and {counted.followers:,} that follow" if counted.followers else ""
    runs = f"{plural(len(counted.runs), 'run')} of {plural(len(counted.models), 'model')}"
    parts = [bucket.status.upper(), bucket.suite, f"{mistakes}{follow}", plural(counted.cases, "case"), runs]
    put(" · ".join(part for part in [*parts, f"owner {counted.owner}"] if part), hang=2)
    if bucket.description:
        put(f"means    {bucket.description}", hang=9)
    shared = [f"{name} {value}" for name, value in bucket.parameters.items() if name != "owner"]
    if shared:
        put(f"shares   {' · '.join(shared)}", hang=9)
    seen = [one[:10] for one in (counted.first_seen, counted.last_seen) if one]
    put(f"seen     {' to '.join(dict.fromkeys(seen))}")
    put(f"carried  by {len(bucket.supported_by):,} of the {min(ENOUGH, counted.rows):,} verdicts that make it final")


def _put_members(shown: ShownBucket) -> None:
    put()
    for one in shown.members:
        carries = " · carries" if one.supports else ""
        follows = " · follows" if one.placement.follows else ""
        placed = f" · placed by {one.placement.author}" if one.placement.author else ""
        put(f"{one.name}   {one.placement.role}{carries}{follows}{placed} · {one.placement.owner}", hang=4)
        _put_verdict(one)
        if one.quote:
            put_quote(one.quote, indent=4, most=LINES)
    left = shown.counted.rows - len(shown.members)
    if left > 0:
        put(f"… {left:,} more with --all")


def _put_verdict(one: Shown) -> None:
    if one.standing is not None:
        verdict = one.standing.verdict
        disputed = " (disputed)" if one.standing.is_disputed else ""
        put(f"    {verdict.label}{disputed} by {verdict.reviewer.name}: {one_line(verdict.cause, CAUSE)}", hang=6)


def _put_tail(shown: ShownBucket) -> None:
    put()
    for one in shown.history:
        event = one.event
        undone = " (undone)" if event.undone else ""
        ends = " → ".join(end for end in (one.before, one.after) if end)
        put(f"{event.at[:10]}  {event.what}{undone} by {event.by or 'rule'}: {ends}", hang=12)
    if shown.counted.bucket.status != "final":
        unread = next((one.name for one in shown.members if one.standing is None), "")
        if unread:
            put_command("Next", ["errata", "review", "next", unread])
