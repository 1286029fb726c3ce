"""`errata buckets show` and `history`."""

import click

from errata.buckets.history import HistoryEntry
from errata.buckets.opinions import needed
from errata.cli.buckets.list_ import status_of
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, put_quote, say
from errata.cli.table import put_table
from errata.json_output.review import details_output, event_output
from errata.model import BucketCounts
from errata.text.clean import one_line
from errata.verbs.buckets import BucketDetails, BucketMember, bucket_history, bucket_named, show_bucket

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


HEADER = ("change", "when", "by", "what", "before", "after")
BY_RULE = "rule"


@click.command("history")
@click.argument("bucket", required=False, metavar="[BUCKET]")
@click.option("--limit", type=click.IntRange(min=1), help="Show only the last N changes.")
@shared_options
def history(bucket: str | None, limit: int | None, options: Options) -> None:
    """List the changes to a bucket, or to all buckets.

    Includes every move of a failure, manual or automatic, with its old and new bucket.
    """
    store = options.store
    entries = bucket_history(store, bucket_named(bucket, store) if bucket else None)
    shown = entries[-limit:] if limit else entries
    if options.json:
        for entry in shown:
            put_json(event_output(entry))
    elif shown:
        put_table(HEADER, map(_row, shown), right=("change",), give_way=("before", "after"))
    else:
        say("no changes yet (the first suggestion is not a change)")


def _row(entry: HistoryEntry) -> tuple[object, ...]:
    event = entry.event
    before, after = words_of(entry)
    count = f"{len(entry.moves):,} of " if entry.moves else ""
    undone = " (undone)" if event.undone else ""
    when = event.at[:16].replace("T", " ")
    what = f"{event.what}{undone}"
    return (event.number, when, event.by or BY_RULE, what, f"{count}{before or '–'}", after or entry.bucket or "–")


def words_of(entry: HistoryEntry) -> tuple[str, str]:
    event = entry.event
    if event.what in ("undo", "redo"):
        numbers = ", ".join(map(str, event.change.undoes))
        return f"change {numbers}", "undone" if event.what == "undo" else "redone"
    if event.what == "confirm":
        return "", f"{len(event.change.moves):,} failures stay"
    return entry.before, entry.after
