"""Runs that nobody judged: what their transcripts show by themselves, counted as neither passed nor failed."""

from collections import Counter
from collections.abc import Iterator, Sequence

from errata.compare.patterns import pattern_of
from errata.model import Attempt, Case, StoredRun
from errata.model.codec import to_whole
from errata.model.output.report.transcripts import Row, Run, TranscriptReport
from errata.model.run import case_name
from errata.report.comparison_rows import as_json, asked_in, calls_in, turn_of
from errata.runs.summary import check_run
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of, cases_of
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.triage.calls import made_calls, required_calls, same_calls

MEANINGS = {
    "MODEL_ENDED_SESSION": "the model ended the session here",
    "MODEL_ENDED_SESSION_EARLY": "filled in by the harness: the session was over",
    "EMPTY_RESPONSE": "no answer came",
}


def transcript_report(runs: Sequence[StoredRun], store: Store, *, made: str) -> TranscriptReport:
    labels = _labels(runs)
    rows = [list(_rows(one, label, store)) for one, label in zip(runs, labels, strict=True)]
    first = runs[0].run
    are_turns = all(row.turn is not None for some in rows for row in some)
    return TranscriptReport(
        suite=first.suite or first.source.name,
        made=made,
        case_word="turn" if are_turns else "case",
        runs=tuple(_run(*each, store) for each in zip(runs, labels, rows, strict=True)),
        rows=tuple(row for some in rows for row in some),
    )


def _labels(runs: Sequence[StoredRun]) -> list[str]:
    """The model; with a number where it has several runs."""
    models = [one.run.subject.model or one.run.native_id for one in runs]
    often, seen = Counter(models), Counter[str]()
    labels = []
    for model in models:
        seen[model] += 1
        labels.append(model if often[model] == 1 else f"{model} run {seen[model]}")
    return labels


def _run(stored: StoredRun, label: str, rows: Sequence[Row], store: Store) -> Run:
    missing = tuple(row.case for row in rows if MISSING in row.flags)
    seen = Counter(row.case for row in rows)
    said = attributions_of(store, stored.pk)
    patterns = Counter(pattern_of(one, said.get(one.id)) for one in attempts_of(store, stored.pk, counted=True))
    findings = check_run(stored, store).findings
    return Run(
        label=label,
        native_id=stored.run.native_id,
        model=stored.run.subject.model,
        rows=len(rows) - len(missing),
        expected=stored.run.expected_cases,
        missing=missing,
        repeated=tuple(case for case, often in seen.items() if often > 1),
        patterns={name: often for name, often in sorted(patterns.items()) if name},
        findings=tuple(one.text for one in findings if one.severity in ("error", "warning")),
        flagged=sum(bool(row.flags) for row in rows),
    )


def _rows(stored: StoredRun, label: str, store: Store) -> Iterator[Row]:
    triage_if_needed(stored, store)
    said = attributions_of(store, stored.pk)
    cases = {one.key: one for one in cases_of(store, stored.pk)}
    for attempt in attempts_of(store, stored.pk, steps=True, by_position=True):
        if attempt.parent is None:
            case = cases.get(attempt.case)
            flags = tuple(_flags(attempt, case, pattern_of(attempt, said.get(attempt.id))))
            yield _row(stored, label, attempt, case, flags)


def _row(stored: StoredRun, label: str, attempt: Attempt, case: Case | None, flags: tuple[str, ...]) -> Row:
    name = case_name(stored.run, attempt.case)
    made = [call for step in attempt.steps for call in step.tool_calls]
    wanted = case.expected if case is not None else None
    golden = wanted.get("golden_text") if isinstance(wanted, dict) else wanted
    required = wanted.get("required_function_call") if isinstance(wanted, dict) else None
    return Row(
        run=stored.run.native_id,
        label=label,
        model=stored.run.subject.model,
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
    )


MISSING = "no row"


def _flags(attempt: Attempt, case: Case | None, pattern: str) -> Iterator[str]:
    """Facts that a person should see first; a verdict is made of none of them."""
    if attempt.execution == "missing":
        yield MISSING
        return
    if pattern:
        yield f"{pattern}: {MEANINGS.get(pattern, 'something stands in the place of an answer')}"
    if attempt.duplicate_of is not None or attempt.superseded_by is not None:
        yield "the turn has several rows"
    calls = [call for step in attempt.steps for call in step.tool_calls]
    if not (attempt.output.text or "").strip() and not calls and not pattern:
        yield "neither a text nor a call"
    if any(call.error is not None or (call.result is not None and call.result.is_error) for call in calls):
        yield "a tool call failed"
    if not pattern:
        yield from _against_the_reference(attempt, case)


def _against_the_reference(attempt: Attempt, case: Case | None) -> Iterator[str]:
    required = required_calls(case.expected) if case is not None and isinstance(case.expected, dict | list) else ()
    made = made_calls(attempt)
    if required and not made:
        yield "the reference calls a tool, and none was called"
    elif required and not same_calls(made, required):
        yield "other calls than in the reference"
    elif made and not required and case is not None and case.expected is not None:
        yield "a call that the reference does not have"
