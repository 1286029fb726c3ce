"""A trace with its observations and scores → its case and its attempt with steps."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import Attempt, Case, ErrorInfo, Item, Output, Run, Usage, UsageByRole, case_key
from errata.model.identity import case_key_of_input
from errata.model.times import moment_of
from errata.model.words import Execution
from errata.sources.base import Row
from errata.sources.langfuse.rows import time_of
from errata.sources.langfuse.runs import DatasetLink, checks_of
from errata.sources.shared.chat import finish_reason, reply_messages, reply_text, request_messages
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.facts import MISSING
from errata.sources.shared.scores import facts_of, grade_of
from errata.sources.shared.span_steps import SpanTranscript
from errata.sources.shared.spans import PHASES, SpanKind, TraceSpan, Tree, call_of, parse_json_text
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    non_empty,
    number,
    plain,
    reported_cost,
    rest,
    sequence,
    text,
)

_TRACE = frozenset(
    ("id", "timestamp", "input", "output", "observations", "scores", "latency", "totalCost", "projectId", "environment",
     "tags", "name", "level")
)  # fmt: skip
_KINDS: dict[str, SpanKind] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "RETRIEVER": "tool",
    "AGENT": "agent",
    "EVALUATOR": "judge",
}
_HOMES = frozenset(
    ("id", "traceId", "type", "name", "startTime", "endTime", "parentObservationId", "input", "output", "model",
     "providedModelName", "usageDetails", "usage", "level", "statusMessage", "toolCalls")
)  # fmt: skip
_TOKENS = {
    "input": ("input", "promptTokens", "prompt_tokens", "input_tokens"),
    "output": ("output", "completionTokens", "completion_tokens", "output_tokens"),
    "total": ("total", "totalTokens", "total_tokens"),
    "cache_read": ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read"),
    "cache_write": ("cache_creation_input_tokens", "input_cache_creation"),
    "reasoning": ("output_reasoning_tokens", "reasoning_tokens", "output_reasoning"),
}


class LangfuseTrace(NamedTuple):
    data: dict[str, Any]
    row: Row
    observations: list[Row]
    scores: list[Row]

    @property
    def id(self) -> str:
        return text(self.data.get("id"))


class LangfuseSpans:
    """A trace with its spans in order."""

    def __init__(self, trace: LangfuseTrace) -> None:
        self.trace = trace
        self.tree = Tree([span_of(row) for row in trace.observations])
        top = self.tree.top
        trace_values = (trace.data.get("input"), trace.data.get("output"))
        # the first observation mostly repeats the input and output of the trace
        self.transcript = SpanTranscript(
            self.tree, top_is_case=top is not None and (top.input, top.output) == trace_values
        )
        self.input = _first(
            trace.data.get("input"), top.input if top else None, self.transcript.messages_before_answer or None
        )
        self.output = _first(trace.data.get("output"), top.output if top else None, self.transcript.answer)

    @property
    def model(self) -> str:
        return next((step.model for step in self.transcript.steps if step.kind == "model_call" and step.model), "")

    @property
    def execution(self) -> Execution:
        """A trace has no status of its own: its observations have one."""
        if self.tree.ended_by is not None or self.trace.data.get("level") == "ERROR":
            return "error"
        top = self.tree.top
        open_ = (
            top is not None and top.ended_at is None and top.started_at is not None and top.extra.get("type") != "EVENT"
        )
        return "unfinished" if open_ and self.output is None else "completed"


class AttemptPlace(NamedTuple):
    """The position of a trace as an attempt: its run, its case and its number."""

    run: Run
    case: str
    number: int
    primary: str
    """The score that the run's headline averages."""
    link: DatasetLink | None
    item: Row | None

    @property
    def dataset_input(self) -> Any:
        fields = self.item.data if self.item else self.link.data if self.link else {}
        return fields.get("input")


def name_of(read: LangfuseSpans, link: DatasetLink | None) -> str:
    if link is not None and link.item:
        return link.item
    return read.trace.id if read.input is None else case_key_of_input("", plain(read.input))


