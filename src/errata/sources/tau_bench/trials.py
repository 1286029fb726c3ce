"""What both generations share: the trial number of an attempt, its outcome by reward, and its messages as steps.

Both the agent and the simulated user can call tools.
"""

from typing import Any, NamedTuple

from errata.model import Actor, Run, SourceRef, Step, ToolCall, ToolResult, Usage, attempt_id, case_key
from errata.model.words import Outcome
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.steps import TranscriptBuilder
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    moment,
    non_empty,
    plain,
    reported_cost,
    rest,
    sequence,
    text,
)
from errata.text.lazy_regex import lazy_regex

_CALL = frozenset(["id", "name", "arguments", "requestor"])
_SIMULATED = Actor(role="user", name="simulated")
TOLERANCE = 1e-6
"""The tolerance that tau-bench itself uses: a product of parts is rarely exactly 1."""


class TrialNumber(NamedTuple):
    case: str
    trial: int
    """Counted from 1."""
    duplicate_of: str | None = None


class TrialNumbers:
    """Trials count from 0 in the log and from 1 here; a repeated trial gets the next free number."""

    def __init__(self) -> None:
        self._taken: dict[str, set[int]] = {}

    def next(self, run: Run, task: str, trial: Any) -> TrialNumber:
        known_trial, taken = count(trial), self._taken.get(task, set())
        index = known_trial + 1 if known_trial is not None else 1
        if index not in taken:
            return TrialNumber(task, index)
        first = attempt_id(run.id, case_key(run.suite, task), index=index) if known_trial is not None else None
        while index in taken:
            index += 1
        return TrialNumber(task, index, first)

    def take(self, number: TrialNumber) -> None:
        self._taken.setdefault(number.case, set()).add(number.trial)

    def is_taken(self, task: str, index: int) -> bool:
        return index in self._taken.get(task, ())

    def is_first(self, task: str) -> bool:
        return task not in self._taken


def steps_of(messages: list[Any], ref: SourceRef) -> tuple[Step, ...]:
    builder = TranscriptBuilder()
    for at, raw in enumerate(messages):
        message, place = mapping(raw), ref.below("messages", at)
        if message.get("role") != "tool":
            builder.add(_step(message, place))
        # one message may hold several results
        for result in sequence(message.get("tool_messages")) or [message] * (message.get("role") == "tool"):
            _answer(builder, mapping(result), place)
    return builder.steps


def last_agent_message(steps: tuple[Step, ...]) -> Step | None:
    return next((step for step in reversed(steps) if step.actor.role == "assistant"), None)


def usage_of_role(steps: tuple[Step, ...], role: str, cost: float | None) -> Usage:
    """The usage of one of the two. The cost is the log's own; a cost of 0 in spite of tokens means it has no price."""
    own = [step.usage for step in steps if step.actor.role == role and step.usage is not None]
    inputs = [usage.input for usage in own if usage.input is not None]
    outputs = [usage.output for usage in own if usage.output is not None]
    is_priced = cost is not None and (cost != 0 or not inputs)
    return Usage(
        input=sum(inputs) if inputs else None,
        output=sum(outputs) if outputs else None,
        requests=len(own) or None,
        cost=cost if is_priced else None,
        cost_source="reported" if is_priced else "unknown",
        extra={} if is_priced else non_empty(cost_told=cost),
    )


def _step(data: dict[str, Any], ref: SourceRef) -> Step:
    message = JsonFields(data)
    role = CHAT_ROLES.get(text(message.take("role")), "environment")
    calls = tuple(_call(mapping(call)) for call in sequence(message.take("tool_calls")))
    content = message.take("content")
    raw, turn = mapping(message.take("raw_data")), message.take("turn_idx")
    return Step(
        index=0,
        actor=_SIMULATED if role == "user" else Actor(role=role),
        kind="tool_call" if calls else "message",
        text=content if isinstance(content, str) else "" if content is None else as_text(content),
        reasoning=text(message.take("reasoning")),
        tool_calls=calls,
        usage=_usage(message),
        started_at=moment(message.take("timestamp")),
        ref=ref,
        extra=rest(message.rest())
        | non_empty(
            turn_idx=turn,
            stop_reason=raw.get("finish_reason"),
            role=message.take("role") if role == "environment" else None,
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


def _answer(builder: TranscriptBuilder, message: dict[str, Any], ref: SourceRef) -> None:
    error = message.get("error")
    result = ToolResult(
        text=text(message.get("content")),
        is_error=error if isinstance(error, bool) else None,
        extra=rest(message, ("id", "role", "content", "error")),
    )
    builder.answer(text(message.get("id")), result, ref)


def _usage(message: JsonFields) -> Usage | None:
    tokens, cost = mapping(message.take("usage")), cost_number(message.take("cost"))
    if not tokens and cost is None:
        return None
    return Usage(
        input=count(tokens.get("prompt_tokens")),
        output=count(tokens.get("completion_tokens")),
        **reported_cost(cost),
        extra=rest(tokens, ("prompt_tokens", "completion_tokens")),
    )


def outcome_of(reward: float) -> Outcome:
    if abs(reward - 1) <= TOLERANCE:
        return "pass"
    return "partial" if TOLERANCE < reward < 1 else "fail"


_READS = lazy_regex(
    r"(?:get|find|search|list|look|check|view|read|show|calculate|count|think|verify|transfer_to_human)"
)


def only_reads(actions: Any) -> bool:
    """None of the expected actions writes: then a database that nobody touched is the expected one."""
    if not isinstance(actions, list):
        return False
    names = [text(mapping(action).get("name")) for action in actions]
    return all(name and _READS.match(name) for name in names)
