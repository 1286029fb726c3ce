"""An OTLP span → a span of errata, for each of the conventions that its attributes and messages may follow."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from errata.model import ErrorInfo, SourceRef, ToolCall, Usage
from errata.sources.otlp import names
from errata.sources.otlp.attributes import Attributes
from errata.sources.shared.spans import SpanKind, TraceSpan, call_of, error_of, hex_id, moment, parse_json_text, whole
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    non_empty,
    reported_cost,
    rest,
    sequence,
    text,
)

DETAILS = "gen_ai.client.inference.operation.details"
_PROMPT_EVENTS = ("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message")
_CHOICE = "gen_ai.choice"
EVENTS = frozenset((DETAILS, *_PROMPT_EVENTS, _CHOICE, "gen_ai.content.prompt", "gen_ai.content.completion"))
_MESSAGE_PREFIXES = ("gen_ai.", "llm.")

Event = tuple[str, Attributes]
_SPAN = frozenset(
    ("traceId", "spanId", "parentSpanId", "name", "startTimeUnixNano", "endTimeUnixNano", "attributes", "events",
     "status")
)  # fmt: skip
EVALUATION = "gen_ai.evaluation.result"
EXCEPTION = "exception"
_FAILED = (2, "2", "STATUS_CODE_ERROR")


class SpanMessages(NamedTuple):
    request: list[Any]
    reply: list[Any]


def exchange_of(attributes: Attributes, events: list[Event]) -> SpanMessages:
    asked, answered = _of_attributes(attributes)
    for name, event in events:
        if name in EVENTS:
            added = _of_event(name, event)
            asked += [one for one in added.request if one not in asked]
            answered += [one for one in added.reply if one not in answered]
    return SpanMessages(asked, answered)


def _of_attributes(attributes: Attributes) -> SpanMessages:
    if not any(name.startswith(_MESSAGE_PREFIXES) for name in attributes.all):
        return SpanMessages([], [])
    instructions = parse_json_text(attributes.take("gen_ai.system_instructions"))
    asked = [*_parts_message("system", instructions)] if instructions else []
    asked += messages_in(attributes.take("gen_ai.input.messages"), "user")
    asked += messages_in(attributes.below("llm.input_messages."), "user")
    asked += messages_in(attributes.below("gen_ai.prompt.") or attributes.take("gen_ai.prompt"), "user")
    answered = messages_in(attributes.take("gen_ai.output.messages"), "assistant")
    answered += messages_in(attributes.below("llm.output_messages."), "assistant")
    answered += messages_in(attributes.below("gen_ai.completion.") or attributes.take("gen_ai.completion"), "assistant")
    return SpanMessages(asked, answered)


def _of_event(name: str, event: Attributes) -> SpanMessages:
    if name == _CHOICE:
        return SpanMessages([], messages_in([_message_of_event(event, "assistant")], "assistant"))
    if name in _PROMPT_EVENTS:
        role = name.split(".")[1]
        return SpanMessages(messages_in([_message_of_event(event, role)], role), [])
    return _of_attributes(event)


def _message_of_event(event: Attributes, role: str) -> dict[str, Any]:
    body = mapping(parse_json_text(event.take("gen_ai.event.content", "body")))
    fields = {key: parse_json_text(value) if key != "content" else value for key, value in event.rest().items()}
    message = fields | body
    inner = mapping(parse_json_text(message.pop("message", None)))
    return {"role": role} | message | inner


def messages_in(value: Any, role: str) -> list[Any]:
    messages = parse_json_text(value)
    if messages is None or messages == "":
        return []
    listed = messages if isinstance(messages, list) else [messages]
    return [message for one in listed for message in _message(one, role)]


def _message(value: Any, role: str) -> Iterator[Any]:
    if not isinstance(value, dict):
        yield {"role": role, "content": as_text(value)}
        return
    # OpenInference has each message one level down
    message = mapping(value.get("message")) or value
    speaker = text(message.get("role")) or role
    if isinstance(message.get("parts"), list):
        rest = {key: value for key, value in message.items() if key not in ("role", "parts", "finish_reason")}
        yield from _parts_message(speaker, message["parts"], rest)
        return
    result = {key: value for key, value in message.items() if key not in ("finish_reason", "index", "contents")}
    if isinstance(message.get("contents"), list):
        result["content"] = [_content(mapping(one)) for one in message["contents"]]
    if isinstance(message.get("tool_calls"), list):
        result["tool_calls"] = [mapping(mapping(one).get("tool_call")) or one for one in message["tool_calls"]]
    # in an event, the result of a tool has the id of its call
    if speaker == "tool" and "id" in result:
        result["tool_call_id"] = result.pop("id")
    yield result | {"role": speaker}


def _content(part: dict[str, Any]) -> dict[str, Any]:
    return mapping(part.get("message_content")) or part


def _parts_message(role: str, parts: Any, rest: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Tool results become messages of their own; tool calls stay with the text of their message."""
    content: list[Any] = []
    thoughts: list[str] = []
    calls: list[Any] = []
    for part in parts if isinstance(parts, list) else [parts]:
        kind, fields = mapping(part).get("type"), mapping(part)
        if kind == "tool_call_response":
            response = fields.get("response", fields.get("result"))
            yield {
                "role": "tool",
                "tool_call_id": text(fields.get("id")),
                "content": "" if response is None else as_text(response),
            }
        elif kind == "tool_call":
            calls.append(fields)
        elif kind in ("reasoning", "thinking"):
            thoughts.append(as_text(fields.get("content") or ""))
        elif kind == "text":
            content.append({"type": "text", "text": as_text(fields.get("content") or "")})
        else:
            content.append(part)
    if content or thoughts or calls:
        message: dict[str, Any] = {"role": role, "content": content} | (rest or {})
        yield (
            message
            | ({"tool_calls": calls} if calls else {})
            | ({"reasoning_content": "\n".join(thoughts)} if thoughts else {})
        )