def case_of(read: LangfuseSpans, place: AttemptPlace) -> Case:
    run, item = place.run, place.item.data if place.item else {}
    dataset_item = item or (place.link.data if place.link else {})
    extra = rest(item, ("id", "input", "expectedOutput"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=place.case,
        name=text(read.trace.data.get("name")),
        tags=tuple(as_text(one) for one in sequence(read.trace.data.get("tags"))),
        input=plain(read.input if place.dataset_input is None else place.dataset_input),
        expected=plain(dataset_item.get("expectedOutput")),
        extra={key: value for key, value in extra.items() if value != run.suite},
        ref=read.trace.row.ref,
    )


def attempt_of(read: LangfuseSpans, place: AttemptPlace) -> Attempt:
    run = place.run
    trace, transcript = read.trace, read.transcript
    steps = {step.span_id: step.index for step in transcript.steps if step.span_id}
    checks = tuple(checks_of(trace.scores, place.primary, steps))
    facts = facts_of(read.execution, checks)
    main = next((check for check in checks if check.is_primary), None)
    value = None if main is None else number(main.value) if number(main.value) is not None else grade_of(main.value)
    answer = read.output
    return Attempt(
        run=run.id,
        case=case_key(run.suite, place.case),
        native_id=trace.id,
        index=place.number,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        reported=value,
        reported_counted=value is not None if place.primary else None,
        output=Output(
            text=None if answer is None else reply_text(answer),
            structured=plain(answer) if isinstance(answer, dict | list) else None,
        ),
        stop_reason=transcript.stopped,
        errors=read.tree.errors(),
        checks=checks,
        steps=transcript.steps,
        usage=UsageByRole(subject=transcript.usage(judged=False), judge=transcript.usage(judged=True)),
        started_at=time_of(trace.data.get("timestamp")),
        duration=number(trace.data.get("latency")),
        extra=_extra(read, place),
        ref=trace.row.ref,
    )


def missing(run: Run, link: DatasetLink, trace: str, item: Row | None, number: int) -> Iterator[Item]:
    """An item of a run whose trace is not in the export."""
    fields = item.data if item else {}
    if number == 1:
        question, expected = plain(fields.get("input")), plain(fields.get("expectedOutput"))
        yield Case(run=run.id, suite=run.suite, native_id=link.item, input=question, expected=expected, ref=link.ref)
    yield Attempt(
        run=run.id,
        case=case_key(run.suite, link.item),
        native_id=trace,
        index=number,
        execution=MISSING.execution,
        measurement=MISSING.measurement,
        outcome=MISSING.outcome,
        ref=link.ref,
    )


def _extra(read: LangfuseSpans, place: AttemptPlace) -> dict[str, Any]:
    data, cost = read.trace.data, number(read.trace.data.get("totalCost"))
    subject_cost = read.transcript.usage(judged=False).cost
    return rest(data, _TRACE) | non_empty(
        cost=cost if cost != subject_cost else None,
        input=data.get("input") if place.dataset_input not in (None, data.get("input")) else None,
        environment=data.get("environment"),
        steps_left_out=read.transcript.left_out or None,
    )


def _first(*values: Any) -> Any:
    return next((one for one in values if one is not None), None)


def span_of(row: Row) -> TraceSpan:
    data = row.data
    kind = _KINDS.get(text(data.get("type")), "other")
    error = _error(row, kind)
    input_, output_ = data.get("input"), data.get("output")
    return TraceSpan(
        id=text(data.get("id")),
        parent=text(data.get("parentObservationId")),
        name=text(data.get("name")),
        kind=kind,
        order=moment_of(time_of(data.get("startTime")) or "").timestamp() if time_of(data.get("startTime")) else 0,
        started_at=time_of(data.get("startTime")),
        ended_at=time_of(data.get("endTime")),
        seconds=number(data.get("latency")),
        request=_request_messages(input_) if kind == "model" else [],
        reply=_reply_messages(output_, data.get("toolCalls")) if kind == "model" else [],
        call=call_of(text(data.get("name")), "", input_, output_, failed=error is not None) if kind == "tool" else None,
        error=error,
        usage=_usage(data),
        model=text(data.get("model")) or text(data.get("providedModelName")),
        stopped=finish_reason(output_),
        input=input_,
        output=output_,
        extra=_extra_of_span(data, kind),
        ref=row.ref,
    )


def _request_messages(input_: Any) -> list[Any]:
    return input_ if isinstance(input_, list) else request_messages(input_)


def _reply_messages(output_: Any, calls: Any) -> list[Any]:
    if isinstance(output_, list) and output_ and all(isinstance(one, dict) and "role" in one for one in output_):
        return output_
    messages = reply_messages(output_)
    tool_calls = [parse_json_text(one) for one in sequence(calls)]
    if tool_calls and not any(mapping(one).get("tool_calls") for one in messages):
        return [*messages[1:], (messages or [{"role": "assistant"}])[0] | {"tool_calls": tool_calls}]
    return messages


def _error(row: Row, kind: SpanKind) -> ErrorInfo | None:
    if row.data.get("level") != "ERROR":
        return None
    message = text(row.data.get("statusMessage")) or "the observation has the level ERROR"
    traceback = message if "Traceback (most recent call last)" in message else ""
    ref = row.ref.below("statusMessage")
    return error_of(raised_as(message), PHASES.get(kind, ""), traceback=traceback, ref=ref)


def _usage(data: dict[str, Any]) -> Usage | None:
    details = mapping(data.get("usageDetails")) or mapping(data.get("usage"))
    tokens: dict[str, Any] = {
        name: next((tokens_used for one in spelled if (tokens_used := count(details.get(one))) is not None), None)
        for name, spelled in _TOKENS.items()
    }
    costs = (mapping(data.get("costDetails")).get("total"), data.get("calculatedTotalCost"), data.get("totalCost"))
    cost = next((paid for one in costs if (paid := cost_number(one)) is not None), None)
    if data.get("type") != "GENERATION" and not any(tokens.values()) and not cost:
        return None
    if cost is None and not any(value is not None for value in tokens.values()):
        return None
    # Langfuse subtracts cached tokens from the input before it counts them
    return Usage(**tokens, **reported_cost(cost), includes_cache=False)


def _extra_of_span(data: dict[str, Any], kind: SpanKind) -> dict[str, Any]:
    failed = data.get("level") == "ERROR"
    details = mapping(data.get("usageDetails")) or mapping(data.get("usage"))
    spelled = {name for names in _TOKENS.values() for name in names}
    return rest(data, _HOMES) | non_empty(
        type=data.get("type") if kind in ("other", "tool") else None,
        level=data.get("level") if not failed and data.get("level") != "DEFAULT" else None,
        status=data.get("statusMessage") if not failed else None,
        usage=rest(details, spelled),
    )
