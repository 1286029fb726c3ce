"""The failed rows of the runs of a comparison: rows with a failed dimension, whatever their outcome."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from errata.compare.comparison import Comparison
from errata.model import Attempt, Case
from errata.model.output.report.comparison import CallText, Datapoint
from errata.model.run import case_name
from errata.model.step import Step, ToolCall
from errata.model.words import ProofReason
from errata.runs.view import RunView
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import short_line

APPLIES = ("pass", "fail")
NO_VERDICT = ("unscored", "error")
CALL = 160
_NUMBERED = lazy_regex(r" #(\d+)$")
_TURN = lazy_regex(r"turn-(\d+)")


class FailedRow(NamedTuple):
    attempt: Attempt
    """Without its transcript."""
    name: str
    failed: tuple[str, ...]
    """Dimensions."""
    follows: bool


@dataclass
class ComparedRun:
    """One run of a comparison, with its failed rows."""

    label: str
    view: RunView
    rows: list[FailedRow] = field(default_factory=list)
    no_verdict: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unmeasured: list[tuple[Attempt, str]] = field(default_factory=list)
    """Missing, without an answer or without a verdict; each with its name."""
    made: int = 0
    judged: int = 0
    passed: int = 0
    applicable: Counter[str] = field(default_factory=Counter)
    order: dict[str, int] = field(default_factory=dict)
    """Dimension → its place among the checks."""

    def add(self, attempt: Attempt, name: str) -> None:
        if attempt.execution in ("missing", "error") or attempt.measurement in (*NO_VERDICT, "not_run"):
            self.unmeasured.append((attempt, name))
        if attempt.execution == "missing":
            self.missing.append(name)
            return
        self.made += 1
        self.judged += attempt.measurement == "scored"
        self.passed += attempt.outcome == "pass"
        for check in (one for one in attempt.checks if one.counts):
            self.order.setdefault(check.name, check.order)
            self.applicable[check.name] += check.status in APPLIES
        if is_failed_row(attempt):
            attribution = self.view.attributions.get(attempt.id)
            follows = bool(attempt.follows or (attribution is not None and attribution.follows))
            self.rows.append(FailedRow(attempt, name, attempt.failed_checks, follows))
        elif attempt.measurement in NO_VERDICT:
            self.no_verdict.append(name)


def is_failed_row(attempt: Attempt) -> bool:
    """A failed dimension, whatever the outcome of the row; or a failure without any measurement."""
    return bool(attempt.failed_checks) or (attempt.is_failure and attempt.measurement not in NO_VERDICT)


def turn_of(name: str) -> str:
    """The number of a turn; empty for any other case."""
    match = _TURN.fullmatch(name)
    return match[1] if match is not None else ""


class ReportedCaseNames:
    """Cases as people call them: `24` where all of them are turns."""

    def __init__(self, comparison: Comparison) -> None:
        self._run = comparison.runs[0].runs[0].run
        self.are_turns = all(turn_of(case_name(self._run, case)) for case in comparison.matrix.rows)

    def name_of(self, case: str) -> str:
        name = case_name(self._run, case)
        return turn_of(name) if self.are_turns else name

    def of(self, cases: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.name_of(case) for case in cases)

    def short(self, name: str) -> str:
        """Of the harness's own name."""
        return turn_of(name) or name if self.are_turns else name


def called(label: str) -> str:
    """`voice-alpha run 2` of `voice-alpha #2`, which a git host would take for a reference to an issue."""
    return _NUMBERED.sub(r" run \1", label)


def compared_cases(comparison: Comparison) -> Collection[str] | None:
    """The cases that a report is about, where these are not all that the runs have."""
    return comparison.matrix.rows.keys() if comparison.options.common else None


