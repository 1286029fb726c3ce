"""`errata buckets show`."""

import click

from errata.buckets.status import needed
from errata.cli.buckets.history import words_of
from errata.cli.buckets.list_ import status_of
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, put_quote
from errata.json_output.buckets import details_output
from errata.model import BucketCounts
from errata.text.clean import one_line
from errata.verbs.buckets import BucketDetails, BucketMember, bucket_named, show_bucket

SHOWN, LINES, CAUSE = 20, 3, 160


@click.command("show")
@click.argument("bucket", metavar="BUCKET")
@click.option("--all", "every", is_flag=True, help=f"Show every member, not only the first {SHOWN}.")
@shared_options
def command(bucket: str, every: bool, options: Options) -> None:
    """Show a bucket and its members.

    Reviewed members come first, knock-on failures last. A member supports the bucket if its own verdict names the
    bucket as the cause.
    """
    store = options.store
    shown = show_bucket(bucket_named(bucket, store), store, most=None if every or options.json else SHOWN)
    if options.json:
        put_json(details_output(shown))
    else:
        _put_head(shown.counts)
        _put_members(shown)
        _put_tail(shown)


def _put_head(counts: BucketCounts) -> None:
    bucket = counts.bucket
    put(f"{bucket.title}   ({bucket.slug} · id {bucket.id})", hang=2)
    mistakes = f"{plural(counts.rows, 'row')}, {plural(counts.mistakes, 'mistake')}"
    follow = f" and {counts.followers:,} knock-on" if counts.followers else ""
    runs = f"{plural(len(counts.runs), 'run')} of {plural(len(counts.models), 'model')}"
    parts = [status_of(counts).upper(), bucket.suite, f"{mistakes}{follow}", plural(counts.cases, "case"), runs]
    put(" · ".join(part for part in [*parts, f"owner {counts.owner}"] if part), hang=2)
    if bucket.description:
        put(f"means    {bucket.description}", hang=9)
    shared = [f"{name} {value}" for name, value in bucket.parameters.items() if name != "owner"]
    if shared:
        put(f"shares   {' · '.join(shared)}", hang=9)
    seen = [one[:10] for one in (counts.first_seen, counts.last_seen) if one]
    put(f"seen     {' to '.join(dict.fromkeys(seen)) or 'unknown: its runs have no date'}")
    enough = needed(counts.mistakes)
    support = f"{len(bucket.supported_by):,} of the {enough:,} verdicts that make it final"
    put(
        f"support  {support if enough else 'knock-on failures only: review the failures that they follow from'}", hang=9
    )
    if bucket.status != "provisional" and counts.assigned:
        verb = "was" if counts.assigned == 1 else "were"
        put(f"apart    {plural(counts.assigned, 'failure')} {verb} assigned by rules and not reviewed", hang=9)


def _put_members(shown: BucketDetails) -> None:
    put()
    for member in shown.members:
        carries = " · supports it" if member.supports else ""
        follows = " · knock-on" if member.placement.follows else ""
        placed = f" · placed by {member.placement.author}" if member.placement.author else ""
        put(f"{member.name}   {member.placement.role}{carries}{follows}{placed} · {member.placement.owner}", hang=4)
        _put_verdict(member)
        if member.quote:
            put_quote(member.quote, indent=4, most=LINES)
    left = shown.counts.rows - len(shown.members)
    if left > 0:
        put(f"… {left:,} more with --all")


def _put_verdict(member: BucketMember) -> None:
    if member.standing is not None:
        verdict = member.standing.verdict
        disputed = " (disputed)" if member.standing.is_disputed else ""
        put(f"    {verdict.label}{disputed} by {verdict.reviewer.name}: {one_line(verdict.cause, CAUSE)}", hang=6)


def _put_tail(shown: BucketDetails) -> None:
    put()
    for entry in shown.history:
        event = entry.event
        undone = " (undone)" if event.undone else ""
        ends = " → ".join(end for end in words_of(entry) if end)
        put(f"{event.at[:10]}  {event.what}{undone} by {event.by or 'rule'}: {ends}", hang=12)
    if shown.counts.bucket.status != "final":
        unread = next((one.name for one in shown.members if one.standing is None), "")
        if unread:
            put_command("Next", ["errata", "review", "next", unread])
