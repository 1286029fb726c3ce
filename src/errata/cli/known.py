"""`errata known`: accepted limitations of a suite."""

from datetime import UTC, datetime

import click

from errata.cli.lazy import LazyGroup, Table
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_command, put_json, say
from errata.cli.render.fields import SHORT, place_of, put_field, put_undo
from errata.memory.known_gaps import GapRecord, GapRequest
from errata.model import StoredRun
from errata.model.action import RecordedGap
from errata.model.output.memory import KnownAddOutput, KnownListOutput, KnownRmOutput
from errata.runs.names import handle_of
from errata.text.shell import command_line
from errata.verbs.action import add_gap, gaps_in_reports, list_gaps, remove_gap
from errata.verbs.store import Store

SUBCOMMANDS: Table = {
    "add": ("known:add", "Record a known gap for a case, or for all cases that match a pattern."),
    "list": ("known:list_", "List known gaps."),
    "rm": ("known:rm", "Remove a known gap."),
}


@click.group("known", cls=LazyGroup, table=SUBCOMMANDS, package="errata.cli")
def command() -> None:
    """Record accepted limitations of a suite.

    A known gap is an accepted limitation of a case. The label `KNOWN_GAP` is suggested for its failures.
    """


NAMED = 4


@click.command("add")
@click.argument("case", metavar="CASE")
@click.option("--text", required=True, metavar="TEXT", help="The limitation, in a sentence.")
@click.option("--suite", default="", metavar="NAME", help="Suite, if several have this case.")
@click.option("--author", default="", metavar="NAME", help="Author; default: $ERRATA_AUTHOR or your user name.")
@click.option("--dry-run", is_flag=True, help="Only show what would be added.")
@shared_options
def add(case: str, text: str, suite: str, author: str, dry_run: bool, options: Options) -> None:
    """Record a known gap for a case, or for all cases that match a pattern.

    CASE is a case name or the end of one, RUN/CASE, or a pattern such as `002-queries/*`. Adding a gap again replaces
    its text.
    """
    store = options.store
    request = GapRequest(case=case, text=text, suite=suite, author=author or options.settings.author)
    record = add_gap(request, store, now=datetime.now(UTC), dry_run=dry_run)
    if options.json:
        put_json(_added_output(record, dry_run=dry_run))
    else:
        _show_added(record, store, dry_run=dry_run)


def _show_added(record: GapRecord, store: Store, *, dry_run: bool) -> None:
    gap, was = record.gap, record.previous
    put_field("gap", f"{gap.id[:SHORT]} · {record.name}{f' · {gap.suite}' if gap.suite else ''}")
    put_field("", gap.text)
    if gap.pattern:
        put_field("matches", plural(len(record.cases), "case"))
    kept = "unchanged" if was and was.text == gap.text else f"was: {was.text}" if was else "added"
    put_field("store", f"{'would be added' if dry_run and not was else kept} · {place_of(store.place)}")
    if dry_run:
        put_field("", "nothing was written")
        return
    _put_next(record, store, "suggests KNOWN_GAP for its failures")
    put_undo(["errata", "known", "rm", gap.id[:SHORT]])


def _put_next(record: GapRecord, store: Store, note: str) -> None:
    """The command that applies this: triage the affected runs, or all if there are many."""
    if record.runs:
        handles = [handle_of(one, store) for one in record.runs[: NAMED + 1]]
        put_command("Next", ["errata", "triage", *(handles if len(handles) <= NAMED else [])], note)


def _added_output(record: GapRecord, *, dry_run: bool) -> KnownAddOutput:
    return KnownAddOutput(
        gap=record.gap,
        cases=record.cases,
        was=record.previous.text if record.previous else None,
        runs=tuple(one.run.native_id for one in record.runs),
        new=record.previous is None,
        dry_run=dry_run,
    )


HANG = 10


@click.command("list")
@click.option("--suite", default="", metavar="NAME", help="Only this suite's gaps.")
@shared_options
def list_(suite: str, options: Options) -> None:
    """List known gaps.

    Gaps that only earlier reports record follow without an id: edit the report to remove one. `--json` lists only the
    store's gaps.
    """
    records = list_gaps(options.store, suite=suite)
    if options.json:
        for record in records:
            put_json(KnownListOutput(gap=record.gap, cases=record.cases, was=None, runs=()))
        return
    reported = gaps_in_reports(options.store, suite=suite)
    if records or reported:
        put(f"{'id':<{HANG}}case and reason")
    for record in records:
        _show_gap(record)
    for run, key, gap in reported:
        _show_reported(run, key, gap)
    if not records and not reported:
        say("no known gaps; record one with `errata known add CASE --text TEXT`")


def _show_reported(run: StoredRun, key: str, gap: RecordedGap) -> None:
    case = key.removeprefix(f"{run.run.suite}/") if run.run.suite else key
    put(f"{'–':<{HANG}}{' · '.join(filter(None, (case, run.run.suite)))}", hang=HANG)
    put(f"{'':<{HANG}}{gap.quote}{'   ' if gap.quote else ''}in {gap.where}", hang=HANG)


def _show_gap(record: GapRecord) -> None:
    gap = record.gap
    parts = [record.name, gap.suite, plural(len(record.cases), "case") if gap.pattern else ""]
    put(f"{gap.id[:SHORT]}  {' · '.join(filter(None, parts))}", hang=HANG)
    since = [f"since {gap.since}" if gap.since else "", f"by {gap.author}" if gap.author else ""]
    put(f"{'':<{HANG}}{gap.text}{'   ' if any(since) else ''}{', '.join(filter(None, since))}", hang=HANG)


@click.command("rm")
@click.argument("gap", metavar="GAP")
@click.option("--suite", default="", metavar="NAME", help="Suite, if several have this case.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@shared_options
def rm(gap: str, suite: str, dry_run: bool, options: Options) -> None:
    """Remove a known gap.

    GAP is its id or the start of it, its case, or its pattern.
    """
    store = options.store
    record = remove_gap(gap, store, suite=suite, dry_run=dry_run)
    if options.json:
        put_json(
            KnownRmOutput(
                gap=record.gap,
                cases=record.cases,
                was=None,
                runs=tuple(one.run.native_id for one in record.runs),
                removed=not dry_run,
                undo=command_line(record.undo),
            )
        )
        return
    put_field("remove" if dry_run else "removed", f"{record.gap.id[:SHORT]} · {record.name}: {record.gap.text}")
    if dry_run:
        put_field("", "nothing was removed")
        return
    _put_next(record, store, "stops suggesting KNOWN_GAP")
    put_undo(record.undo)