def finish_of(answered: Any) -> str:
    """Why the model stopped, if only the messages have it."""
    listed = sequence(parse_json_text(answered))
    return next((text(mapping(one).get("finish_reason")) for one in listed if isinstance(one, dict)), "")


class EvaluationEvent(NamedTuple):
    """An evaluation result from an event."""

    attributes: Attributes
    span: str
    ref: SourceRef
    at: str | None


class SpanRecord(NamedTuple):
    span: TraceSpan
    attributes: Attributes
    evaluations: list[EvaluationEvent]
    ended: bool


def record_of_span(data: dict[str, Any], ref: SourceRef, log_events: list[tuple[Event, SourceRef]]) -> SpanRecord:
    """`log_events`: events of this span that are in log records instead of the span."""
    attributes = Attributes(data.get("attributes"))
    listed = [mapping(one) for one in sequence(data.get("events"))]
    events: list[Event] = [(text(one.get("name")), Attributes(one.get("attributes"))) for one in listed]
    kind = _kind(attributes)
    input_, output_ = attributes.take(*names.INPUT), attributes.take(*names.OUTPUT)
    exchange = exchange_of(attributes, [*events, *(event for event, _ in log_events)])
    if kind == "model":
        exchange = SpanMessages(
            exchange.request or messages_in(input_, "user"), exchange.reply or messages_in(output_, "assistant")
        )
    error = _error(data, attributes, events, kind, ref)
    begun, ended = whole(data.get("startTimeUnixNano")), whole(data.get("endTimeUnixNano"))
    span = TraceSpan(
        id=hex_id(data.get("spanId")),
        parent=hex_id(data.get("parentSpanId")),
        name=text(data.get("name")),
        kind=kind,
        order=begun or 0,
        started_at=moment(data.get("startTimeUnixNano")),
        ended_at=moment(data.get("endTimeUnixNano")),
        seconds=(ended - begun) / 1e9 if begun and ended and ended >= begun else None,
        request=exchange.request,
        reply=exchange.reply,
        call=_call(text(data.get("name")), attributes, error) if kind == "tool" else None,
        error=error,
        usage=_usage(attributes),
        model=attributes.take_text(*names.ANSWERING) or attributes.take_text(*names.REQUESTED),
        stopped=_stop_reason(attributes),
        input=input_,
        output=output_,
        extra=_extra(data, attributes, listed, events),
        ref=ref,
    )
    evaluations = [
        EvaluationEvent(event, span.id, ref.below("events", at), moment(listed[at].get("timeUnixNano")))
        for at, (name, event) in enumerate(events)
        if name == EVALUATION
    ]
    return SpanRecord(span, attributes, evaluations, bool(ended))


