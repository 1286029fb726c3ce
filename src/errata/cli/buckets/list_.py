"""`errata buckets list`."""

from collections.abc import Sequence

import click

from errata.buckets.opinions import slug_of
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.runs import title_of
from errata.cli.table import put_table
from errata.json_output.review import bucket_output
from errata.model import Bucket, BucketCounts, BucketSum, BucketTable, RunBuckets
from errata.runs.names import handle_of, runs_named
from errata.verbs.buckets import list_buckets
from errata.verbs.store import all_runs

HEADER = ("cause", "status", "failures", "cases", "runs", "models", "owner", "last seen")
RIGHT = ("failures", "cases", "runs", "models")
SHOWN = 30
SIZES = 5
SURFACE = ("owner", "category", "step", "judge", "model", "session")
"""Parameters that many buckets share without a common cause."""


@click.command("list")
@click.argument("runs", nargs=-1, metavar="[RUN…]")
@click.option("--all", "alone", is_flag=True, help="Also list failures that match no other.")
@click.option("--limit", type=click.IntRange(min=1), help=f"Show at most N; default: {SHOWN}, or all with --json.")
@shared_options
def command(runs: tuple[str, ...], alone: bool, limit: int | None, options: Options) -> None:
    """List causes with counts and owner.

    Without RUN, covers all runs. The second line of a cause has the slug that other commands take, the number of
    knock-on failures, and what else the failures share.
    """
    store = options.store
    meant = list(runs_named(runs, store))
    most = limit or (None if options.json else SHOWN)
    table = list_buckets(store, meant, alone=alone, limit=most)
    if options.json:
        for counts in table.listed:
            put_json(bucket_output(counts))
    elif not table.failures:
        say("no failures" if meant or all_runs(store) else "no runs yet: `errata import PATH…`")
    else:
        if len(meant) == 1:
            put(title_of(meant[0].run, handle_of(meant[0], store)))
        show_table(table, alone=alone)


def show_table(table: BucketTable, *, alone: bool) -> None:
    put(status_line(table.statuses, table.buckets))
    # the line above has the status that all of them share
    is_same = {status_of(one) for one in table.listed} == {"provisional"}
    header = tuple(name for name in HEADER if name != "status" or not is_same)
    suites = list(dict.fromkeys(one.bucket.suite for one in table.listed))
    for suite in suites:
        some = [one for one in table.listed if one.bucket.suite == suite]
        put(f"\n{suite or 'no suite'}" if len(suites) > 1 else "")
        below = [_below(one) for one in some]
        rows = [(name, *([] if is_same else [status]), *rest) for name, status, *rest in map(_row, some)]
        put_table(header, rows, right=RIGHT, give_way=("cause",), below=below, below_lines=0)
    put(("\n" if suites else "") + _foot(table, alone=alone))
    for line in _behind(table.listed):
        put(line)


def _behind(listed: Sequence[BucketCounts]) -> list[str]:
    """A parameter that several buckets share may be their common cause."""
    by_parameter: dict[tuple[str, str, str], list[BucketCounts]] = {}
    for counts in listed:
        for name, value in counts.bucket.parameters.items():
            if name not in SURFACE:
                by_parameter.setdefault((counts.bucket.suite, name, value), []).append(counts)
    return [
        f"perhaps one cause: {len(some):,} causes share {name} {value}, {sum(one.rows for one in some):,} failures"
        for (_, name, value), some in by_parameter.items()
        if len(some) > 1
    ]


def _foot(table: BucketTable, *, alone: bool) -> str:
    hint = "" if alone else f": `--all` lists {'it' if table.alone == 1 else 'them'}"
    if table.alone > 1 and not table.buckets:
        return f"{plural(table.alone, 'failure')}, no two alike{hint}"
    parts = [f"{plural(table.failures - table.alone, 'failure')} in {plural(table.buckets, 'cause')}"]
    if table.alone:
        others = plural(table.alone, "more failure matches", "more failures match")
        parts.append(f"{others} no other failure of any run{hint}")
    hidden = table.buckets + (table.alone if alone else 0) - len(table.listed)
    parts += [f"{plural(hidden, 'more cause')}: raise `--limit`"] if hidden else []
    return " · ".join(parts)


