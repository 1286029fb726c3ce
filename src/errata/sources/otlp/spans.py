"""A span as OTLP has it → a span as errata has it, by whichever conventions its attributes follow."""

from typing import Any, NamedTuple

from errata.model import ErrorInfo, SourceRef, ToolCall, Usage
from errata.sources.otlp import names
from errata.sources.otlp.layout import EVALUATION, EXCEPTION
from errata.sources.otlp.messages import EVENTS, Event, Exchange, exchange_of, finish_of, messages_in
from errata.sources.otlp.values import Attributes
from errata.sources.shared.spans import Span, SpanKind, call_of, error_of, hex_id, moment, parsed, whole
from errata.sources.shared.values import as_text, count, known, mapping, number, rest, sequence, text

_SPAN = frozenset(
    ("traceId", "spanId", "parentSpanId", "name", "startTimeUnixNano", "endTimeUnixNano", "attributes", "events",
     "status")
)  # fmt: skip
_FAILED = (2, "2", "STATUS_CODE_ERROR")


class Evaluation(NamedTuple):
    """What an event says that somebody found."""

    attributes: Attributes
    span: str
    ref: SourceRef
    at: str | None


class Recorded(NamedTuple):
    span: Span
    attributes: Attributes
    evaluations: list[Evaluation]
    ended: bool


def recorded(data: dict[str, Any], ref: SourceRef, logged: list[tuple[Event, SourceRef]]) -> Recorded:
    """`logged` are the events about this span that stand in logs instead of in the span."""
    attributes = Attributes(data.get("attributes"))
    listed = [mapping(one) for one in sequence(data.get("events"))]
    events: list[Event] = [(text(one.get("name")), Attributes(one.get("attributes"))) for one in listed]
    kind = _kind(attributes)
    given, got = attributes.take(*names.INPUT), attributes.take(*names.OUTPUT)
    said = exchange_of(attributes, [*events, *(event for event, _ in logged)])
    if kind == "model":
        said = Exchange(said.asked or messages_in(given, "user"), said.answered or messages_in(got, "assistant"))
    error = _error(data, attributes, events, kind, ref)
    begun, ended = whole(data.get("startTimeUnixNano")), whole(data.get("endTimeUnixNano"))
    span = Span(
        id=hex_id(data.get("spanId")),
        parent=hex_id(data.get("parentSpanId")),
        name=text(data.get("name")),
        kind=kind,
        order=begun or 0,
        started_at=moment(data.get("startTimeUnixNano")),
        ended_at=moment(data.get("endTimeUnixNano")),
        seconds=(ended - begun) / 1e9 if begun and ended and ended >= begun else None,
        asked=said.asked,
        answered=said.answered,
        call=_call(text(data.get("name")), attributes, error) if kind == "tool" else None,
        error=error,
        usage=_usage(attributes),
        model=attributes.take_text(*names.ANSWERING) or attributes.take_text(*names.REQUESTED),
        stopped=_stopped(attributes),
        input=given,
        output=got,
        extra=_extra(data, attributes, listed, events),
        ref=ref,
    )
    evaluations = [
        Evaluation(told, span.id, ref.below("events", at), moment(listed[at].get("timeUnixNano")))
        for at, (name, told) in enumerate(events)
        if name == EVALUATION
    ]
    return Recorded(span, attributes, evaluations, bool(ended))


def _stopped(attributes: Attributes) -> str:
    told = attributes.take(*names.STOPPED) or finish_of(attributes.get("gen_ai.output.messages"))
    return ", ".join(as_text(one) for one in (told if isinstance(told, list) else [told]) if one)


def _kind(attributes: Attributes) -> SpanKind:
    for name in names.KIND:
        told = attributes.get(name)
        if isinstance(told, str) and told.lower() in names.KINDS:
            return names.KINDS[told.lower()]
    if attributes.get("gen_ai.operation.name", "openinference.span.kind") is not None:
        return "other"
    if attributes.get(*names.TOOL_NAME) is not None:
        return "tool"
    return "model" if attributes.get(*names.REQUESTED[:3]) is not None else "other"


def _call(name: str, attributes: Attributes, error: ErrorInfo | None) -> ToolCall:
    arguments = attributes.take(*names.ARGUMENTS)
    given = attributes.take(*names.RESULT)
    if arguments is None:
        arguments = attributes.take(*names.INPUT)
    if given is None:
        given = attributes.take(*names.OUTPUT)
    if given is None:
        given = attributes.below("retrieval.documents.") or attributes.below("reranker.output_documents.")
    ident, named = attributes.take_text(*names.TOOL_CALL), attributes.take_text(*names.TOOL_NAME) or name
    shown = given if isinstance(given, str) else None
    return call_of(named, ident, parsed(arguments), parsed(given), failed=error is not None, shown=shown)


def _usage(attributes: Attributes) -> Usage | None:
    if not names.SPENT & attributes.all.keys():
        return None
    told: dict[str, Any] = {name: count(attributes.take(*spelled)) for name, spelled in names.TOKENS.items()}
    cost = number(attributes.take(*names.COST))
    if cost is None and not any(value is not None for value in told.values()):
        return None
    # both conventions count cached tokens among those of the input
    return Usage(**told, cost=cost, cost_source="unknown" if cost is None else "reported", includes_cache=True)


def _error(
    data: dict[str, Any], attributes: Attributes, events: list[Event], kind: SpanKind, ref: SourceRef
) -> ErrorInfo | None:
    status = mapping(data.get("status"))
    if status.get("code") not in _FAILED:
        return None
    at = max((at for at, (name, _) in enumerate(events) if name == EXCEPTION), default=None)
    raised = events[at][1].all if at is not None else {}
    named = text(raised.get("exception.type"))
    if not named or attributes.get("error.type") == named:
        named = attributes.take_text("error.type") or named
    http = attributes.get("http.response.status_code", "http.status_code")
    return error_of(
        kind,
        raised,
        ref.below("events", at) if at is not None else ref.below("status"),
        status=text(status.get("message")),
        named=named,
        code=as_text(http) if http is not None else "",
        at=moment(mapping(sequence(data.get("events"))[at]).get("timeUnixNano")) if at is not None else None,
    )


def _extra(
    data: dict[str, Any], attributes: Attributes, listed: list[dict[str, Any]], events: list[Event]
) -> dict[str, Any]:
    """Events that found no home elsewhere are kept as they are."""
    failed = mapping(data.get("status")).get("code") in _FAILED
    raised = [at for at, (name, _) in enumerate(events) if name == EXCEPTION and failed][-1:]
    others = [
        known(name=name, at=listed[at].get("timeUnixNano"), attributes=told.left())
        for at, (name, told) in enumerate(events)
        if name not in EVENTS and name != EVALUATION and at not in raised
    ]
    status = mapping(data.get("status"))
    told_status = rest(status, ("code", "message")) if failed else rest(status)
    return known(attributes=attributes.left(), events=others, status=told_status, **rest(data, _SPAN))
