"""Chat messages → steps."""

from functools import lru_cache
from typing import Any, NamedTuple

from errata.model import Actor, ErrorInfo, Step, ToolCall, ToolError, Usage
from errata.model.words import ActorRole
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping, moment, number, plain, rest, sequence

_ROLES: dict[str, ActorRole] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_TAKEN = frozenset(
    ("role", "content", "tool_calls", "model", "tool_call_id", "function", "error", "tool_error", "reasoning")
)
_CALL = frozenset(("id", "function", "arguments", "parse_error"))
_MADE = ("retries", "cache", "working_time", "role", "requested_model", "request_ids", "tool_choice")


class Made(NamedTuple):
    """What an event tells of how a message came about."""

    event: dict[str, Any]
    usage: Usage | None = None
    stop_reason: str = ""


_NOTHING: dict[str, Any] = {}
_UNKNOWN = Made(_NOTHING)


class Talk:
    """Numbers the steps of one sample and knows which tool was called where."""

    def __init__(self, made: dict[str, Made], tools: dict[str, dict[str, Any]], failed: dict[str, ToolError]) -> None:
        self.steps: list[Step] = []
        self._made = made
        self._tools = tools
        self._failed = failed
        self._asked: dict[str, int] = {}

    def say(self, message: dict[str, Any], *, try_: int = 1, actor: Actor | None = None) -> None:
        told = message.get
        role = _ROLES.get(words(told("role")), "environment")
        content = _Content(told("content"))
        calls = tuple([self._call(mapping(call)) for call in sequence(told("tool_calls"))])
        made = self._made.get(words(told("id")), _UNKNOWN)
        error = tool_error(message)
        answered = words(told("tool_call_id"))
        event = made.event or self._tools.get(answered, _NOTHING)
        at = len(self.steps)
        for call in calls:
            self._asked[call.id] = at
        step = Step(
            index=at,
            actor=actor or _actor(role, words(told("function")) if role == "tool" else ""),
            kind="tool_call" if calls else "tool_result" if role == "tool" else "message",
            parent=self._asked.get(answered) if answered else None,
            try_=try_,
            # of a tool that failed the content may be empty: the text stands in the error alone
            text=content.text or (error.message if error else ""),
            parts=tuple(content.parts),
            reasoning="\n".join(content.thoughts) or words(told("reasoning")),
            tool_calls=calls,
            error=ErrorInfo(type=error.type, message=error.message, phase="tool") if error else None,
            usage=made.usage,
            started_at=moment(event.get("timestamp")),
            ended_at=moment(event.get("completed")),
            model=words(told("model")),
            span_id=words(event.get("span_id")),
            extra=_extra(message, made, event),
        )
        self.steps.append(step)

    def add(self, step: Step) -> None:
        self.steps.append(step)

    def knows_call(self, ident: str) -> bool:
        return ident in self._asked

    def _call(self, call: dict[str, Any]) -> ToolCall:
        ident, arguments = words(call.get("id")), call.get("arguments")
        event = self._tools.get(ident, _NOTHING)
        return ToolCall(
            name=words(call.get("function")),
            id=ident,
            arguments=None if type(arguments) is str else plain(arguments),
            arguments_raw=arguments if type(arguments) is str else "",
            parse_error=words(call.get("parse_error")),
            error=self._failed.get(ident) or tool_error(event),
            duration=number(event.get("working_time")),
            extra=rest(call, _CALL | {"type"} if call.get("type") == "function" else _CALL) | _of_tool(event),
        )


def tool_error(message: dict[str, Any]) -> ToolError | None:
    """Of a tool's message or event; once it was only a text."""
    if type(message.get("tool_error")) is str and message["tool_error"]:
        return ToolError(type="unknown", message=message["tool_error"])
    error = mapping(message.get("error"))
    return ToolError(type=words(error.get("type")), message=words(error.get("message"))) if error else None


def key_of(message: dict[str, Any]) -> Any:
    """Early logs give messages no id: the same words in the same role are then the same message."""
    return words(message.get("id")) or (words(message.get("role")), repr(message.get("content")))


@lru_cache(maxsize=256)
def _actor(role: ActorRole, name: str) -> Actor:
    return Actor(role=role, name=name)


class _Content:
    """A text, or parts of which some are texts and thoughts."""

    __slots__ = ("parts", "text", "texts", "thoughts")

    def __init__(self, content: Any) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.parts: list[dict[str, Any]] = []
        self.text = content if type(content) is str else ""
        if self.text:
            return
        for part in content if type(content) is list else (content,):
            if type(part) is str:
                self.texts.append(part)
            elif type(part) is dict:
                self._add(part)
        self.text = "\n".join(self.texts)

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


def _extra(message: dict[str, Any], made: Made, event: dict[str, Any]) -> dict[str, Any]:
    extra = rest(message, _TAKEN)
    if message.get("tool_call_id"):
        extra["tool_call_id"] = plain(message["tool_call_id"])
    if made.stop_reason:
        extra["stop_reason"] = made.stop_reason
    if made.event:
        for name in _MADE:
            told = event.get(name)
            if told is not None:
                extra[name] = plain(told)
    return extra


def _of_tool(event: dict[str, Any]) -> dict[str, Any]:
    if not event:
        return {}
    names = ("truncated", "agent", "failed", "view", "metadata")
    return {name: plain(event[name]) for name in names if event.get(name) not in (None, {}, [])}