def collect_rows(
    label: str, view: RunView, names: ReportedCaseNames, cases: Collection[str] | None = None
) -> ComparedRun:
    """One pass over the counted attempts, of these cases only where some are named."""
    run = ComparedRun(called(label), view)
    for attempt in view.attempts(counted=True):
        if cases is not None and attempt.case not in cases:
            continue
        run.add(attempt, names.name_of(attempt.case))
    run.rows.sort(key=lambda row: (row.attempt.position is None, row.attempt.position or 0, row.attempt.case))
    return run


def owner_of(row: FailedRow, run: ComparedRun) -> str:
    """By review, else by rule."""
    review = run.view.standings.get(row.attempt.id)
    if review is not None:
        return review.standing.verdict.owner
    attribution = run.view.attributions.get(row.attempt.id)
    return attribution.owner if attribution is not None else "unknown"


def sureness_of(row: FailedRow, run: ComparedRun) -> str:
    """`reviewed`, or the confidence of the rule that decided."""
    if row.attempt.id in run.view.standings:
        return "reviewed"
    attribution = run.view.attributions.get(row.attempt.id)
    return attribution.confidence if attribution is not None else ""


def proofs_of(run: ComparedRun) -> tuple[int, Counter[ProofReason]]:
    """Of the model's rows that nobody has reviewed: how many evidence supports, and why the others are presumed."""
    supported, presumed = 0, Counter[ProofReason]()
    for row in run.rows:
        attribution = run.view.attributions.get(row.attempt.id)
        if attribution is None or row.attempt.id in run.view.standings:
            continue
        supported += attribution.proof == "shown"
        presumed[attribution.proof_reason] += attribution.proof == "presumed"
    return supported, +presumed


def datapoint(row: FailedRow, run: ComparedRun) -> Datapoint:
    """The row as in the log: input, output, calls with their results, the judge's reasoning."""
    tries = run.view.attempts(case=row.attempt.case, steps=True)
    whole = next((one for one in tries if one.id == row.attempt.id), row.attempt)
    review = run.view.standings.get(row.attempt.id)
    verdict = review.standing.verdict if review is not None else None
    return Datapoint(
        run=run.label,
        case=row.name,
        input=asked_in(run.view.case_for(row.attempt), whole),
        output=whole.output.text or whole.output.answer or "",
        calls=tuple(calls_in(whole)),
        judge=next((one.reasoning for one in whole.objections or whole.judgements if one.reasoning), "")
        or _explained(whole),
        failed=row.failed,
        read=verdict is not None,
        cause=verdict.cause if verdict is not None else "",
        consequences=verdict.consequences if verdict is not None else (),
    )


def asked_in(case: Case | None, attempt: Attempt | None = None) -> str:
    """The input from the benchmark, else from the transcript."""
    if case is not None and isinstance(case.input, str) and case.input:
        return case.input
    steps = attempt.steps if attempt is not None else ()
    return next((step.text for step in steps if step.actor.role == "user" and step.text), "")


def _explained(attempt: Attempt) -> str:
    return next((check.explanation for check in attempt.checks if check.status == "fail" and check.explanation), "")


def calls_in(attempt: Attempt) -> Iterator[CallText]:
    """Each with its result; a result without a call comes alone."""
    for step in attempt.steps:
        for call in step.tool_calls:
            yield CallText(call=short_line(_call_text(call), CALL), result=short_line(_came_back(call), CALL))
        if step.kind == "tool_result" and (text := _result_in(step)):
            yield CallText(call="", result=short_line(text, CALL))


def _call_text(call: ToolCall) -> str:
    arguments = call.arguments_raw or ("" if call.arguments in (None, {}) else as_json(call.arguments))
    again = " (repeated)" if call.is_duplicate else ""
    return f"{call.name} {arguments}".strip() + again


def _came_back(call: ToolCall) -> str:
    if call.error is not None:
        return f"{call.error.type}: {call.error.message}"
    if call.result is None:
        return ""
    return call.result.text or ("" if call.result.structured is None else as_json(call.result.structured))


def _result_in(step: Step) -> str:
    return step.text or next((as_json(part["response"]) for part in step.parts if "response" in part), "")


def as_json(value: Any) -> str:
    """A text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
