"""The messages of a sample → steps, with what the events know of each: the model call or the tool behind it.

Messages as Inspect writes them are decoded into `UsualMessage`; any other is a dict, and gives the same step.
"""

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal

import msgspec

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolError, Usage
from errata.model.words import ActorRole
from errata.sources.inspect_ai.events import NO_FIELDS, EventFields, nested
from errata.sources.inspect_ai.values import Pools, is_reference, may_refer_deeper, words
from errata.sources.shared.values import has_value, mapping, moment, number, plain, rest, sequence

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
_Value: Any = nested(4)


class UsualCall(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    id: str
    function: str
    arguments: dict[str, _Value]
    parse_error: str | None = None
    view: _Value = None
    type: Literal["function"] | None = None


class UsualMessage(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What becomes `extra` (id, source, metadata) always comes in this order."""

    role: str
    content: str | list[_Value]
    id: str | None = None
    source: str | None = None
    metadata: dict[str, _Value] | None = None
    tool_calls: list[UsualCall] | None = None
    tool_call_id: str | None = None
    function: str | None = None
    model: str | None = None
    error: dict[str, _Value] | None = None


Message = UsualMessage | dict[str, Any]


def messages_of(sample: dict[str, Any], pools: Pools) -> list[Message]:
    given = sequence(sample.get("messages"))
    if given and type(given[0]) is UsualMessage:
        if not _may_refer(given):
            return given
        given = msgspec.to_builtins(given)
    return [mapping(message) for message in sequence(pools.resolve(given))]


def _may_refer(messages: list[UsualMessage]) -> bool:
    """Texts are long, so only their start is checked; what else may refer to an attachment is encoded and searched."""
    deeper: list[Any] = []
    for message in messages:
        content = message.content
        if type(content) is not str:
            deeper.append(content)
        elif is_reference(content):
            return True
        if message.tool_calls:
            deeper.append(message.tool_calls)
        if message.metadata or message.error:
            deeper.append((message.metadata, message.error))
    return bool(deeper) and may_refer_deeper(deeper)


def failures_in(messages: Iterable[Message]) -> dict[str, ToolError]:
    """Id of a tool call → the error in its result."""
    failures = {}
    for message in messages:
        if type(message) is UsualMessage:
            if message.error:
                failures[message.tool_call_id or ""] = _error_of(message.error)
        elif type(message) is dict and _may_have_failed(message):
            error = tool_error(message.get("error"), message.get("tool_error"))
            if error is not None:
                failures[words(message.get("tool_call_id"))] = error
    return failures


def key_of(message: Message) -> Any:
    """The identity of a message: its id or, in early logs, its role and content."""
    if type(message) is UsualMessage:
        return message.id or (message.role, repr(message.content))
    assert type(message) is dict
    return words(message.get("id")) or (words(message.get("role")), repr(message.get("content")))


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

    def add_usual(self, message: UsualMessage, try_: int) -> None:
        """The same of a message whose fields have the usual types."""
        role, content, asked = _ROLES.get(message.role, "environment"), message.content, message.tool_calls
        text, parts, thoughts = (content, (), "") if type(content) is str else _content(content)
        at = len(self.steps)
        calls: tuple[ToolCall, ...] = ()
        if asked:
            calls = tuple([self._usual_call(call) for call in asked])
            for call in asked:
                self._asked[call.id] = at
        answered = message.tool_call_id or ""
        made = self._made.get(message.id or "", _UNKNOWN)
        event = made.event if made is not _UNKNOWN else self._tools.get(answered, NO_FIELDS)
        error = _error_of(message.error) if message.error else None
        step = Step(
            index=at,
            actor=_actor(role, (message.function or "") if role == "tool" else ""),
            kind="tool_call" if calls else "tool_result" if role == "tool" else "message",
            parent=self._asked.get(answered) if answered else None,
            try_=try_,
            text=text or (error.message if error else ""),
            parts=parts,
            reasoning=thoughts,
            tool_calls=calls,
            error=ErrorInfo(type=error.type, message=error.message, phase="tool") if error else None,
            usage=made.usage,
            started_at=moment(event.timestamp) if event is not NO_FIELDS else None,
            ended_at=moment(event.completed) if event is not NO_FIELDS else None,
            model=message.model or "",
            span_id=event.span_id or "",
            extra=_usual_extra(message, made),
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

    def _usual_call(self, call: UsualCall) -> ToolCall:
        ident = call.id
        event = self._tools.get(ident, NO_FIELDS)
        extra = _of_tool(event)
        if has_value(call.view):
            extra = {"view": plain(call.view), **extra}
        return ToolCall(
            name=call.function,
            id=ident,
            arguments=plain(call.arguments),
            parse_error=call.parse_error or "",
            error=self._failed.get(ident) or tool_error(event.error, event.tool_error),
            duration=number(event.working_time),
            extra=extra,
        )


def _may_have_failed(message: dict[str, Any]) -> bool:
    """Few messages have either field."""
    return "error" in message or "tool_error" in message


def tool_error(error: Any, text: Any) -> ToolError | None:
    """The error in a tool's message or event; in old logs only a text."""
    if text and type(text) is str:
        return ToolError(type="unknown", message=text)
    if not error or type(error) is not dict:
        return None
    return _error_of(error)


def _error_of(error: dict[str, Any]) -> ToolError:
    return ToolError(type=words(error.get("type")), message=words(error.get("message")))


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
    if made is not _UNKNOWN:
        _add_call(extra, made)
    return extra


def _usual_extra(message: UsualMessage, made: ModelCall) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if message.id is not None:
        extra["id"] = message.id
    if message.source is not None:
        extra["source"] = message.source
    if message.metadata:
        extra["metadata"] = plain(message.metadata)
    if message.tool_call_id:
        extra["tool_call_id"] = message.tool_call_id
    if made is not _UNKNOWN:
        _add_call(extra, made)
    return extra


def _add_call(extra: dict[str, Any], made: ModelCall) -> None:
    if made.stop_reason:
        extra["stop_reason"] = made.stop_reason
    for name, value in zip(_MADE, _made_of(made.event), strict=True):
        if value is not None:
            extra[name] = plain(value)


def _of_tool(event: EventFields) -> dict[str, Any]:
    values = _tool_fields(event)
    if values == _NO_TOOL_FIELDS:
        return {}
    return {name: plain(value) for name, value in zip(_OF_TOOL, values, strict=True) if has_value(value)}
