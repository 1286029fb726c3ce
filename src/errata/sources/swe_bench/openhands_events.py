"""The events of OpenHands as steps: of its SDK, which have a `kind`, and those of before, with `action` and `args`."""

from collections.abc import Iterator
from typing import Any

from errata.model import Actor, ErrorInfo, SourceRef, Step, ToolCall
from errata.model.words import ActorRole, StepKind
from errata.sources.shared.values import as_text, known, mapping, moment, plain, rest, sequence, text
from errata.text.redact import redact

STEPS_CAP = 100_000

_ROLES: dict[str, ActorRole] = {"agent": "assistant", "user": "user", "environment": "environment"}
_TAKEN = frozenset(
    [
        "id",
        "kind",
        "timestamp",
        "source",
        "llm_message",
        "system_prompt",
        "thought",
        "reasoning_content",
        "action",
        "observation",
        "tool_name",
        "tool_call_id",
        "tool_call",
        "tools",
        "args",
        "content",
        "cause",
        "message",
        "value",
    ]
)
_FAILED = ("ConversationErrorEvent", "AgentErrorEvent")


def steps_of(history: list[Any], ref: SourceRef) -> tuple[Step, ...]:
    made: list[Step] = []
    calls: dict[str, int] = {}
    for place, event in _events(history, ref):
        if len(made) == STEPS_CAP:
            break
        step = _sdk_step(event, len(made), calls, place) if "kind" in event else _step(event, len(made), calls, place)
        made.append(step)
    return tuple(made)


def conversation_errors(history: list[Any], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """What ended the conversation; an error that the agent only met on its way is a step."""
    return tuple(
        ErrorInfo(
            type=text(event.get("code")) or "ConversationError",
            message=redact(text(event.get("detail")) or text(event.get("error"))),
            phase="subject",
            at=moment(event.get("timestamp")),
            ref=place,
        )
        for place, event in _events(history, ref)
        if event.get("kind") == "ConversationErrorEvent"
    )


def _events(history: list[Any], ref: SourceRef) -> Iterator[tuple[SourceRef, dict[str, Any]]]:
    """The oldest logs keep an action and its observation as a pair."""
    for at, event in enumerate(history):
        for inner, one in enumerate(event) if isinstance(event, list) else [(-1, event)]:
            if isinstance(one, dict):
                yield ref.below("history", at, *([] if inner < 0 else [inner])), one


def _sdk_step(event: dict[str, Any], index: int, calls: dict[str, int], ref: SourceRef) -> Step:
    kind, action, seen = text(event.get("kind")), mapping(event.get("action")), mapping(event.get("observation"))
    message = mapping(event.get("llm_message"))
    if action:
        calls[text(event.get("tool_call_id"))] = index
    words = _words(message.get("content"), event.get("thought"), mapping(event.get("system_prompt")).get("text"))
    said = words or _words(seen.get("content"), seen.get("output"), event.get("error"), event.get("detail"))
    return Step(
        index=index,
        actor=Actor(role=_role(event, kind, bool(action or message))),
        kind=_kind(bool(action), bool(seen), is_message=bool(message or kind == "SystemPromptEvent")),
        parent=calls.get(text(event.get("tool_call_id"))) if not action else None,
        text=said,
        reasoning=text(event.get("reasoning_content")) or text(message.get("reasoning_content")),
        tool_calls=(_call(event, rest(action, ("kind",))),) if action else (),
        error=_met(event, ref) if kind in _FAILED else None,
        started_at=moment(event.get("timestamp")),
        span_id=text(event.get("id")),
        ref=ref,
        extra=rest(event, _TAKEN) | known(kind=kind, observation=rest(seen, ("content", "output")), tool=_tool(event)),
    )


def _step(event: dict[str, Any], index: int, calls: dict[str, int], ref: SourceRef) -> Step:
    """Before the SDK: `action` with `args`, or `observation` with `content` and the id of its action as `cause`."""
    action, arguments = text(event.get("action")), mapping(event.get("args"))
    is_call = bool(action) and action not in ("message", "system")
    calls[as_text(event.get("id"))] = index
    words = _words(arguments.get("content"), arguments.get("thought"), event.get("content"), event.get("message"))
    source = text(event.get("source"))
    role = "tool" if event.get("observation") else "system" if action == "system" else _ROLES.get(source, "environment")
    left = rest(arguments, ("content", "thought"))
    return Step(
        index=index,
        actor=Actor(role=role),
        kind=_kind(is_call, bool(event.get("observation")), is_message=bool(action)),
        parent=calls.get(as_text(event.get("cause"))) if event.get("observation") else None,
        text=words,
        tool_calls=(ToolCall(name=action, id=as_text(event.get("id")), arguments=left),) if is_call else (),
        started_at=moment(event.get("timestamp")),
        span_id=as_text(event.get("id")) if event.get("id") is not None else "",
        ref=ref,
        extra=rest(event, _TAKEN) | known(observation=event.get("observation"), args=None if is_call else left),
    )


def _role(event: dict[str, Any], kind: str, own: bool) -> ActorRole:
    if kind == "SystemPromptEvent":
        return "system"
    if event.get("observation") or kind == "AgentErrorEvent":
        return "tool"
    return _ROLES.get(text(event.get("source")), "environment") if own else "environment"


def _kind(is_call: bool, is_answer: bool, *, is_message: bool) -> StepKind:
    if is_call:
        return "tool_call"
    return "tool_result" if is_answer else "message" if is_message else "state"


def _call(event: dict[str, Any], arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(name=text(event.get("tool_name")), id=text(event.get("tool_call_id")), arguments=plain(arguments))


def _tool(event: dict[str, Any]) -> str:
    return "" if mapping(event.get("action")) else text(event.get("tool_name"))


def _met(event: dict[str, Any], ref: SourceRef) -> ErrorInfo:
    message = text(event.get("error")) or text(event.get("detail"))
    return ErrorInfo(type=text(event.get("kind")), message=redact(message), phase="tool", ref=ref)


def _words(*contents: Any) -> str:
    """The first that says anything: a text, or parts with texts."""
    for content in contents:
        parts = sequence(content) or [content]
        said = [part if isinstance(part, str) else text(mapping(part).get("text")) for part in parts]
        if any(said):
            return "\n".join(filter(None, said))
    return ""
