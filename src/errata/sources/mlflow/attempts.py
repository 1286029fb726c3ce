"""A trace and its assessments → its case, its attempt and its checks.

MLflow runs its scorers on whatever there is, so a call that broke is scored, too: on nothing. Feedback is a
measurement, an expectation belongs to the case.
"""

from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Check, CheckEdit, ErrorInfo, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.identity import case_key_of_input
from errata.model.words import Execution, ScorerKind
from errata.sources.mlflow.traces import Trace, decoded, seconds_of, span_of, time_of, usage_in
from errata.sources.shared.chat import reply_text
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.facts import mark_recovered
from errata.sources.shared.scores import facts_of, grade_of, status_of_value
from errata.sources.shared.span_steps import SpanTranscript
from errata.sources.shared.spans import Tree
from errata.sources.shared.values import as_text, mapping, non_empty, number, plain, rest, text

_INFO = frozenset(
    ("trace_id", "request_id", "trace_location", "experiment_id", "request_time", "timestamp_ms", "state", "status",
     "trace_metadata", "request_metadata", "assessments", "execution_duration_ms", "execution_time_ms", "trace",
     "execution_duration", "request", "response", "spans", "request_preview", "response_preview")
)  # fmt: skip
_METADATA = frozenset(
    ("mlflow.sourceRun", "mlflow.traceInputs", "mlflow.traceOutputs", "mlflow.trace.tokenUsage",
     "mlflow.trace_schema.version")
)  # fmt: skip
_STATES: dict[str, Execution] = {"ERROR": "error", "IN_PROGRESS": "unfinished"}
KINDS: dict[str, ScorerKind] = {"LLM_JUDGE": "judge", "AI_JUDGE": "judge", "HUMAN": "human"}
_ASSESSMENT = frozenset(
    ("assessment_id", "assessment_name", "trace_id", "span_id", "source", "create_time", "feedback", "expectation",
     "rationale", "valid", "overrides")
)  # fmt: skip


