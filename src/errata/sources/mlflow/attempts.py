"""A trace and its assessments → its case, its attempt and its checks.

MLflow also runs its scorers on calls that broke, without an answer to score. Feedback is a measurement, an expectation
belongs to the case.
"""

from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Check, CheckEdit, ErrorInfo, Output, Run, SourceRef, UsageByRole, case_key
from errata.model.identity import case_key_of_input
from errata.model.words import Execution, ScorerKind
from errata.sources.mlflow.traces import MlflowTrace, decode_text, seconds_of, span_of, time_of, usage_in
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


class MlflowSpans:
    """A trace with its spans in order."""

    def __init__(self, trace: MlflowTrace) -> None:
        self.trace = trace
        self.tree = Tree(
            [span_of(mapping(one), trace.spans_ref.below(at), trace.id) for at, one in enumerate(trace.spans)]
        )
        self.transcript = SpanTranscript(self.tree)

    @property
    def input(self) -> Any:
        top = self.tree.top
        candidates = (top.input if top else None, self.meta("mlflow.traceInputs"), self.trace.info.get("request"))
        return next((one for one in (*candidates, self.trace.info.get("request_preview")) if one is not None), None)

    @property
    def output(self) -> Any:
        top = self.tree.top
        candidates = (top.output if top else None, self.meta("mlflow.traceOutputs"), self.trace.info.get("response"))
        return next((one for one in (*candidates, self.trace.info.get("response_preview")) if one is not None), None)

    def meta(self, name: str) -> Any:
        return decode_text(self.trace.metadata.get(name)) if self.trace.metadata.get(name) else None

    @property
    def case(self) -> str:
        return case_key_of_input("", plain(self.input)) if self.input is not None else self.trace.id


def case_of(run: Run, parsed: MlflowSpans) -> Case:
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=parsed.case,
        name=parsed.trace.name,
        input=plain(parsed.input),
        expected=plain(expected_of(parsed.trace)),
        ref=parsed.trace.ref,
    )


def attempt_of(run: Run, parsed: MlflowSpans, primary: str, index: int) -> Attempt:
    trace, transcript = parsed.trace, parsed.transcript
    steps = {step.span_id: step.index for step in transcript.steps if step.span_id}
    checks = tuple(checks_of(trace, primary, steps))
    facts = facts_of(_STATES.get(trace.state, "completed"), checks)
    checks = mark_recovered(checks, facts)
    errors = parsed.tree.errors()
    broken = tuple(check.error for check in checks if check.error and check.counts)
    value = next((grade_of(check.value) for check in checks if check.is_primary), None)
    answer = parsed.output
    used = transcript.usage(judged=False)
    return Attempt(
        run=run.id,
        case=case_key(run.suite, parsed.case),
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
        extra=_extra(parsed),
        ref=trace.ref,
    )


def _duration(trace: MlflowTrace) -> float | None:
    return seconds_of(trace.get("execution_duration_ms", "execution_time_ms"), trace.info.get("execution_duration"))


def _extra(parsed: MlflowSpans) -> dict[str, Any]:
    trace = parsed.trace
    inputs, outputs = parsed.meta("mlflow.traceInputs"), parsed.meta("mlflow.traceOutputs")
    total = usage_in(trace.metadata.get("mlflow.trace.tokenUsage"))
    usage = parsed.transcript.usage(judged=False)
    request_preview, response_preview = trace.info.get("request_preview"), trace.info.get("response_preview")
    return rest(trace.info, _INFO) | non_empty(
        metadata=rest(trace.metadata, _METADATA),
        inputs=inputs if inputs != parsed.input else None,
        outputs=outputs if outputs != parsed.output else None,
        request=trace.info.get("request") if trace.info.get("request") != parsed.input else None,
        response=trace.info.get("response") if trace.info.get("response") != parsed.output else None,
        request_preview=request_preview,
        response_preview=response_preview,
        tokens=trace.metadata.get("mlflow.trace.tokenUsage") if not total or total.total != usage.total else None,
        source_run=text(trace.metadata.get("mlflow.sourceRun")),
        steps_left_out=parsed.transcript.left_out or None,
    )


