"""The transcript of a sample: its messages, then steps that are only in its events.

Calls of sub-agents and scorers, and retries, are not in the messages of the sample; each becomes one step, from its
event. Events that only repeat other data (states, spans, final scores) are skipped.
"""

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolError, ToolResult, Usage
from errata.model.usage import NO_USAGE
from errata.model.words import ActorRole
from errata.sources.inspect_ai.events import (
    NO_FIELDS,
    NO_OUTPUT,
    EventFields,
    Events,
    ModelCallOutput,
    ModelChoice,
    SampleEvent,
    as_events,
)
from errata.sources.inspect_ai.values import Pools, words
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import has_value, mapping, moment, number, plain, rest, sequence

_ENVELOPE = frozenset(("uuid", "span_id", "timestamp", "working_start", "event", "metadata", "pending"))
_HUMAN = Actor(role="user", name="operator")
_ROLES: dict[str, ActorRole] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_TAKEN = frozenset(
    ("role", "content", "tool_calls", "model", "tool_call_id", "function", "error", "tool_error", "reasoning")
)
_CALL = frozenset(("id", "function", "arguments", "parse_error"))
_FUNCTION = _CALL | {"type"}
_MADE = ("retries", "cache", "working_time", "role", "requested_model", "request_ids", "tool_choice")
_OF_TOOL = ("truncated", "agent", "failed", "view", "metadata")
_made_of, _tool_fields = attrgetter(*_MADE), attrgetter(*_OF_TOOL)
_NO_TOOL_FIELDS = _tool_fields(NO_FIELDS)


class ModelCall(msgspec.Struct, frozen=True, gc=False):
    """The model call behind a message, from its event."""

    event: EventFields
    usage: Usage | None = None
    stop_reason: str = ""


_UNKNOWN = ModelCall(NO_FIELDS)


class SampleTranscript:
    """Numbers the steps of one sample and maps tool calls to steps."""

    def __init__(self, made: dict[str, ModelCall], tools: dict[str, EventFields], failed: dict[str, ToolError]) -> None:
        self.steps: list[Step] = []
        self._made = made
        self._tools = tools
        self._failed = failed
        self._asked: dict[str, int] = {}

    def add_message(self, message: dict[str, Any], *, try_: int = 1) -> None:
        get = message.get
        role = _ROLES.get(words(get("role")), "environment")
        content, asked = get("content"), get("tool_calls")
        text, parts, thoughts = (content, (), "") if type(content) is str else _content(content)
        calls = tuple([self._call(mapping(call)) for call in sequence(asked)]) if asked else ()
        made = self._made.get(words(get("id")), _UNKNOWN)
        error = tool_error(get("error"), get("tool_error")) if _may_have_failed(message) else None
        answered = words(get("tool_call_id"))
        event = made.event if made is not _UNKNOWN else self._tools.get(answered, NO_FIELDS)
        at = len(self.steps)
        for call in calls:
            self._asked[call.id] = at
        step = Step(
            index=at,
            actor=_actor(role, words(get("function")) if role == "tool" else ""),
            kind="tool_call" if calls else "tool_result" if role == "tool" else "message",
            parent=self._asked.get(answered) if answered else None,
            try_=try_,
            # the content of a failed tool may be empty: the text is only in the error
            text=text or (error.message if error else ""),
            parts=parts,
            reasoning=thoughts or words(get("reasoning")),
            tool_calls=calls,
            error=ErrorInfo(type=error.type, message=error.message, phase="tool") if error else None,
            usage=made.usage,
            started_at=moment(event.timestamp) if event is not NO_FIELDS else None,
            ended_at=moment(event.completed) if event is not NO_FIELDS else None,
            model=words(get("model")),
            span_id=event.span_id or "",
            extra=_extra(message, made),
        )
        self.steps.append(step)

    def add(self, step: Step) -> None:
        self.steps.append(step)

    def knows_call(self, ident: str) -> bool:
        return ident in self._asked

    def _call(self, call: dict[str, Any]) -> ToolCall:
        ident, arguments = words(call.get("id")), call.get("arguments")
        event = self._tools.get(ident, NO_FIELDS)
        return ToolCall(
            name=words(call.get("function")),
            id=ident,
            arguments=None if type(arguments) is str else plain(arguments),
            arguments_raw=arguments if type(arguments) is str else "",
            parse_error=words(call.get("parse_error")),
            error=self._failed.get(ident) or tool_error(event.error, event.tool_error),
            duration=number(event.working_time),
            extra=rest(call, _FUNCTION if call.get("type") == "function" else _CALL) | _of_tool(event),
        )