def status_line(statuses: dict[str, int], total: int) -> str:
    """Whether the buckets were reviewed; a reader needs this before any number."""
    if not total:
        return "PROVISIONAL: no two failures share a cause, by rules; none reviewed yet"
    final, reviewed = statuses.get("final", 0), statuses.get("reviewed", 0)
    if total and final == total:
        return f"FINAL: {plural(total, 'cause')}, each with enough reviewed failures whose verdicts support it"
    if not reviewed and not final:
        return "PROVISIONAL: causes found by rules; none reviewed yet"
    by_rules = total - final - reviewed
    if not by_rules:
        verb = "is" if reviewed == 1 else "are"
        why = "too few of their failures are reviewed, or a second review is missing"
        return f"PROVISIONAL: {reviewed:,} of {plural(total, 'cause')} {verb} reviewed, but not final: {why}"
    verb = "was" if by_rules == 1 else "were"
    progress = f"{reviewed:,} reviewed, {final:,} final"
    return f"PROVISIONAL: {by_rules:,} of {plural(total, 'cause')} {verb} found by rules; {progress}"


def _row(counts: BucketCounts) -> tuple[object, ...]:
    figures = (
        f"{counts.rows:,}",
        f"{counts.cases:,}",
        f"{len(counts.runs):,}",
        f"{len(counts.models):,}" if counts.models else "–",
    )
    return (_name(counts.bucket), status_of(counts), *figures, counts.owner, (counts.last_seen or "–")[:10])


def status_of(counts: BucketCounts) -> str:
    """`reviewed` alone means all of it: else how many of its failures are."""
    status = counts.bucket.status
    is_part = status == "reviewed" and counts.read + counts.inherited < counts.mistakes
    return f"{counts.read:,} of {counts.mistakes:,} reviewed" if is_part else status


def _name(bucket: Bucket) -> str:
    """What reviewers call it; the cause is below it, where there is room for a sentence."""
    is_name = bucket.is_of_reviewers and not slug_of(bucket.title).startswith(bucket.slug)
    return bucket.slug.replace("-", " ") if is_name else bucket.title


_FACETS = {"step": "check"}
"""Parameters whose stored name is not the word on the pages."""


def _below(counts: BucketCounts) -> str:
    shared = [
        f"{_FACETS.get(name, name)} {value}" for name, value in counts.bucket.parameters.items() if name != "owner"
    ]
    first, last = ((seen or "")[:10] for seen in (counts.first_seen, counts.last_seen))
    since = [f"since {first}"] if first != last else []
    followers = [f"{counts.followers:,} knock-on"] if counts.followers else []
    if counts.bucket.status != "provisional" and counts.assigned:
        followers.insert(0, f"{counts.read:,} reviewed, {counts.assigned:,} not reviewed")
    elsewhere = [f"{plural(counts.elsewhere, 'failure')} in other runs"] if counts.elsewhere else []
    cause = [counts.bucket.title] if _name(counts.bucket) != counts.bucket.title else []
    return " · ".join([counts.bucket.slug, *followers, *elsewhere, *since, *shared, *cause])


def buckets_line(buckets: RunBuckets) -> str:
    """The causes of a run: `2 final (3 and 2 failures) · 4 failures match no other`.

    Failures that rules put into a final bucket are counted apart.
    """
    sums = (("final", buckets.final), ("reviewed", buckets.reviewed), ("provisional", buckets.provisional))
    parts = [f"{one.buckets:,} {status} ({_sizes(one)})" for status, one in sums if one.buckets]
    alone = f"{plural(buckets.alone, 'failure matches', 'failures match')} no other"
    assigned = f"{plural(buckets.assigned, 'failure')} assigned to final causes by rules, not reviewed"
    return " · ".join([*parts, *([assigned] if buckets.assigned else []), *([alone] if buckets.alone else [])])


def _sizes(buckets: BucketSum) -> str:
    total = sum(buckets.failures)
    if set(buckets.failures) == {1}:
        read = "all reviewed" if buckets.read == total else f"{buckets.read:,} reviewed"
        return f"{'1 failure' if total == 1 else '1 failure each'}, {read}"
    first = [f"{size:,}" for size in buckets.failures[:SIZES]]
    listed = f"{', '.join(first[:-1])} and {first[-1]}" if len(first) > 1 else first[0]
    sizes = listed if len(buckets.failures) <= SIZES else f"{total:,}"
    read = "all reviewed" if buckets.read == total else f"{buckets.read:,} reviewed"
    return f"{sizes} failure{'' if sizes == '1' else 's'}, {read}"