def checks_of(trace: MlflowTrace, primary: str, steps: dict[str, int]) -> Iterator[Check]:
    """`primary` is the scorer of the headline, if there is one: then it alone decides."""
    assessments = [
        (assessment, ref) for assessment, ref in trace.assessments if isinstance(assessment.get("feedback"), dict)
    ]
    replaced = {text(assessment.get("overrides")) for assessment, _ in assessments} - {""}
    earlier = {text(assessment.get("assessment_id")): assessment for assessment, _ in assessments}
    order = 0
    for assessment, ref in assessments:
        if text(assessment.get("assessment_id")) not in replaced:
            edits = tuple(_edits(assessment, earlier))
            yield _check(assessment, ref, order=order, primary=primary, trace=trace, steps=steps, edits=edits)
            order += 1


def expected_of(trace: MlflowTrace) -> Any:
    """The expected answer: one value, or several by name."""
    expectations = {
        text(assessment.get("assessment_name")): _expectation(mapping(assessment["expectation"]))
        for assessment, _ in trace.assessments
        if isinstance(assessment.get("expectation"), dict)
    }
    return next(iter(expectations.values())) if len(expectations) == 1 else expectations or None


def _expectation(expectation: dict[str, Any]) -> Any:
    serialized = mapping(expectation.get("serialized_value"))
    return expectation.get("value") if "value" in expectation else serialized.get("value")


def value_of(assessment: dict[str, Any]) -> Any:
    value = mapping(assessment.get("feedback")).get("value")
    return value if isinstance(value, bool | str) or value is None else number(value)


def _check(
    assessment: dict[str, Any],
    ref: SourceRef,
    *,
    order: int,
    primary: str,
    trace: MlflowTrace,
    steps: dict[str, int],
    edits: tuple[CheckEdit, ...],
) -> Check:
    name, source = text(assessment.get("assessment_name")), mapping(assessment.get("source"))
    feedback = mapping(assessment.get("feedback"))
    value, error = value_of(assessment), _error(mapping(feedback.get("error")), ref, name)
    valid = assessment.get("valid") is not False
    owner = assessment.get("trace_id")
    return Check(
        name=name,
        status="error" if error else status_of_value(value),
        scorer=text(source.get("source_id")),
        judge=text(source.get("source_id")) if source.get("source_type") in ("LLM_JUDGE", "AI_JUDGE") else "",
        order=order,
        value=value,
        is_primary=name == primary,
        counts=valid and primary in ("", name),
        explanation=as_text(assessment.get("rationale") or ""),
        error=error,
        step=steps.get(text(assessment.get("span_id"))),
        history=edits,
        extra=rest(assessment, _ASSESSMENT)
        | non_empty(
            id=assessment.get("assessment_id"),
            at=assessment.get("create_time"),
            source=source.get("source_type"),
            valid=None if valid else False,
            overrides=assessment.get("overrides"),
            span_id=assessment.get("span_id") if text(assessment.get("span_id")) not in steps else None,
            trace=owner if owner != trace.id else None,
            feedback=rest(feedback, ("value", "error")),
        ),
        ref=ref,
    )


def _edits(assessment: dict[str, Any], earlier: dict[str, dict[str, Any]]) -> Iterator[CheckEdit]:
    """The values that this assessment replaced, oldest first."""
    chain: list[dict[str, Any]] = []
    while (before := earlier.get(text(assessment.get("overrides")))) is not None and before not in chain:
        chain.append(before)
        assessment = before
    for before in reversed(chain):
        by = text(mapping(before.get("source")).get("source_id"))
        yield CheckEdit(
            value=value_of(before), by=by, at=time_of(before.get("create_time")), why=text(before.get("rationale"))
        )


def _error(error: dict[str, Any], ref: SourceRef, name: str) -> ErrorInfo | None:
    if not error:
        return None
    traceback = text(error.get("stack_trace"))
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=text(error.get("error_code")) or "SCORER_ERROR",
        message=text(error.get("error_message")),
        traceback=traceback,
        frame=frame.location() if frame else "",
        phase="scoring",
        extra=rest(error, ("error_code", "error_message", "stack_trace")) | non_empty(scorer=name),
        ref=ref.below("feedback", "error"),
    )
