"""Chat messages → steps of a transcript, and the messages in the request and the reply of a model."""

from typing import Any

import msgspec

from errata.model import Actor, Step, ToolCall
from errata.model.words import ActorRole, StepKind
from errata.sources.base import DEPTH_CAP, decode
from errata.sources.shared.values import as_text, mapping, plain, sequence, text

CHAT_ROLES: dict[str, ActorRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Role names in chat messages, and the roles they mean."""
_ROLES: dict[str, ActorRole] = {
    **CHAT_ROLES,
    "environment": "environment",
    "judge": "judge",
    "simulator": "simulator",
}
_ACTORS = {name: Actor(role=role) for name, role in _ROLES.items()}
_ASSISTANT, _TOOL = _ACTORS["assistant"], _ACTORS["tool"]
TALKERS = {name: _ACTORS[name] for name, role in _ROLES.items() if role != "tool"}
"""Speakers, by the name of the role."""
_decoder = msgspec.json.Decoder()
_TAKEN = frozenset(
    ("role", "name", "content", "reasoning", "reasoning_content", "tool_calls", "function_call", "model")
)


def steps_of_chat(messages: list[Any]) -> tuple[Step, ...]:
    steps: list[Step] = []
    calls: dict[str, int] = {}
    for index, message in enumerate(messages):
        if type(message) is dict:
            content, role = message.get("content"), message.get("role")
            if type(content) is str and len(message) == 2 and type(role) is str and role in TALKERS:
                steps.append(Step(index=index, actor=_ACTORS[role], text=content))
                continue
            if type(content) is str or content is None:
                steps.append(_short_step(index, message, calls) or _step(index, message, calls))
                continue
        steps.append(_step(index, message, calls))
    return tuple(steps)


def steps_of_tries(texts: list[str]) -> tuple[Step, ...]:
    """Several answers to the same prompt; a single answer is the output and needs no step."""
    if len(texts) < 2:
        return ()
    return tuple(Step(index=at, actor=_ASSISTANT, try_=at + 1, text=text) for at, text in enumerate(texts))


def _short_step(index: int, message: dict[str, Any], calls: dict[str, int]) -> Step | None:
    """The two other common forms: a tool call with or without a text, and its result."""
    if len(message) != 3:
        return None
    tool_calls, answers, role = message.get("tool_calls"), message.get("tool_call_id"), message.get("role")
    if role == "assistant" and type(tool_calls) is list:
        calls_made = tuple([_call(call) for call in tool_calls if type(call) is dict])
        for call in calls_made:
            calls[call.id] = index
        kind: StepKind = "tool_call" if calls_made else "message"
        return Step(index=index, actor=_ASSISTANT, kind=kind, text=message.get("content") or "", tool_calls=calls_made)
    if role == "tool" and type(answers) is str:
        content, parent = message.get("content") or "", calls.get(answers)
        extra = {"tool_call_id": answers}
        return Step(index=index, actor=_TOOL, kind="tool_result", parent=parent, text=content, extra=extra)
    return None


def last_answer(steps: tuple[Step, ...]) -> str | None:
    """The assistant's last message; None if it never answered."""
    for step in reversed(steps):
        if step.actor.role == "assistant":
            return step.text
    return None


def _step(index: int, message: Any, calls: dict[str, int]) -> Step:
    if type(message) is not dict:
        return Step(index=index, actor=_ACTORS["environment"], kind="log", text=as_text(message))
    actor = _actor(message)
    content = _Content(message.get("content"))
    calls_made = (*content.calls, *_calls(message))
    for call in calls_made:
        calls[call.id] = index
    answers = message.get("tool_call_id") or content.answers
    return Step(
        index=index,
        actor=actor,
        kind="tool_call" if calls_made else "tool_result" if actor.role == "tool" or content.answers else "message",
        parent=calls.get(answers) if isinstance(answers, str) and answers else None,
        text="\n".join(content.texts),
        parts=tuple(content.parts),
        reasoning=_text_of(message, "reasoning_content", "reasoning") or "\n".join(content.thoughts),
        tool_calls=calls_made,
        model=_text_of(message, "model"),
        extra={key: plain(child) for key, child in message.items() if key not in _TAKEN and child is not None},
    )


def _actor(message: dict[str, Any]) -> Actor:
    role, name = message.get("role"), message.get("name")
    known = _ROLES.get(role.lower()) if isinstance(role, str) else None
    if known is None:
        return Actor(role="environment", name=as_text(role) if role is not None else "")
    return Actor(role=known, name=name) if isinstance(name, str) and name else _ACTORS[known]


class _Content:
    """The content of a message: a text, or parts: texts, reasoning, tool calls and tool results."""

    def __init__(self, content: Any) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.parts: list[dict[str, Any]] = []
        self.calls: list[ToolCall] = []
        self.answers = ""
        for part in content if type(content) is list else (content,):
            if type(part) is dict:
                self._add(part)
            elif part is not None:
                self.texts.append(as_text(part))

    def _add(self, part: dict[str, Any]) -> None:
        kind = part.get("type")
        text = _text_of(part, "text", "thinking", "reasoning", "content")
        if kind in ("text", "input_text", "output_text") and isinstance(part.get("text"), str):
            self.texts.append(text)
        elif kind in ("thinking", "reasoning") and text:
            self.thoughts.append(text)
        elif kind == "tool_use":
            self.calls.append(_call(part))
        elif kind == "tool_result":
            self.answers = _text_of(part, "tool_use_id")
            inner = _Content(part.get("content"))
            self.texts += inner.texts
            self.parts += inner.parts
            if part.get("is_error") is not None:
                self.parts.append({"type": "tool_result", "is_error": plain(part["is_error"])})
        else:
            self.parts.append(plain(part))


def _calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls")
    result = [_call(call) for call in calls if type(call) is dict] if type(calls) is list else []
    if type(message.get("function_call")) is dict:
        result.append(_call(message["function_call"]))
    return tuple(result)


def _call(call: dict[str, Any]) -> ToolCall:
    """OpenAI keeps name and arguments below `function`; others keep them flat."""
    inner = call.get("function")
    function = inner if type(inner) is dict else call
    raw, name, ident = function.get("arguments"), function.get("name"), call.get("id")
    if raw is None:
        raw = function.get("args", function.get("input"))
    if type(name) is not str:
        name = inner if isinstance(inner, str) else ""
    if type(ident) is not str:
        ident = _text_of(call, "tool_call_id", "call_id")
    if not isinstance(raw, str):
        return ToolCall(name=name, id=ident, arguments=plain(raw))
    try:
        return ToolCall(name=name, id=ident, arguments=_arguments(raw))
    except ValueError as error:
        return ToolCall(name=name, id=ident, arguments_raw=raw, parse_error=str(error))


def _arguments(raw: str) -> Any:
    try:
        # too short to be nested too deep, and strict JSON has no `NaN`
        return _decoder.decode(raw) if len(raw) < 2 * DEPTH_CAP else plain(decode(raw.encode()))
    except msgspec.DecodeError:
        return plain(decode(raw.encode()))


def _text_of(data: dict[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := data.get(name), str) and value), "")


def request_messages(request: Any) -> list[Any]:
    messages = mapping(request).get("messages")
    if isinstance(messages, list):
        return messages
    return [{"role": "user", "content": as_text(request)}] if request is not None else []


def reply_messages(reply: Any) -> list[Any]:
    choices = [mapping(mapping(one).get("message")) for one in sequence(mapping(reply).get("choices"))]
    if any(choices):
        return [{"role": "assistant"} | one for one in choices if one]
    if isinstance(reply, dict) and ("content" in reply or "tool_calls" in reply):
        return [{"role": "assistant"} | {key: reply[key] for key in ("content", "tool_calls", "role") if key in reply}]
    return [{"role": "assistant", "content": as_text(reply)}] if reply is not None else []


def reply_text(reply: Any) -> str:
    """The text of a reply; for a provider's response, that of its first message."""
    content = reply_messages(reply)[0].get("content")
    return content if isinstance(content, str) else as_text(reply)


def finish_reason(reply: Any) -> str:
    choices = [mapping(one) for one in sequence(mapping(reply).get("choices"))]
    return next((text(one.get("finish_reason")) for one in choices), "") or text(mapping(reply).get("stop_reason"))