def _stop_reason(attributes: Attributes) -> str:
    reasons = attributes.take(*names.STOPPED) or finish_of(attributes.get("gen_ai.output.messages"))
    return ", ".join(as_text(one) for one in (reasons if isinstance(reasons, list) else [reasons]) if one)


def _kind(attributes: Attributes) -> SpanKind:
    for name in names.KIND:
        value = attributes.get(name)
        if isinstance(value, str) and value.lower() in names.KINDS:
            return names.KINDS[value.lower()]
    if attributes.get("gen_ai.operation.name", "openinference.span.kind") is not None:
        return "other"
    if attributes.get(*names.TOOL_NAME) is not None:
        return "tool"
    return "model" if attributes.get(*names.REQUESTED[:3]) is not None else "other"


def _call(name: str, attributes: Attributes, error: ErrorInfo | None) -> ToolCall:
    arguments = attributes.take(*names.ARGUMENTS)
    result = attributes.take(*names.RESULT)
    if arguments is None:
        arguments = attributes.take(*names.INPUT)
    if result is None:
        result = attributes.take(*names.OUTPUT)
    if result is None:
        result = attributes.below("retrieval.documents.") or attributes.below("reranker.output_documents.")
    ident, tool_name = attributes.take_text(*names.TOOL_CALL), attributes.take_text(*names.TOOL_NAME) or name
    result_text = result if isinstance(result, str) else None
    return call_of(
        tool_name,
        ident,
        parse_json_text(arguments),
        parse_json_text(result),
        failed=error is not None,
        result_text=result_text,
    )


def _usage(attributes: Attributes) -> Usage | None:
    if not names.SPENT & attributes.all.keys():
        return None
    tokens: dict[str, Any] = {name: count(attributes.take(*spelled)) for name, spelled in names.TOKENS.items()}
    cost = cost_number(attributes.take(*names.COST))
    if cost is None and not any(value is not None for value in tokens.values()):
        return None
    # both conventions include cached tokens in the input
    return Usage(**tokens, **reported_cost(cost), includes_cache=True)


def _error(
    data: dict[str, Any], attributes: Attributes, events: list[Event], kind: SpanKind, ref: SourceRef
) -> ErrorInfo | None:
    status = mapping(data.get("status"))
    if status.get("code") not in _FAILED:
        return None
    at = max((at for at, (name, _) in enumerate(events) if name == EXCEPTION), default=None)
    raised = events[at][1].all if at is not None else {}
    error_type = text(raised.get("exception.type"))
    if not error_type or attributes.get("error.type") == error_type:
        error_type = attributes.take_text("error.type") or error_type
    http = attributes.get("http.response.status_code", "http.status_code")
    return error_of(
        kind,
        raised,
        ref.below("events", at) if at is not None else ref.below("status"),
        status=text(status.get("message")),
        type_name=error_type,
        code=as_text(http) if http is not None else "",
        at=moment(mapping(sequence(data.get("events"))[at]).get("timeUnixNano")) if at is not None else None,
    )


def _extra(
    data: dict[str, Any], attributes: Attributes, listed: list[dict[str, Any]], events: list[Event]
) -> dict[str, Any]:
    """Events without a place of their own are kept as they are."""
    failed = mapping(data.get("status")).get("code") in _FAILED
    raised = [at for at, (name, _) in enumerate(events) if name == EXCEPTION and failed][-1:]
    others = [
        non_empty(name=name, at=listed[at].get("timeUnixNano"), attributes=event.rest())
        for at, (name, event) in enumerate(events)
        if name not in EVENTS and name != EVALUATION and at not in raised
    ]
    status = mapping(data.get("status"))
    status_fields = rest(status, ("code", "message")) if failed else rest(status)
    return non_empty(attributes=attributes.rest(), events=others, status=status_fields, **rest(data, _SPAN))