def steps_of(sample: dict[str, Any], events: Events, pools: Pools, judged: frozenset[str]) -> tuple[Step, ...]:
    """`judged` are the scorers that keep their conversation with the judge in the score."""
    messages = [mapping(message) for message in sequence(pools.resolve(sample.get("messages")))]
    retries = [mapping(retry) for retry in sequence(sample.get("error_retries"))]
    tools = {event.data.id or "": event.data for event in events.telling if event.kind == "tool"}
    transcript = SampleTranscript(_makers(events.telling), tools, _failures(messages))
    seen: set[Any] = set()
    for number_, retry in enumerate(retries, start=1):
        earlier = as_events(sequence(retry.get("events")))
        _add_events(transcript, earlier, pools, (set(), frozenset(), number_))
    for message in messages:
        seen.add(key_of(message))
        transcript.add_message(message, try_=len(retries) + 1)
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


def _failures(messages: Iterable[dict[str, Any]]) -> dict[str, ToolError]:
    """Id of a tool call → the error in its result."""
    failures = {}
    for message in filter(_may_have_failed, messages):
        error = tool_error(message.get("error"), message.get("tool_error"))
        if error is not None:
            failures[words(message.get("tool_call_id"))] = error
    return failures


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
        error=ErrorInfo(type="model_error", message=error, traceback=call.traceback or "", phase="subject"),
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
        error=ErrorInfo(type="model_error", message=error, phase="scoring") if error else None,
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


def _may_have_failed(message: dict[str, Any]) -> bool:
    """Few messages have either field."""
    return "error" in message or "tool_error" in message


def tool_error(error: Any, text: Any) -> ToolError | None:
    """The error in a tool's message or event; in old logs only a text."""
    if text and type(text) is str:
        return ToolError(type="unknown", message=text)
    if not error or type(error) is not dict:
        return None
    return ToolError(type=words(error.get("type")), message=words(error.get("message")))


def key_of(message: dict[str, Any]) -> Any:
    """The identity of a message: its id or, in early logs, its role and content."""
    return words(message.get("id")) or (words(message.get("role")), repr(message.get("content")))


@lru_cache(maxsize=256)
def _actor(role: ActorRole, name: str) -> Actor:
    return Actor(role=role, name=name)


def _content(content: Any) -> tuple[str, tuple[dict[str, Any], ...], str]:
    """Text, other parts and reasoning of a content that is more than a text."""
    read = _EventContent(content)
    return "\n".join(read.texts), tuple(read.parts), "\n".join(read.thoughts)


class _EventContent:
    """The parts of a message, with texts and reasoning separated."""

    __slots__ = ("parts", "texts", "thoughts")

    def __init__(self, content: Any) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.parts: list[dict[str, Any]] = []
        for part in content if type(content) is list else (content,):
            if type(part) is str:
                self.texts.append(part)
            elif type(part) is dict:
                self._add(part)

    def _add(self, part: dict[str, Any]) -> None:
        kind = part.get("type")
        if kind == "text" and type(part.get("text")) is str:
            self.texts.append(part["text"])
            beside = rest(part, frozenset(("type", "text")))
        elif kind == "reasoning" and type(part.get("reasoning")) is str:
            self.thoughts.append(part["reasoning"])
            beside = rest(part, frozenset(("type", "reasoning")))
        else:
            self.parts.append(plain(part))
            return
        if beside:
            self.parts.append({"type": kind, **beside})


def _extra(message: dict[str, Any], made: ModelCall) -> dict[str, Any]:
    extra = rest(message, _TAKEN)
    if message.get("tool_call_id"):
        extra["tool_call_id"] = plain(message["tool_call_id"])
    if made.stop_reason:
        extra["stop_reason"] = made.stop_reason
    if made is not _UNKNOWN:
        for name, value in zip(_MADE, _made_of(made.event), strict=True):
            if value is not None:
                extra[name] = plain(value)
    return extra


def _of_tool(event: EventFields) -> dict[str, Any]:
    values = _tool_fields(event)
    if values == _NO_TOOL_FIELDS:
        return {}
    return {name: plain(value) for name, value in zip(_OF_TOOL, values, strict=True) if has_value(value)}