class Told:
    """A trace with its spans in order."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.tree = Tree(
            [span_of(mapping(one), trace.spans_ref.below(at), trace.id) for at, one in enumerate(trace.spans)]
        )
        self.transcript = SpanTranscript(self.tree)

    @property
    def asked(self) -> Any:
        top = self.tree.top
        told = (top.input if top else None, self.meta("mlflow.traceInputs"), self.trace.info.get("request"))
        return next((one for one in (*told, self.trace.info.get("request_preview")) if one is not None), None)

    @property
    def answered(self) -> Any:
        top = self.tree.top
        told = (top.output if top else None, self.meta("mlflow.traceOutputs"), self.trace.info.get("response"))
        return next((one for one in (*told, self.trace.info.get("response_preview")) if one is not None), None)

    def meta(self, name: str) -> Any:
        return decoded(self.trace.metadata.get(name)) if self.trace.metadata.get(name) else None

    @property
    def case(self) -> str:
        return case_key_of_input("", plain(self.asked)) if self.asked is not None else self.trace.id


def case_of(run: Run, told: Told) -> Case:
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=told.case,
        name=told.trace.name,
        input=plain(told.asked),
        expected=plain(expected_of(told.trace)),
        ref=told.trace.ref,
    )


def attempt_of(run: Run, told: Told, primary: str, index: int) -> Attempt:
    trace, transcript = told.trace, told.transcript
    steps = {step.span_id: step.index for step in transcript.steps if step.span_id}
    checks = tuple(checks_of(trace, primary, steps))
    facts = facts_of(_STATES.get(trace.state, "completed"), checks)
    checks = mark_recovered(checks, facts)
    errors = told.tree.errors()
    broken = tuple(check.error for check in checks if check.error and check.counts)
    value = next((grade_of(check.value) for check in checks if check.is_primary), None)
    answer = told.answered
    used = transcript.usage(judged=False)
    return Attempt(
        run=run.id,
        case=case_key(run.suite, told.case),
        native_id=trace.id,
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status=trace.state,
        reported=value,
        reported_counted=value is not None if primary else None,
        output=Output(
            text=None if answer is None else reply_text(answer),
            structured=plain(answer) if isinstance(answer, dict | list) else None,
        ),
        stop_reason=transcript.stopped,
        errors=(*errors, *broken),
        checks=checks,
        steps=transcript.steps,
        usage=UsageByRole(
            subject=used
            if used.tokens is not None
            else usage_in(trace.metadata.get("mlflow.trace.tokenUsage")) or used,
            judge=transcript.usage(judged=True),
        ),
        started_at=time_of(trace.get("request_time", "timestamp_ms")),
        duration=_duration(trace),
        extra=_extra(told),
        ref=trace.ref,
    )


def _duration(trace: Trace) -> float | None:
    return seconds_of(trace.get("execution_duration_ms", "execution_time_ms"), trace.info.get("execution_duration"))


def _extra(told: Told) -> dict[str, Any]:
    trace = told.trace
    asked, given = told.meta("mlflow.traceInputs"), told.meta("mlflow.traceOutputs")
    total = usage_in(trace.metadata.get("mlflow.trace.tokenUsage"))
    spent = told.transcript.usage(judged=False)
    shown, reply = trace.info.get("request_preview"), trace.info.get("response_preview")
    return rest(trace.info, _INFO) | non_empty(
        metadata=rest(trace.metadata, _METADATA),
        inputs=asked if asked != told.asked else None,
        outputs=given if given != told.answered else None,
        request=trace.info.get("request") if trace.info.get("request") != told.asked else None,
        response=trace.info.get("response") if trace.info.get("response") != told.answered else None,
        request_preview=shown,
        response_preview=reply,
        tokens=trace.metadata.get("mlflow.trace.tokenUsage") if not total or total.total != spent.total else None,
        source_run=text(trace.metadata.get("mlflow.sourceRun")),
        steps_left_out=told.transcript.left_out or None,
    )


def checks_of(trace: Trace, primary: str, steps: dict[str, int]) -> Iterator[Check]:
    """`primary` is the scorer of the headline, where there is one: then it alone decides."""
    told = [(one, ref) for one, ref in trace.assessments if isinstance(one.get("feedback"), dict)]
    replaced = {text(one.get("overrides")) for one, _ in told} - {""}
    earlier = {text(one.get("assessment_id")): one for one, _ in told}
    order = 0
    for one, ref in told:
        if text(one.get("assessment_id")) not in replaced:
            edits = tuple(_edits(one, earlier))
            yield _check(one, ref, order=order, primary=primary, trace=trace, steps=steps, edits=edits)
            order += 1


def expected_of(trace: Trace) -> Any:
    """What the answer should have been: one value, or several by their names."""
    found = {
        text(one.get("assessment_name")): _expectation(mapping(one["expectation"]))
        for one, _ in trace.assessments
        if isinstance(one.get("expectation"), dict)
    }
    return next(iter(found.values())) if len(found) == 1 else found or None


def _expectation(told: dict[str, Any]) -> Any:
    serialized = mapping(told.get("serialized_value"))
    return told.get("value") if "value" in told else serialized.get("value")


def value_of(assessment: dict[str, Any]) -> Any:
    value = mapping(assessment.get("feedback")).get("value")
    return value if isinstance(value, bool | str) or value is None else number(value)


def _check(
    one: dict[str, Any],
    ref: SourceRef,
    *,
    order: int,
    primary: str,
    trace: Trace,
    steps: dict[str, int],
    edits: tuple[CheckEdit, ...],
) -> Check:
    name, source = text(one.get("assessment_name")), mapping(one.get("source"))
    feedback = mapping(one.get("feedback"))
    value, error = value_of(one), _error(mapping(feedback.get("error")), ref, name)
    valid = one.get("valid") is not False
    owner = one.get("trace_id")
    return Check(
        name=name,
        status="error" if error else status_of_value(value),
        scorer=text(source.get("source_id")),
        judge=text(source.get("source_id")) if source.get("source_type") in ("LLM_JUDGE", "AI_JUDGE") else "",
        order=order,
        value=value,
        is_primary=name == primary,
        counts=valid and primary in ("", name),
        explanation=as_text(one.get("rationale") or ""),
        error=error,
        step=steps.get(text(one.get("span_id"))),
        history=edits,
        extra=rest(one, _ASSESSMENT)
        | non_empty(
            id=one.get("assessment_id"),
            at=one.get("create_time"),
            source=source.get("source_type"),
            valid=None if valid else False,
            overrides=one.get("overrides"),
            span_id=one.get("span_id") if text(one.get("span_id")) not in steps else None,
            trace=owner if owner != trace.id else None,
            feedback=rest(feedback, ("value", "error")),
        ),
        ref=ref,
    )


def _edits(one: dict[str, Any], earlier: dict[str, dict[str, Any]]) -> Iterator[CheckEdit]:
    """The values that this one was put in the place of, the oldest first."""
    chain: list[dict[str, Any]] = []
    while (before := earlier.get(text(one.get("overrides")))) is not None and before not in chain:
        chain.append(before)
        one = before
    for before in reversed(chain):
        by = text(mapping(before.get("source")).get("source_id"))
        yield CheckEdit(
            value=value_of(before), by=by, at=time_of(before.get("create_time")), why=text(before.get("rationale"))
        )


def _error(told: dict[str, Any], ref: SourceRef, name: str) -> ErrorInfo | None:
    if not told:
        return None
    traceback = text(told.get("stack_trace"))
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=text(told.get("error_code")) or "SCORER_ERROR",
        message=text(told.get("error_message")),
        traceback=traceback,
        frame=frame.location() if frame else "",
        phase="scoring",
        extra=rest(told, ("error_code", "error_message", "stack_trace")) | non_empty(scorer=name),
        ref=ref.below("feedback", "error"),
    )
