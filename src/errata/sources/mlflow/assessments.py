"""Assessments of a trace: feedback is a measurement, an expectation belongs to the case."""

from collections.abc import Iterator
from typing import Any

from errata.model import Check, CheckEdit, ErrorInfo, SourceRef
from errata.model.words import ScorerKind
from errata.sources.mlflow.trace import Trace
from errata.sources.mlflow.values import time_of
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.scores import status_of_value
from errata.sources.shared.values import as_text, known, mapping, number, rest, text

KINDS: dict[str, ScorerKind] = {"LLM_JUDGE": "judge", "AI_JUDGE": "judge", "HUMAN": "human"}
_ASSESSMENT = frozenset(
    ("assessment_id", "assessment_name", "trace_id", "span_id", "source", "create_time", "feedback", "expectation",
     "rationale", "valid", "overrides")
)  # fmt: skip


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
        | known(
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
        frame=frame.shown() if frame else "",
        phase="scoring",
        extra=rest(told, ("error_code", "error_message", "stack_trace")) | known(scorer=name),
        ref=ref.below("feedback", "error"),
    )
