"""The transcript of a sample: its messages, then what only its events hold.

Calls of sub-agents and of scorers, and retries, stand in no message of the sample; each is told once, by its event.
Events that only repeat what stands elsewhere (states, spans, final scores) are passed over.
"""

from collections.abc import Iterable
from typing import Any

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolResult, Usage
from errata.sources.inspect_ai.events import Event, in_phases
from errata.sources.inspect_ai.messages import Made, Talk, key_of, tool_error
from errata.sources.inspect_ai.pools import Pools
from errata.sources.inspect_ai.values import words
from errata.sources.shared.tokens import usage_of
from errata.sources.shared.values import mapping, moment, number, plain, rest, sequence

_ENVELOPE = frozenset(("uuid", "span_id", "timestamp", "working_start", "event", "metadata", "pending"))
_ELSEWHERE = frozenset(
    ("sample_init", "span_begin", "span_end", "step", "state", "store", "score_edit", "error", "sample_limit")
)
_HUMAN = Actor(role="user", name="operator")


def steps_of(sample: dict[str, Any], events: list[Event], pools: Pools, judged: frozenset[str]) -> tuple[Step, ...]:
    """`judged` are the scorers whose exchange with a judge is kept with their score."""
    messages = [mapping(message) for message in sequence(pools.resolve(sample.get("messages")))]
    retries = [mapping(retry) for retry in sequence(sample.get("error_retries"))]
    tools = {words(event.data.get("id")): event.data for event in events if event.kind == "tool"}
    failed = {words(one.get("tool_call_id")): error for one in messages if (error := tool_error(one)) is not None}
    talk = Talk(_makers(events), tools, failed)
    told: set[Any] = set()
    for number_, retry in enumerate(retries, start=1):
        earlier = in_phases([mapping(event) for event in sequence(retry.get("events"))])
        _tell(talk, earlier, pools, (set(), frozenset(), number_))
    for message in messages:
        told.add(key_of(message))
        talk.say(message, try_=len(retries) + 1)
    _tell(talk, events, pools, (told, judged, len(retries) + 1))
    return tuple(talk.steps)


def scoring_usage(events: Iterable[Event]) -> list[Usage]:
    return [
        usage_of(mapping(event.data.get("output")).get("usage"))
        for event in events
        if event.kind == "model" and event.phase == "scoring" and event.data.get("cache") != "read"
    ]


def _makers(events: Iterable[Event]) -> dict[str, Made]:
    """Message id → the call of a model that gave it."""
    found = {}
    for event in events:
        if event.kind != "model":
            continue
        output = mapping(event.data.get("output"))
        usage = usage_of(output.get("usage"))
        for choice in map(mapping, sequence(output.get("choices"))):
            ident = words(mapping(choice.get("message")).get("id"))
            stopped = words(choice.get("stop_reason"))
            found[ident] = Made(event.data, usage if usage != Usage() else None, stopped)
    found.pop("", None)
    return found


def _tell(talk: Talk, events: Iterable[Event], pools: Pools, known: tuple[set[Any], frozenset[str], int]) -> None:
    told, judged, try_ = known
    for event in events:
        if event.kind in _ELSEWHERE or (event.kind == "score" and not event.data.get("intermediate")):
            continue
        if event.kind == "model":
            if event.phase != "scoring":
                _tell_call(talk, event, pools, told, try_)
            elif event.owner not in judged:
                talk.add(_judge_call(len(talk.steps), event, pools, try_))
        elif event.kind != "tool":
            talk.add(_happening(len(talk.steps), event, pools, try_))
        elif not talk.knows_call(words(event.data.get("id"))):
            talk.add(_lone_tool(len(talk.steps), pools.resolve(event.data), try_))


def _tell_call(talk: Talk, event: Event, pools: Pools, told: set[Any], try_: int) -> None:
    """A call of a model: whatever of it was not told yet."""
    output = mapping(event.data.get("output"))
    answers = [mapping(mapping(choice).get("message")) for choice in sequence(output.get("choices"))]
    # what is known by its id need not be put together
    unknown = [answer for answer in answers if answer and words(answer.get("id")) not in told]
    new = [answer for answer in map(pools.resolve, unknown) if key_of(answer) not in told]
    if new:
        for message in map(mapping, pools.input_of(event.data)):
            if key_of(message) not in told:
                told.add(key_of(message))
                talk.say(message, try_=try_)
    for answer in new:
        told.add(key_of(answer))
        talk.say(answer, try_=try_)
    error = words(event.data.get("error")) or words(output.get("error"))
    if error:
        talk.add(_failed_call(len(talk.steps), event, error, try_))


def _failed_call(index: int, event: Event, error: str, try_: int) -> Step:
    traceback = words(event.data.get("traceback"))
    return Step(
        index=index,
        actor=Actor(role="assistant"),
        kind="model_call",
        try_=try_,
        error=ErrorInfo(type="model_error", message=error, traceback=traceback, phase="subject"),
        started_at=moment(event.data.get("timestamp")),
        ended_at=moment(event.data.get("completed")),
        model=words(event.data.get("model")),
        span_id=words(event.data.get("span_id")),
        extra={"retries": plain(event.data["retries"])} if event.data.get("retries") else {},
    )


def _judge_call(index: int, event: Event, pools: Pools, try_: int) -> Step:
    output = mapping(pools.resolve(event.data.get("output")))
    asked = pools.input_of(event.data)
    usage = usage_of(output.get("usage"))
    error = words(event.data.get("error")) or words(output.get("error"))
    return Step(
        index=index,
        actor=Actor(role="judge", name=event.owner),
        kind="model_call",
        try_=try_,
        text=words(output.get("completion")),
        parts=({"type": "input", "messages": plain(asked)},) if asked else (),
        error=ErrorInfo(type="model_error", message=error, phase="scoring") if error else None,
        usage=usage if usage != Usage() else None,
        started_at=moment(event.data.get("timestamp")),
        ended_at=moment(event.data.get("completed")),
        model=words(event.data.get("model")),
        span_id=words(event.data.get("span_id")),
    )


def _lone_tool(index: int, data: dict[str, Any], try_: int) -> Step:
    """A tool that no message asked for."""
    result, error = data.get("result"), tool_error(data)
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


def _happening(index: int, event: Event, pools: Pools, try_: int) -> Step:
    """Anything else: log lines, commands in a sandbox, human input, approvals, and what later versions add."""
    data = mapping(pools.resolve(event.data))
    data |= mapping(data.pop("message", None)) if type(data.get("message")) is dict else {}
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
