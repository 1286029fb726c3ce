"""The transcript of a sample: its messages, then what only its events hold.

Calls of sub-agents and of scorers, and retries, stand in no message of the sample; each is told once, by its event.
Events that only repeat what stands elsewhere (states, spans, final scores) are passed over.
"""

from collections.abc import Iterable
from typing import Any

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolError, ToolResult, Usage
from errata.model.usage import NO_USAGE
from errata.sources.inspect_ai.event_fields import NO_OUTPUT, Choice, EventFields, ModelOutput
from errata.sources.inspect_ai.events import Event, Events, as_events
from errata.sources.inspect_ai.messages import Made, Talk, key_of, tool_error
from errata.sources.inspect_ai.pools import Pools
from errata.sources.inspect_ai.values import words
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import mapping, moment, number, plain, rest, sequence

_ENVELOPE = frozenset(("uuid", "span_id", "timestamp", "working_start", "event", "metadata", "pending"))
_HUMAN = Actor(role="user", name="operator")


def steps_of(sample: dict[str, Any], events: Events, pools: Pools, judged: frozenset[str]) -> tuple[Step, ...]:
    """`judged` are the scorers whose exchange with a judge is kept with their score."""
    messages = [mapping(message) for message in sequence(pools.resolve(sample.get("messages")))]
    retries = [mapping(retry) for retry in sequence(sample.get("error_retries"))]
    tools = {event.data.id or "": event.data for event in events.telling if event.kind == "tool"}
    talk = Talk(_makers(events.telling), tools, _failures(messages))
    told: set[Any] = set()
    for number_, retry in enumerate(retries, start=1):
        earlier = as_events(sequence(retry.get("events")))
        _tell(talk, earlier, pools, (set(), frozenset(), number_))
    for message in messages:
        told.add(key_of(message))
        talk.say(message, try_=len(retries) + 1)
    _tell(talk, events, pools, (told, judged, len(retries) + 1))
    return tuple(talk.steps)


def scoring_usage(events: Iterable[Event]) -> list[Usage]:
    return [
        usage_of(_output(event.data).usage)
        for event in events
        if event.kind == "model" and event.phase == "scoring" and event.data.cache != "read"
    ]


def _output(event: EventFields) -> ModelOutput:
    return event.output or NO_OUTPUT


def _failures(messages: Iterable[dict[str, Any]]) -> dict[str, ToolError]:
    """Id of a tool's call → what its answer says went wrong."""
    found = {}
    for message in messages:
        error = tool_error(message.get("error"), message.get("tool_error"))
        if error is not None:
            found[words(message.get("tool_call_id"))] = error
    return found


def _makers(events: Iterable[Event]) -> dict[str, Made]:
    """Message id → the call of a model that gave it."""
    found = {}
    for event in events:
        if event.kind != "model":
            continue
        output = _output(event.data)
        usage = usage_of(output.usage)
        told = usage if usage is not NO_USAGE else None
        for choice in output.choices:
            found[_ident(choice)] = Made(event.data, told, choice.stop_reason or "")
    found.pop("", None)
    return found


def _ident(choice: Choice) -> str:
    return (choice.message.id or "") if choice.message else ""


def _tell(talk: Talk, events: Events, pools: Pools, known: tuple[set[Any], frozenset[str], int]) -> None:
    told, judged, try_ = known
    for event in events.telling:
        if event.kind == "score" and not event.data.intermediate:
            continue
        if event.kind == "model":
            if event.phase != "scoring":
                _tell_call(talk, event, events, pools, (told, try_))
            elif event.owner not in judged:
                talk.add(_judge_call(len(talk.steps), event, events.whole(event), pools, try_))
        elif event.kind != "tool":
            talk.add(_happening(len(talk.steps), event, pools.resolve(events.whole(event)), try_))
        elif not talk.knows_call(event.data.id or ""):
            talk.add(_lone_tool(len(talk.steps), pools.resolve(events.whole(event)), try_))


def _tell_call(talk: Talk, event: Event, events: Events, pools: Pools, known: tuple[set[Any], int]) -> None:
    """A call of a model: whatever of it was not told yet."""
    told, try_ = known
    output = _output(event.data)
    # what is known by its id need not be put together
    if not all(_ident(choice) in told for choice in output.choices):
        _tell_answers(talk, events.whole(event), pools, known)
    error = words(event.data.error) or output.error
    if error:
        talk.add(_failed_call(len(talk.steps), event.data, error, try_))


def _tell_answers(talk: Talk, call: dict[str, Any], pools: Pools, known: tuple[set[Any], int]) -> None:
    told, try_ = known
    choices = sequence(mapping(call.get("output")).get("choices"))
    answers = [answer for choice in choices if (answer := mapping(mapping(choice).get("message")))]
    unknown = [answer for answer in answers if words(answer.get("id")) not in told]
    new = [answer for answer in map(pools.resolve, unknown) if key_of(answer) not in told]
    if new:
        for message in map(mapping, pools.input_of(call)):
            if key_of(message) not in told:
                told.add(key_of(message))
                talk.say(message, try_=try_)
    for answer in new:
        told.add(key_of(answer))
        talk.say(answer, try_=try_)


def _failed_call(index: int, call: EventFields, error: str, try_: int) -> Step:
    return Step(
        index=index,
        actor=Actor(role="assistant"),
        kind="model_call",
        try_=try_,
        error=ErrorInfo(type="model_error", message=error, traceback=call.traceback or "", phase="subject"),
        started_at=moment(call.timestamp),
        ended_at=moment(call.completed),
        model=call.model or "",
        span_id=call.span_id or "",
        extra={"retries": plain(call.retries)} if call.retries else {},
    )


def _judge_call(index: int, event: Event, call: dict[str, Any], pools: Pools, try_: int) -> Step:
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
        error=ErrorInfo(type="model_error", message=error, phase="scoring") if error else None,
        usage=usage if usage is not NO_USAGE else None,
        started_at=moment(call.get("timestamp")),
        ended_at=moment(call.get("completed")),
        model=words(call.get("model")),
        span_id=words(call.get("span_id")),
    )


def _lone_tool(index: int, data: dict[str, Any], try_: int) -> Step:
    """A tool that no message asked for."""
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


def _happening(index: int, event: Event, whole: dict[str, Any], try_: int) -> Step:
    """Anything else: log lines, commands in a sandbox, human input, approvals, and what later versions add."""
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
