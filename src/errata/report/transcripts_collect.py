"""Runs that nobody judged: what their transcripts show by themselves, counted as neither passed nor failed."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from errata.compare.summaries import pattern_of
from errata.model import Attempt, Case
from errata.model.codec import to_whole
from errata.model.output.report.transcripts import (
    Flag,
    TranscriptReport,
    TranscriptRow,
    TranscriptRun,
    TranscriptVerdict,
)
from errata.model.run import case_name
from errata.report.comparison_rows import as_json, asked_in, calls_in, turn_of
from errata.report.shared import finding_facts
from errata.runs.view import RunView
from errata.transcript.calls import made_calls, required_calls, same_calls


def transcript_report(views: Sequence[RunView], *, made: str) -> TranscriptReport:
    """`made` is the day of the analysis."""
    labels = _labels(views)
    rows = [list(_rows(view, label)) for view, label in zip(views, labels, strict=True)]
    first = views[0].run
    are_turns = all(row.turn is not None for some in rows for row in some)
    return TranscriptReport(
        suite=first.suite or first.source.name,
        made=made,
        case_word="turn" if are_turns else "case",
        runs=tuple(_run(*each) for each in zip(views, labels, rows, strict=True)),
        rows=tuple(row for some in rows for row in some),
    )


def _labels(views: Sequence[RunView]) -> list[str]:
    """The model; with a number where it has several runs."""
    models = [view.run.subject.model or view.run.native_id for view in views]
    often, seen = Counter(models), Counter[str]()
    labels = []
    for model in models:
        seen[model] += 1
        labels.append(model if often[model] == 1 else f"{model} run {seen[model]}")
    return labels


def _run(view: RunView, label: str, rows: Sequence[TranscriptRow]) -> TranscriptRun:
    missing = tuple(row.case for row in rows if any(flag.kind == "no_row" for flag in row.flags))
    seen = Counter(row.case for row in rows)
    patterns = Counter(pattern_of(one, view.attributions.get(one.id)) for one in view.attempts(counted=True))
    return TranscriptRun(
        label=label,
        native_id=view.run.native_id,
        model=view.run.subject.model,
        rows=len(rows) - len(missing),
        expected=view.run.expected_cases,
        missing=missing,
        repeated=tuple(case for case, often in seen.items() if often > 1),
        patterns={name: often for name, often in sorted(patterns.items()) if name},
        findings=tuple(finding_facts(view.health.findings, run=label)),
        flagged=sum(bool(row.flags) for row in rows),
    )


def _rows(view: RunView, label: str) -> Iterator[TranscriptRow]:
    cases = view.case_book()
    for attempt in view.attempts(steps=True, by_position=True):
        if attempt.parent is None:
            case = cases.of(attempt)
            pattern = pattern_of(attempt, view.attributions.get(attempt.id))
            yield _row(view, label, attempt, case, tuple(_flags(attempt, case, pattern)))


def _row(view: RunView, label: str, attempt: Attempt, case: Case | None, flags: tuple[Flag, ...]) -> TranscriptRow:
    name = case_name(view.run, attempt.case)
    made = [call for step in attempt.steps for call in step.tool_calls]
    wanted = case.expected if case is not None else None
    golden = wanted.get("golden_text") if isinstance(wanted, dict) else wanted
    required = wanted.get("required_function_call") if isinstance(wanted, dict) else None
    return TranscriptRow(
        run=view.run.native_id,
        label=label,
        model=view.run.subject.model,
        case=turn_of(name) or name,
        turn=int(turn) if (turn := turn_of(name)) else None,
        flags=flags,
        input=asked_in(case, attempt),
        output=attempt.output.text or attempt.output.answer or "",
        calls=tuple(calls_in(attempt)),
        calls_json=as_json([{"name": one.name, "args": one.arguments or one.arguments_raw} for one in made]),
        results_json=as_json([{"name": one.name, "response": to_whole(one.result)} for one in made if one.result]),
        expected="" if golden is None else as_json(golden),
        required_json="" if required is None else as_json(required),
        verdict=_verdict(view, attempt),
    )


def _verdict(view: RunView, attempt: Attempt) -> TranscriptVerdict | None:
    review = view.standings.get(attempt.id)
    if review is None:
        return None
    return msgspec.convert(review.standing.verdict, TranscriptVerdict, from_attributes=True)


def _flags(attempt: Attempt, case: Case | None, pattern: str) -> Iterator[Flag]:
    """Facts that a person should see first; a verdict is made of none of them."""
    if attempt.execution == "missing":
        yield Flag(kind="no_row")
        return
    if pattern:
        yield Flag(kind="in_place_of_answer", pattern=pattern)
    if attempt.duplicate_of is not None or attempt.superseded_by is not None:
        yield Flag(kind="several_rows")
    calls = [call for step in attempt.steps for call in step.tool_calls]
    if not (attempt.output.text or "").strip() and not calls and not pattern:
        yield Flag(kind="empty")
    if any(call.error is not None or (call.result is not None and call.result.is_error) for call in calls):
        yield Flag(kind="tool_failed")
    if not pattern:
        yield from _against_the_reference(attempt, case)


def _against_the_reference(attempt: Attempt, case: Case | None) -> Iterator[Flag]:
    required = required_calls(case.expected) if case is not None and isinstance(case.expected, dict | list) else ()
    made = made_calls(attempt)
    if required and not made:
        yield Flag(kind="no_call")
    elif required and not same_calls(made, required):
        yield Flag(kind="other_calls")
    elif made and not required and case is not None and case.expected is not None:
        yield Flag(kind="extra_call")
