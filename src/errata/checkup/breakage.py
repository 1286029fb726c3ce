"""Did the machinery work, and could the subject work at all?"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from errata.checkup.delivery import errors_explain_it
from errata.checkup.survey import HinderedAttempts, RunSurvey
from errata.checkup.words import (
    QUOTE_WIDTH,
    at_run,
    finding,
    names,
    phases_in_words,
    quote_commonest_errors,
    quote_errors,
)
from errata.model import Evidence, Finding, Unreadable
from errata.model.obstacles import runs_with_tools
from errata.model.run import RUNNING, is_running
from errata.model.times import is_local, parse
from errata.model.words import Severity
from errata.render.figures import percent, plural
from errata.text.clean import one_line

UNAVAILABLE_FROM = 3
MUCH = 0.2
MOST = 0.5
"""From this share on, the run shows more about its infrastructure than about its subject."""
DEAD_AFTER_HOURS = 1


def unavailable(survey: RunSurvey) -> Iterator[Finding]:
    """Every attempt ended in one and the same error and used no tokens: nothing was tested."""
    if survey.rows < UNAVAILABLE_FROM or survey.with_tokens or len(survey.errored) != 1:
        return
    ((message, often),) = survey.errored.items()
    if often == survey.rows and survey.outcomes["pass"] == survey.outcomes["fail"] == 0:
        text = f"all {often:,} attempts failed with the same error and used no tokens"
        yield finding(
            survey, "unavailable", "error", text, quote_errors([survey.error_sample[message]]), attempts=often
        )


def errors_by_phase(survey: RunSurvey) -> Iterator[Finding]:
    if survey.with_error and survey.rows and not errors_explain_it(survey):
        # passes that the harness counts without a row had none
        made = survey.rows + (survey.passes_without_rows or 0)
        much, most = (survey.with_error / made >= limit for limit in (MUCH, MOST))
        share = percent(survey.with_error / made, 0)
        phases = phases_in_words(survey)
        text = f"{survey.with_error} of {plural(made, 'attempt')} ({share}) had errors{f': {phases}' if phases else ''}"
        yield finding(
            survey,
            "errors",
            "error" if most else "warning" if much else "info",
            text,
            quote_commonest_errors(survey),
            attempts=survey.with_error,
        )


def several_sessions(survey: RunSurvey) -> Iterator[Finding]:
    sessions = survey.run.sessions
    if len(sessions) > 1:
        text = f"{len(sessions)} sessions in one folder; strict and as_reported use the latest, clean falls back to an "
        text += "earlier session where the latest broke"
        evidence = [
            Evidence(
                quote="",
                stated=f"session {session.number}, {session.started_at or 'no time'}: {session.pattern}",
                ref=session.ref,
            )
            for session in sessions
        ]
        yield finding(survey, "several_sessions", "warning", text, evidence, sessions=len(sessions))


def dead_process(survey: RunSurvey) -> Iterator[Finding]:
    """The log states that it is running, but nothing has changed for a long time."""
    for process in _processes(survey):
        status, beat = str(process.get("status", "")), process.get("heartbeat")
        hours = _hours_since(beat, survey.now)
        if status in RUNNING and hours is not None and hours > DEAD_AFTER_HOURS:
            name = process.get("name") or "the run"
            text = f"{name} is marked `{status}`, but its process {process.get('pid', '')} last reported at {beat}"
            evidence = [Evidence(quote="", stated=f"status {status}, last heartbeat {beat}", ref=survey.run.ref)]
            yield finding(survey, "dead_process", "warning", text, evidence, hours=round(hours, 1))


def _processes(survey: RunSurvey) -> list[dict[str, Any]]:
    """As stated in the log, so of any shape."""
    processes = survey.run.environment.get("processes")
    return [process for process in processes if isinstance(process, dict)] if isinstance(processes, list) else []


def _hours_since(beat: Any, now: datetime) -> float | None:
    if not isinstance(beat, str) or is_local(beat):
        return None
    try:
        return (now - parse(beat)).total_seconds() / 3600
    except (ValueError, TypeError):
        return None


def run_not_completed(survey: RunSurvey) -> Iterator[Finding]:
    status = survey.run.native_status
    if status in ("failed", "error", "cancelled", "interrupted", "aborted"):
        text = f"the harness calls the whole run `{one_line(status, QUOTE_WIDTH)}`"
        yield finding(
            survey, "run_not_completed", "warning", text, [Evidence(quote="", stated=status, ref=survey.run.ref)]
        )
    elif is_running(survey.run) and not _processes(survey):
        text = f"the harness reports the run as `{status}`: results may be incomplete"
        yield finding(
            survey, "run_not_completed", "warning", text, [Evidence(quote="", stated=status, ref=survey.run.ref)]
        )


STATUSES_NAMED = 5


def unknown_statuses(survey: RunSurvey) -> Iterator[Finding]:
    """Status words that the source does not know may mean that nothing was measured."""
    words = survey.unknown_statuses
    if not words:
        return
    named = ", ".join(f"{often} × `{one_line(word, 40)}`" for word, often in words.most_common(STATUSES_NAMED))
    more = len(words) - STATUSES_NAMED
    text = f"{plural(words.total(), 'attempt')} ended with an unknown status word: {named}"
    text += f" and {plural(more, 'other word')}" if more > 0 else ""
    evidence = [
        Evidence(quote=one_line(word, QUOTE_WIDTH), ref=survey.status_sample[word].ref)
        for word, _ in words.most_common(STATUSES_NAMED)
        if word in survey.status_sample
    ]
    yield finding(survey, "unknown_statuses", "warning", text, evidence, attempts=words.total(), words=len(words))


def unreadable_items(survey: RunSurvey) -> Iterator[Finding]:
    items = [item for item in survey.unreadables if item.is_lost]
    if items:
        text = f"{plural(len(items), 'item')} of the log could not be read"
        yield finding(survey, "unreadable", "warning", text, _quoted(items), items=len(items))


def damaged_values(survey: RunSurvey) -> Iterator[Finding]:
    """Rows that were read except for a character or a number."""
    items = [item for item in survey.unreadables if item.in_part]
    if items:
        rows = plural(len(items), "item of the log has", "items of the log have")
        text = f"{rows} a damaged character or number; the rest of each was read"
        yield finding(survey, "damaged_values", "warning", text, _quoted(items), items=len(items))


def _quoted(items: Sequence[Unreadable]) -> list[Evidence]:
    return [
        Evidence(stated=one_line(item.why, QUOTE_WIDTH), quote=one_line(item.excerpt, QUOTE_WIDTH), ref=item.ref)
        for item in items[:5]
    ]


def thinned_transcripts(survey: RunSurvey) -> Iterator[Finding]:
    if survey.thinned.count:
        attempts = "1 transcript was" if survey.thinned.count == 1 else f"{survey.thinned.count:,} transcripts were"
        text = f"{attempts} thinned on {survey.thinned_at[:10]} to the steps that verdicts and evidence cite"
        yield finding(survey, "thinned", "info", text, at_run(survey), attempts=survey.thinned.count)


def row_order(survey: RunSurvey) -> Iterator[Finding]:
    if survey.out_of_order:
        text = "rows are not in the order of the cases; errata sorts them"
        yield finding(survey, "row_order", "info", text, at_run(survey))


FEWEST = 3
HINDERED = 0.25
"""From this share on the run measures its machinery, not its subject."""

FINDINGS = {
    "agent_not_installed": ("not_installed", "had no agent program: it was not installed"),
    "agent_crashed": ("crashed", "ended in a crash of the agent program"),
    "setup_failed": ("not_set_up", "could not be set up"),
    "tool_channel_broken": ("tool_calls", "have tool calls that look mangled or arrived as text"),
    "empty_final_turns": ("empty_turn", "ended with an empty answer of the model"),
}
"""Finding → what is counted for it, and its text."""


def hindered_subject(survey: RunSurvey) -> Iterator[Finding]:
    for name, (kind, text) in FINDINGS.items():
        seen = _tool_calls(survey) if kind == "tool_calls" else survey.hindered.get(kind)
        if seen is not None:
            severity = _severity(survey, seen)
            yield finding(survey, name, severity, _text(survey, seen, text), _evidence(seen), attempts=seen.count)


def _tool_calls(survey: RunSurvey) -> HinderedAttempts | None:
    """Calls that arrived mangled; with those written as text, if the run offers tools.

    Without tools a call can only be written, and the task may ask for it.
    """
    mangled, written = survey.hindered.get("tool_calls"), survey.hindered.get("written_calls")
    if written is None or not runs_with_tools(survey.with_calls, written.count):
        return mangled
    return _sum(mangled, written) if mangled is not None else written


def _sum(first: HinderedAttempts, other: HinderedAttempts) -> HinderedAttempts:
    return HinderedAttempts(
        count=first.count + other.count,
        first=[*first.first, *other.first],
        cases=first.cases | other.cases,
        shown=first.shown,
    )


def _severity(survey: RunSurvey, seen: HinderedAttempts) -> Severity:
    return "error" if seen.count >= max(FEWEST, HINDERED * survey.rows) else "warning"


def _text(survey: RunSurvey, seen: HinderedAttempts, text: str) -> str:
    share = f"{seen.count:,} of {survey.rows:,} attempts ({percent(seen.count / survey.rows, 0)})"
    return f"{share} {text}: {names(survey, seen)}"


def _evidence(seen: HinderedAttempts) -> list[Evidence]:
    return [seen.shown] if seen.shown is not None else []
