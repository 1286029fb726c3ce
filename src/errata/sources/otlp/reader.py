"""A file of traces → its runs, one per subject, and the items of each trace."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Output,
    Run,
    SourceInfo,
    SourceRef,
    Subject,
    UsageByRole,
    case_key,
)
from errata.model.identity import case_key_of_input
from errata.model.words import CheckStatus, Execution
from errata.sources.base import Numbering, Row, convert_each, describe, unreadable
from errata.sources.otlp import NAME, names
from errata.sources.otlp.attributes import Attributes
from errata.sources.otlp.batches import Batches, OtlpPiece, TraceSubject, TraceSurvey
from errata.sources.otlp.names import RESULT_STATUS
from errata.sources.otlp.spans import EVALUATION, EvaluationEvent, Event, SpanRecord, record_of_span
from errata.sources.shared.facts import mark_recovered
from errata.sources.shared.scores import facts_of, status_of_value
from errata.sources.shared.span_steps import SpanTranscript
from errata.sources.shared.spans import TraceSpan, Tree, hex_id, moment, parse_json_text
from errata.sources.shared.values import as_text, mapping, non_empty, number, plain, rest, sequence, settings, text


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    try:
        batches = Batches(path)
    except OSError as error:
        yield unreadable(NAME, SourceRef(file=path.name), describe(error))
        return
    yield from _items(batches, path)


def _items(batches: Batches, path: Path) -> Iterator[Item]:
    first = next(batches.traces(), [])
    resource = first[0].resource if first else {}
    runs = {tested: run_of(batches.survey, tested, resource, path) for tested in batches.survey.subjects}
    yield from runs.values()
    yield from batches.problems
    context = FileContext(runs, batches.survey, Numbering(), resource)
    rows = (Row(pieces, pieces[0].ref) for pieces in batches.traces())
    yield from convert_each(rows, partial(items_of, context), source=NAME, owner=partial(owner_of, context))


def run_of(survey: TraceSurvey, tested: TraceSubject, resource: dict[str, Any], path: Path) -> Run:
    attributes = Attributes(resource.get("attributes"))
    begun, ended = survey.times(tested)
    environment: dict[str, Any] = settings(non_empty(**{str(key): value for key, value in attributes.all.items()}))
    return Run(
        native_id=survey.first or path.name,
        source=SourceInfo(name=NAME),
        name=text(attributes.get("service.name")),
        subject=Subject(**tested._asdict()),
        suite=text(attributes.get(*names.SUITE)) or "traces",
        started_at=moment(begun),
        finished_at=moment(ended),
        environment=environment,
        origin=str(path.parent),
        extra=non_empty(resource=rest(resource, ("attributes",))),
        ref=SourceRef(file=path.name),
    )


# --- the spans of a trace → its case, its attempt and its checks. A trace without an evaluation has no verdict


_SCORE = "gen_ai.evaluation.score."


class FileContext(NamedTuple):
    runs: dict[TraceSubject, Run]
    survey: TraceSurvey
    numbering: Numbering
    resource: dict[str, Any]


class OtlpTrace:
    """A trace: its spans, and the log records about them."""

    def __init__(self, pieces: list[OtlpPiece]) -> None:
        spans = [(piece.data, piece) for piece in pieces if not piece.is_log]
        self.pieces = pieces
        logs = [(piece.data, piece.ref) for piece in pieces if piece.is_log]
        self.id = hex_id((spans[0][0] if spans else logs[0][0]).get("traceId"))
        about: dict[str, list[tuple[Event, SourceRef]]] = {}
        self.logged: list[EvaluationEvent] = []
        for data, ref in logs:
            self._note(data, ref, about)
        seen: dict[str, dict[str, Any]] = {}
        self.spans: list[SpanRecord] = []
        for data, piece in spans:
            ident = hex_id(data.get("spanId"))
            if seen.get(ident) != data:  # a resent batch
                self.spans.append(record_of_span(data, piece.ref, about.get(ident, [])))
            seen[ident] = data

    def _note(self, data: dict[str, Any], ref: SourceRef, about: dict[str, list[tuple[Event, SourceRef]]]) -> None:
        attributes = Attributes([*sequence(data.get("attributes")), {"key": "body", "value": data.get("body")}])
        name = text(data.get("eventName")) or text(attributes.get("event.name"))
        span = hex_id(data.get("spanId"))
        if name == EVALUATION:
            self.logged.append(EvaluationEvent(attributes, span, ref, moment(data.get("timeUnixNano"))))
        else:
            about.setdefault(span, []).append(((name, attributes), ref))


def items_of(context: FileContext, row: Row) -> Iterator[Item]:
    trace = OtlpTrace(row.data)
    if not trace.id.strip("0"):
        raise ValueError("a span without a trace id")
    if not trace.spans:
        if trace.logged:
            raise ValueError("an evaluation of a trace that is not in this file")
        return
    run = context.runs[context.survey.of(trace.id)]
    tree = Tree([one.span for one in trace.spans])
    transcript = SpanTranscript(tree)
    question = _input_of(tree.top, transcript)
    name = _name(trace, question)
    index = context.numbering.next((run.id, name))
    if index == 1:
        case = Case(
            run=run.id, suite=run.suite, native_id=name, name=_title(tree.top), input=plain(question), ref=row.ref
        )
        yield case
    yield _attempt(context, run, trace, (tree, transcript), case_key(run.suite, name), index)


def owner_of(context: FileContext, row: Row) -> str:
    data = row.data[0].data
    return context.runs[context.survey.of(hex_id(data.get("traceId")))].id


def _input_of(top: TraceSpan | None, transcript: SpanTranscript) -> Any:
    question = parse_json_text(top.input) if top is not None else None
    if question is not None:
        return question
    messages = transcript.messages_before_answer
    return messages[0]["content"] if len(messages) == 1 else messages or None


def _title(top: TraceSpan | None) -> str:
    return top.name if top is not None else ""


def _name(trace: OtlpTrace, question: Any) -> str:
    """The producer's name for the case; otherwise, traces with the same input are attempts at the same case."""
    for record in trace.spans:
        metadata = mapping(parse_json_text(record.attributes.get("metadata")))
        case = record.attributes.get(*names.CASE)
        candidates = [case, *(metadata.get(name) for name in names.CASE_METADATA)]
        if (case_id := next((each for each in candidates if each not in (None, "")), None)) is not None:
            return as_text(case_id)
    return trace.id if question in (None, "", []) else case_key_of_input("", plain(question))


