"""The messages of a simulation as steps. Two can call tools: the agent, and the user that is simulated."""

from typing import Any

from errata.model import Actor, SourceRef, Step, ToolCall, ToolResult, Usage
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.steps import Talk
from errata.sources.shared.values import as_text, count, known, mapping, moment, number, plain, rest, sequence, text

_TAKEN = frozenset(["role", "content", "tool_calls", "reasoning", "timestamp", "cost", "usage", "raw_data", "turn_idx"])
_CALL = frozenset(["id", "name", "arguments", "requestor"])
_SIMULATED = Actor(role="user", name="simulated")


def steps_of(messages: list[Any], ref: SourceRef) -> tuple[Step, ...]:
    talk = Talk()
    for at, told in enumerate(messages):
        message, place = mapping(told), ref.below("messages", at)
        if message.get("role") != "tool":
            talk.add(_step(message, place))
        # several results may stand in one message
        for result in sequence(message.get("tool_messages")) or [message] * (message.get("role") == "tool"):
            _answer(talk, mapping(result), place)
    return talk.steps


def last_words(steps: tuple[Step, ...]) -> Step | None:
    """The agent's last message."""
    return next((step for step in reversed(steps) if step.actor.role == "assistant"), None)


def spent(steps: tuple[Step, ...], role: str, cost: float | None) -> Usage:
    """By one of the two. The total is the log's own; 0 where tokens were used is no price, but the want of one."""
    own = [step.usage for step in steps if step.actor.role == role and step.usage is not None]
    inputs = [usage.input for usage in own if usage.input is not None]
    outputs = [usage.output for usage in own if usage.output is not None]
    is_priced = cost is not None and (cost > 0 or not inputs)
    return Usage(
        input=sum(inputs) if inputs else None,
        output=sum(outputs) if outputs else None,
        requests=len(own) or None,
        cost=cost if is_priced else None,
        cost_source="reported" if is_priced else "unknown",
        extra={} if is_priced else known(cost_told=cost),
    )


def _step(message: dict[str, Any], ref: SourceRef) -> Step:
    role = CHAT_ROLES.get(text(message.get("role")), "environment")
    calls = tuple(_call(mapping(call)) for call in sequence(message.get("tool_calls")))
    content = message.get("content")
    raw = mapping(message.get("raw_data"))
    return Step(
        index=0,
        actor=_SIMULATED if role == "user" else Actor(role=role),
        kind="tool_call" if calls else "message",
        text=content if isinstance(content, str) else "" if content is None else as_text(content),
        reasoning=text(message.get("reasoning")),
        tool_calls=calls,
        usage=_usage(message),
        started_at=moment(message.get("timestamp")),
        ref=ref,
        extra=rest(message, _TAKEN)
        | known(
            turn_idx=message.get("turn_idx"),
            stop_reason=raw.get("finish_reason"),
            role=message.get("role") if role == "environment" else None,
        ),
    )


def _call(call: dict[str, Any]) -> ToolCall:
    return ToolCall(
        name=text(call.get("name")),
        id=text(call.get("id")),
        arguments=plain(call.get("arguments")),
        requestor=text(call.get("requestor")),
        extra=rest(call, _CALL),
    )


def _answer(talk: Talk, message: dict[str, Any], ref: SourceRef) -> None:
    error = message.get("error")
    result = ToolResult(
        text=text(message.get("content")),
        is_error=error if isinstance(error, bool) else None,
        extra=rest(message, ("id", "role", "content", "error")),
    )
    talk.answer(text(message.get("id")), result, ref)


def _usage(message: dict[str, Any]) -> Usage | None:
    tokens, cost = mapping(message.get("usage")), number(message.get("cost"))
    if not tokens and cost is None:
        return None
    return Usage(
        input=count(tokens.get("prompt_tokens")),
        output=count(tokens.get("completion_tokens")),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        extra=rest(tokens, ("prompt_tokens", "completion_tokens")),
    )
