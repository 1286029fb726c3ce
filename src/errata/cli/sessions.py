"""`errata sessions`."""

from collections.abc import Iterable, Sequence

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import money, plural, put, put_json
from errata.cli.render.runs import title_of
from errata.cli.table import put_parts, put_table
from errata.compare.sessions import Timeline
from errata.json_output.runs import sessions_output
from errata.model import Run
from errata.model.output.compare import CascadeOutput, HiddenResultOutput, SessionOutput
from errata.model.run import case_name
from errata.runs.names import handle_of, runs_named
from errata.text.clean import one_line
from errata.verbs.compare import sessions

ERROR = 160


@click.command("sessions")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@shared_options
def command(runs: tuple[str, ...], options: Options) -> None:
    """List the sessions of a resumed run and what each one replaced.

    A session is one of several executions with results in one folder. Also lists knock-on failures.
    """
    store = options.store
    for at, stored in enumerate(runs_named(runs, store)):
        timeline = sessions(stored, store)
        if options.json:
            put_json(sessions_output(stored.run, timeline))
            continue
        if at:
            put()
        put(title_of(stored.run, handle_of(stored, store)))
        put()
        _show(timeline, stored.run)


def _show(timeline: Timeline, run: Run) -> None:
    several = len(timeline.sessions) > 1
    if several:
        _show_sessions(timeline.sessions)
        put()
        _show_changes(timeline, run)
    else:
        put("1 session; no result was replaced")
    for cascade in timeline.cascades:
        put()
        _show_cascade(cascade, run)
    if not timeline.cascades:
        put("No knock-on failures")


def _show_sessions(sessions: Iterable[SessionOutput]) -> None:
    rows = [
        (
            session.number,
            _when(session),
            session.tried,
            session.passed,
            session.failed,
            session.not_measured,
            money(session.cost, 2),
        )
        for session in sessions
    ]
    header = ("session", "UTC", "tried", "passed", "failed", "not measured", "cost")
    numbers = ("session", "tried", "passed", "failed", "not measured", "cost")
    put_table(header, rows, right=numbers, below=[_below(one) for one in sessions], below_lines=0)


def _when(session: SessionOutput) -> str:
    """The date once, if it ended on the day it started."""
    start, end = ((moment or "")[:19].replace("T", " ") for moment in (session.started_at, session.finished_at))
    if not start and not end:
        return "–"
    return f"{start or '…'} – {(end[11:] if end[:10] == start[:10] else end) or '…'}"


def _below(session: SessionOutput) -> str:
    """The pattern of cases it ran, and the exit codes of its programs, if the log has them."""
    codes = ", ".join(f"{code} for {often:,}" for code, often in session.exit_codes.items())
    exit_codes = f"exit codes: {codes}" if set(session.exit_codes) - {"none"} else ""
    return " · ".join(part for part in (session.pattern, exit_codes) if part)


def _show_changes(timeline: Timeline, run: Run) -> None:
    kinds: dict[str, list[HiddenResultOutput]] = {}
    for change in (*timeline.hidden_passes, *timeline.hidden_fails):
        was, now = _RESULTS[change.was], _RESULTS[change.now]
        kinds.setdefault(f"{was} earlier, {now} in the latest session", []).append(change)
    for at, (kind, changes) in enumerate(kinds.items()):
        put_parts("" if at else "Lost", [case_name(run, one.case) for one in changes], f"{kind}: {_counted(changes)}")
    if not kinds:
        put("Lost     no result of an earlier session")
    never = [case_name(run, case) for case in timeline.never_measured]
    put_parts("Never", never or ["–"], f"measured in no session: {plural(len(never), 'case')}")


_RESULTS = {"pass": "passed", "fail": "failed", "not measured": "not measured"}


def _counted(changes: Sequence[HiddenResultOutput]) -> str:
    costs = [one.cost for one in changes if one.cost is not None]
    spent = f", {money(sum(costs), 2)} spent" if costs else ""
    return f"{plural(len(changes), 'case')}{spent}"


def _show_cascade(cascade: CascadeOutput, run: Run) -> None:
    root = case_name(run, cascade.case) if cascade.case else cascade.root
    count = plural(len(cascade.followers), "failure follows", "failures follow")
    put(f"Knock-on {count} from {root}", hang=9)
    if cascade.error:
        put(f"           > {one_line(cascade.error, ERROR)}", hang=13)
    put_parts("", [case_name(run, case) for case in cascade.followers])
