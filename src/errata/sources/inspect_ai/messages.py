"""Chat messages → steps."""

from functools import lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolError, Usage
from errata.model.words import ActorRole
from errata.sources.inspect_ai.event_fields import NO_FIELDS, EventFields
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import is_told, mapping, moment, number, plain, rest, sequence

_ROLES: dict[str, ActorRole] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_TAKEN = frozenset(
    ("role", "content", "tool_calls", "model", "tool_call_id", "function", "error", "tool_error", "reasoning")
)
_CALL = frozenset(("id", "function", "arguments", "parse_error"))
_FUNCTION = _CALL | {"type"}
_MADE = ("retries", "cache", "working_time", "role", "requested_model", "request_ids", "tool_choice")

_OF_TOOL = ("truncated", "agent", "failed", "view", "metadata")
_made_of, _told_of = attrgetter(*_MADE), attrgetter(*_OF_TOOL)
_UNTOLD = _told_of(NO_FIELDS)


class Made(msgspec.Struct, frozen=True, gc=False):
    """What an event tells of how a message came about."""

    event: EventFields
    usage: Usage | None = None
    stop_reason: str = ""


_UNKNOWN = Made(NO_FIELDS)


class Talk:
    """Numbers the steps of one sample and knows which tool was called where."""

    def __init__(self, made: dict[str, Made], tools: dict[str, EventFields], failed: dict[str, ToolError]) -> None:
        self.steps: list[Step] = []
        self._made = made
        self._tools = tools
        self._failed = failed
        self._asked: dict[str, int] = {}

    def say(self, message: dict[str, Any], *, try_: int = 1) -> None:
        told = message.get
        role = _ROLES.get(words(told("role")), "environment")
        text, parts, thoughts = _content(told("content"))
        asked = told("tool_calls")
        calls = tuple([self._call(mapping(call)) for call in sequence(asked)]) if asked else ()
        made = self._made.get(words(told("id")), _UNKNOWN)
        error = tool_error(told("error"), told("tool_error"))
        answered = words(told("tool_call_id"))
        event = made.event if made is not _UNKNOWN else self._tools.get(answered, NO_FIELDS)
        at = len(self.steps)
        for call in calls:
            self._asked[call.id] = at
        step = Step(
            index=at,
            actor=_actor(role, words(told("function")) if role == "tool" else ""),
            kind="tool_call" if calls else "tool_result" if role == "tool" else "message",
            parent=self._asked.get(answered) if answered else None,
            try_=try_,
            # of a tool that failed the content may be empty: the text stands in the error alone
            text=text or (error.message if error else ""),
            parts=parts,
            reasoning=thoughts or words(told("reasoning")),
            tool_calls=calls,
            error=ErrorInfo(type=error.type, message=error.message, phase="tool") if error else None,
            usage=made.usage,
            started_at=moment(event.timestamp),
            ended_at=moment(event.completed),
            model=words(told("model")),
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


def tool_error(error: Any, text: Any) -> ToolError | None:
    """Of a tool's message or event; once it was only a text."""
    if text and type(text) is str:
        return ToolError(type="unknown", message=text)
    if not error or type(error) is not dict:
        return None
    return ToolError(type=words(error.get("type")), message=words(error.get("message")))


def key_of(message: dict[str, Any]) -> Any:
    """Early logs give messages no id: the same words in the same role are then the same message."""
    return words(message.get("id")) or (words(message.get("role")), repr(message.get("content")))


@lru_cache(maxsize=256)
def _actor(role: ActorRole, name: str) -> Actor:
    return Actor(role=role, name=name)


def _content(content: Any) -> tuple[str, tuple[dict[str, Any], ...], str]:
    """Text, other parts and thoughts."""
    if type(content) is str:
        return content, (), ""
    read = _Content(content)
    return "\n".join(read.texts), tuple(read.parts), "\n".join(read.thoughts)


class _Content:
    """Parts, of which some are texts and thoughts."""

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


def _extra(message: dict[str, Any], made: Made) -> dict[str, Any]:
    extra = rest(message, _TAKEN)
    if message.get("tool_call_id"):
        extra["tool_call_id"] = plain(message["tool_call_id"])
    if made.stop_reason:
        extra["stop_reason"] = made.stop_reason
    if made is not _UNKNOWN:
        for name, told in zip(_MADE, _made_of(made.event), strict=True):
            if told is not None:
                extra[name] = plain(told)
    return extra


def _of_tool(event: EventFields) -> dict[str, Any]:
    told = _told_of(event)
    if told == _UNTOLD:
        return {}
    return {name: plain(value) for name, value in zip(_OF_TOOL, told, strict=True) if is_told(value)}