def _attempt(
    context: FileContext, run: Run, trace: OtlpTrace, spans: tuple[Tree, SpanTranscript], case: str, index: int
) -> Attempt:
    tree, transcript = spans
    top = tree.top
    steps = transcript.steps
    places = {step.span_id: step.index for step in steps if step.span_id}
    checks = checks_of(trace.spans, trace.logged, places)
    facts = facts_of(_execution(trace, tree), checks)
    checks = mark_recovered(checks, facts)
    errors = tree.errors()
    broken = [check.error for check in checks if check.error and check.error not in errors]
    output = top.output if top is not None else None
    structured = parse_json_text(output)
    return Attempt(
        run=run.id,
        case=case,
        native_id=trace.id,
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        output=Output(
            text=transcript.answer if output is None else as_text(output),
            structured=plain(structured) if isinstance(structured, dict | list) else None,
        ),
        stop_reason=transcript.stopped,
        errors=(*errors, *broken),
        checks=checks,
        steps=steps,
        usage=UsageByRole(subject=transcript.usage(judged=False), judge=transcript.usage(judged=True)),
        started_at=top.started_at if top is not None else None,
        finished_at=top.ended_at if top is not None else None,
        duration=top.seconds if top is not None else None,
        extra=_extra(context, trace, transcript),
        ref=top.ref if top is not None else None,
    )


