"""The transcript of a sample: its messages, then steps that are only in its events.

Calls of sub-agents and scorers, and retries, are not in the messages of the sample; each becomes one step, from its
event. Events that only repeat other data (states, spans, final scores) are skipped.
"""

from collections.abc import Iterable
from typing import Any

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolResult, Usage
from errata.model.usage import NO_USAGE
from errata.sources.inspect_ai.events import (
    NO_OUTPUT,
    EventFields,
    Events,
    ModelCallOutput,
    ModelChoice,
    SampleEvent,
    as_events,
)
from errata.sources.inspect_ai.messages import (
    ModelCall,
    SampleTranscript,
    UsualMessage,
    failures_in,
    key_of,
    messages_of,
    tool_error,
)
from errata.sources.inspect_ai.values import Pools, words
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import mapping, moment, number, plain, rest, sequence

_ENVELOPE = frozenset(("uuid", "span_id", "timestamp", "working_start", "event", "metadata", "pending"))
_HUMAN = Actor(role="user", name="operator")


def steps_of(sample: dict[str, Any], events: Events, pools: Pools, judged: frozenset[str]) -> tuple[Step, ...]:
    """`judged` are the scorers that keep their conversation with the judge in the score."""
    messages = messages_of(sample, pools)
    retries = [mapping(retry) for retry in sequence(sample.get("error_retries"))]
    tools = {event.data.id or "": event.data for event in events.telling if event.kind == "tool"}
    transcript = SampleTranscript(_makers(events.telling), tools, failures_in(messages))
    seen: set[Any] = set()
    for number_, retry in enumerate(retries, start=1):
        earlier = as_events(sequence(retry.get("events")))
        _add_events(transcript, earlier, pools, (set(), frozenset(), number_))
    for message in messages:
        seen.add(key_of(message))
        if type(message) is UsualMessage:
            transcript.add_usual(message, len(retries) + 1)
        else:
            transcript.add_message(mapping(message), try_=len(retries) + 1)
    _add_events(transcript, events, pools, (seen, judged, len(retries) + 1))
    return tuple(transcript.steps)


def scoring_usage(events: Iterable[SampleEvent]) -> list[Usage]:
    return [
        usage_of(_output(event.data).usage)
        for event in events
        if event.kind == "model" and event.phase == "scoring" and event.data.cache != "read"
    ]


def _output(event: EventFields) -> ModelCallOutput:
    return event.output or NO_OUTPUT


def _makers(events: Iterable[SampleEvent]) -> dict[str, ModelCall]:
    """Message id → the model call that generated it."""
    calls = {}
    for event in events:
        if event.kind != "model":
            continue
        output = _output(event.data)
        usage = usage_of(output.usage)
        known_usage = usage if usage is not NO_USAGE else None
        for choice in output.choices:
            calls[_ident(choice)] = ModelCall(event.data, known_usage, choice.stop_reason or "")
    calls.pop("", None)
    return calls


def _ident(choice: ModelChoice) -> str:
    return (choice.message.id or "") if choice.message else ""


def _add_events(
    transcript: SampleTranscript, events: Events, pools: Pools, known: tuple[set[Any], frozenset[str], int]
) -> None:
    seen, judged, try_ = known
    for event in events.telling:
        if event.kind == "score" and not event.data.intermediate:
            continue
        if event.kind == "model":
            if event.phase != "scoring":
                _add_call(transcript, event, events, pools, (seen, try_))
            elif event.owner not in judged:
                transcript.add(_judge_call(len(transcript.steps), event, events.whole(event), pools, try_))
        elif event.kind != "tool":
            transcript.add(_happening(len(transcript.steps), event, pools.resolve(events.whole(event)), try_))
        elif not transcript.knows_call(event.data.id or ""):
            transcript.add(_lone_tool(len(transcript.steps), pools.resolve(events.whole(event)), try_))


def _add_call(
    transcript: SampleTranscript, event: SampleEvent, events: Events, pools: Pools, known: tuple[set[Any], int]
) -> None:
    """Add the messages and the error of a model call that are not in the transcript yet."""
    seen, try_ = known
    output = _output(event.data)
    # messages that are known by id need not be decoded
    for choice in output.choices:
        if _ident(choice) not in seen:
            _add_answers(transcript, events.whole(event), pools, known)
            break
    error = words(event.data.error) or output.error
    if error:
        transcript.add(_failed_call(len(transcript.steps), event.data, error, try_))


