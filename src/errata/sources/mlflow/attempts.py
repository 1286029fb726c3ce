"""A trace → its case and its attempt.

MLflow runs its scorers on whatever there is, so a call that broke is scored, too: on nothing.
"""

from typing import Any

from errata.model import Attempt, Case, Output, Run, UsageByRole, case_key
from errata.model.identity import case_key_of_input
from errata.model.words import Execution
from errata.sources.mlflow.assessments import checks_of, expected_of
from errata.sources.mlflow.spans import span_of, usage_in
from errata.sources.mlflow.trace import Trace
from errata.sources.mlflow.values import decoded, seconds_of, time_of
from errata.sources.shared.chat import said_in
from errata.sources.shared.facts import settled
from errata.sources.shared.scores import facts_of, grade_of
from errata.sources.shared.span_steps import Transcript
from errata.sources.shared.spans import Tree
from errata.sources.shared.values import known, mapping, plain, rest, text

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


class Told:
    """A trace with its spans in order."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.tree = Tree(
            [span_of(mapping(one), trace.spans_ref.below(at), trace.id) for at, one in enumerate(trace.spans)]
        )
        self.transcript = Transcript(self.tree)

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
    checks = settled(checks, facts)
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
            text=None if answer is None else said_in(answer),
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
    return rest(trace.info, _INFO) | known(
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