def _execution(trace: OtlpTrace, tree: Tree) -> Execution:
    if tree.ended_by is not None:
        return "error"
    ended = next((one.ended for one in trace.spans if tree.top is one.span), True)
    return "completed" if ended else "unfinished"


def _extra(context: FileContext, trace: OtlpTrace, transcript: SpanTranscript) -> dict[str, Any]:
    scopes = [piece.scope for piece in trace.pieces if piece.scope]
    resources = [piece.resource for piece in trace.pieces if piece.resource != context.resource]
    top = trace.spans[0].span if trace.spans else None
    return non_empty(
        scopes=_each_once(scopes),
        resources=_each_once(resources),
        beginning="not in this file" if top is not None and all(one.span.parent for one in trace.spans) else None,
        steps_left_out=transcript.left_out or None,
    )


def _each_once(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    unique: list[dict[str, Any]] = []
    for entry in listed:
        if entry not in unique:
            unique.append(entry)
    return unique


def checks_of(
    spans: list[SpanRecord], log_evaluations: list[EvaluationEvent], places: dict[str, int]
) -> tuple[Check, ...]:
    """`places`: span id → step."""
    checks = [_check(one, order, places) for order, one in enumerate(_evaluations(spans, log_evaluations))]
    checks += [check for one in spans for check in _of_evaluator(one)]
    checks += [check for one in spans for check in _of_test(one)]
    return tuple(checks)


def _evaluations(spans: list[SpanRecord], log_evaluations: list[EvaluationEvent]) -> Iterator[EvaluationEvent]:
    for record in spans:
        yield from record.evaluations
    yield from log_evaluations


def _check(evaluation: EvaluationEvent, order: int, places: dict[str, int]) -> Check:
    attributes = evaluation.attributes
    value = number(attributes.take(f"{_SCORE}value"))
    label = attributes.take_text(f"{_SCORE}label")
    broken = attributes.take_text("error.type")
    explanation = attributes.take_text("gen_ai.evaluation.explanation")
    name = attributes.take_text("gen_ai.evaluation.name") or "evaluation"
    error = (
        ErrorInfo(type=broken, message=explanation or broken, phase="scoring", ref=evaluation.ref) if broken else None
    )
    return Check(
        name=name,
        status="error" if broken else _status(value, label),
        order=order,
        value=value if value is not None else label or None,
        explanation=explanation,
        reason_code=label,
        error=error,
        step=places.get(evaluation.span),
        extra=non_empty(attributes=attributes.rest(), at=evaluation.at),
        ref=evaluation.ref,
    )


def _of_evaluator(record: SpanRecord) -> Iterator[Check]:
    """OpenInference: a separate span whose output has the score."""
    result = mapping(parse_json_text(record.span.output))
    if record.span.kind != "judge" or not {"score", "label"} & set(result):
        if record.span.kind == "judge" and record.span.error:
            yield Check(name=record.span.name, status="error", error=record.span.error, ref=record.span.ref)
        return
    score, label = result.get("score"), text(result.get("label"))
    value: Any = score if isinstance(score, bool) else number(score)
    yield Check(
        name=record.span.name,
        status=_status(value, label),
        value=value if value is not None else label or None,
        explanation=text(result.get("explanation")),
        reason_code=label,
        extra=rest(result, ("score", "label", "explanation")),
        ref=record.span.ref,
    )


def _of_test(record: SpanRecord) -> Iterator[Check]:
    status = record.attributes.get(RESULT_STATUS)
    if status is not None:
        yield Check(name="test", status=status_of_value(status), value=as_text(status), ref=record.span.ref)


def _status(value: float | bool | None, label: str) -> CheckStatus:
    """The scale of a number is up to the evaluator, so a label that means yes or no takes precedence."""
    by_label = status_of_value(label or None)
    return by_label if value is None or by_label in ("pass", "fail") else status_of_value(value)