def _add_answers(transcript: SampleTranscript, call: dict[str, Any], pools: Pools, known: tuple[set[Any], int]) -> None:
    seen, try_ = known
    choices = sequence(mapping(call.get("output")).get("choices"))
    answers = [answer for choice in choices if (answer := mapping(mapping(choice).get("message")))]
    unknown = [answer for answer in answers if words(answer.get("id")) not in seen]
    new = [answer for answer in map(pools.resolve, unknown) if key_of(answer) not in seen]
    if new:
        for message in map(mapping, pools.input_of(call)):
            if key_of(message) not in seen:
                seen.add(key_of(message))
                transcript.add_message(message, try_=try_)
    for answer in new:
        seen.add(key_of(answer))
        transcript.add_message(answer, try_=try_)


def _failed_call(index: int, call: EventFields, error: str, try_: int) -> Step:
    return Step(
        index=index,
        actor=Actor(role="assistant"),
        kind="model_call",
        try_=try_,
        error=ErrorInfo(
            type="model_error", message=error, derived=("type",), traceback=call.traceback or "", phase="subject"
        ),
        started_at=moment(call.timestamp),
        ended_at=moment(call.completed),
        model=call.model or "",
        span_id=call.span_id or "",
        extra={"retries": plain(call.retries)} if call.retries else {},
    )


def _judge_call(index: int, event: SampleEvent, call: dict[str, Any], pools: Pools, try_: int) -> Step:
    output = mapping(pools.resolve(call.get("output")))
    asked = pools.input_of(call)
    usage = usage_of(output.get("usage"))
    error = words(call.get("error")) or words(output.get("error"))
    return Step(
        index=index,
        actor=Actor(role="judge", name=event.owner),
        kind="model_call",
        try_=try_,
        text=words(output.get("completion")),
        parts=({"type": "input", "messages": plain(asked)},) if asked else (),
        error=ErrorInfo(type="model_error", message=error, derived=("type",), phase="scoring") if error else None,
        usage=usage if usage is not NO_USAGE else None,
        started_at=moment(call.get("timestamp")),
        ended_at=moment(call.get("completed")),
        model=words(call.get("model")),
        span_id=words(call.get("span_id")),
    )


def _lone_tool(index: int, data: dict[str, Any], try_: int) -> Step:
    """A tool call that is in no message."""
    result, error = data.get("result"), tool_error(data.get("error"), data.get("tool_error"))
    call = ToolCall(
        name=words(data.get("function")),
        id=words(data.get("id")),
        arguments=plain(data.get("arguments")),
        result=ToolResult(
            text=result if type(result) is str else "",
            structured=None if type(result) is str else plain(result),
            is_error=error is not None or bool(data.get("failed")),
        ),
        error=error,
        duration=number(data.get("working_time")),
    )
    return Step(
        index=index,
        actor=Actor(role="tool", name=call.name),
        kind="tool_call",
        try_=try_,
        tool_calls=(call,),
        started_at=moment(data.get("timestamp")),
        ended_at=moment(data.get("completed")),
        span_id=words(data.get("span_id")),
    )


def _happening(index: int, event: SampleEvent, whole: dict[str, Any], try_: int) -> Step:
    """Any other event: log lines, commands in a sandbox, human input, approvals, and events of later versions."""
    data = _with_its_message(whole)
    source = next((name for name in ("message", "output", "input", "data") if words(data.get(name))), "")
    return Step(
        index=index,
        actor=_HUMAN if event.kind == "input" else Actor(role="environment", name=event.kind),
        kind="score" if event.kind == "score" else "message" if event.kind == "input" else "log",
        try_=try_,
        text=words(data.get(source)),
        started_at=moment(data.get("timestamp")),
        ended_at=moment(data.get("completed")),
        span_id=words(data.get("span_id")),
        extra={"phase": event.phase or "", **rest(data, _ENVELOPE | {source})},
    )


def _with_its_message(event: dict[str, Any]) -> dict[str, Any]:
    """The message of a log line is an object of its own."""
    message = event.get("message")
    if type(message) is not dict:
        return event
    return {name: value for name, value in event.items() if name != "message"} | message
