"""`errata sessions`."""

from collections.abc import Iterable

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import money, plural, put, put_json
from errata.cli.render.runs import title_of
from errata.cli.table import put_parts, put_table
from errata.compare.sessions import Cascade, HiddenResult, SessionSummary, Timeline
from errata.model import Run
from errata.model.output.compare import SessionsOutput
from errata.model.run import case_name
from errata.runs.names import handle_of, runs_named
from errata.text.clean import one_line
from errata.verbs.compare import sessions

ERROR = 160


@click.command("sessions")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """Tell the sessions of RUNS, what the latest one hides, and cascades."""
    store = options.store
    for at, stored in enumerate(runs_named(runs, store)):
        found = sessions(stored, store)
        if options.json:
            put_json(_json_of(stored.run, found))
            continue
        if at:
            put()
        put(title_of(stored.run, handle_of(stored, store)))
        put()
        _show(found, stored.run)


def _json_of(run: Run, found: Timeline) -> SessionsOutput:
    named = {"run": run.native_id, "run_id": run.id}
    return msgspec.convert(named | msgspec.to_builtins(found), SessionsOutput)


def _show(found: Timeline, run: Run) -> None:
    several = len(found.sessions) > 1
    if several:
        _show_sessions(found.sessions)
        put()
        _show_changes(found, run)
    else:
        put("One session: nothing is hidden by a later one")
    for cascade in found.cascades:
        put()
        _show_cascade(cascade, run)
    if not found.cascades:
        put("Cascade  none: no failure follows from another")


def _show_sessions(sessions: Iterable[SessionSummary]) -> None:
    rows = [
        (one.number, _when(one), one.tried, one.passed, one.failed, one.not_measured, money(one.cost, 2))
        for one in sessions
    ]
    header = ("session", "UTC", "tried", "passed", "failed", "not measured", "cost")
    numbers = ("session", "tried", "passed", "failed", "not measured", "cost")
    put_table(header, rows, right=numbers, below=[_below(one) for one in sessions])


def _when(one: SessionSummary) -> str:
    """The day once, where it ended on the day it began."""
    start, end = ((moment or "")[:19].replace("T", " ") for moment in (one.started_at, one.finished_at))
    if not start and not end:
        return "–"
    return f"{start or '…'} – {(end[11:] if end[:10] == start[:10] else end) or '…'}"


def _below(one: SessionSummary) -> str:
    """What it tried to do, and how its programs ended, as far as the log tells."""
    codes = ", ".join(f"{code} for {often:,}" for code, often in one.exit_codes.items())
    told = f"exit codes: {codes}" if set(one.exit_codes) - {"none"} else ""
    return " · ".join(part for part in (one.pattern, told) if part)


def _show_changes(found: Timeline, run: Run) -> None:
    passed, failed = found.hidden_passes, found.hidden_fails
    put_parts("Hidden", _named(passed, run), f"passed before, not now: {_counted(passed)}")
    put_parts("", _named(failed, run), f"failed before, not measured now: {_counted(failed)}")
    never = [case_name(run, case) for case in found.never_measured]
    put_parts("Never", never or ["–"], f"measured in no session: {plural(len(never), 'case')}")


def _named(changes: Iterable[HiddenResult], run: Run) -> list[str]:
    return [case_name(run, one.case) for one in changes] or ["–"]


def _counted(changes: tuple[HiddenResult, ...]) -> str:
    costs = [one.cost for one in changes if one.cost is not None]
    spent = f", {money(sum(costs), 2)} spent on them" if costs else ""
    return f"{plural(len(changes), 'case')}{spent}"


def _show_cascade(cascade: Cascade, run: Run) -> None:
    root = case_name(run, cascade.case) if cascade.case else cascade.root
    put(f"Cascade  {root} is the root: one thing to mend, {plural(len(cascade.followers), 'follower')}", hang=9)
    if cascade.error:
        put(f"           > {one_line(cascade.error, ERROR)}", hang=13)
    put_parts("", [case_name(run, case) for case in cascade.followers])
