"""mini-swe-agent: messages with the cost of each, and a last one of role `exit` with the exit status."""

from typing import Any

from msgspec.structs import replace

from errata.model import ErrorInfo, Limit, SourceRef, Step, Usage
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.values import (
    cost_number,
    count,
    has_value,
    mapping,
    moment_since_1970,
    non_empty,
    number,
    reported_cost,
    rest,
    sequence,
    settings,
    text,
)
from errata.sources.swe_bench.trajectory import AgentEnding, AgentTrajectory
from errata.text.redact import redact

AGENT = "mini-swe-agent"
TRACEBACK_CAP = 32 * 1024

_ENDINGS: dict[str, AgentEnding] = {
    "Submitted": AgentEnding("completed"),
    "TimeExceeded": AgentEnding("limit", limit="time"),
    "": AgentEnding("unfinished"),
}
_INFO = frozenset(["model_stats", "config", "mini_version", "exit_status", "submission"])
_DOCUMENT = frozenset(["info", "messages", "trajectory_format", "instance_id"])
_BAG = frozenset(["response", "cost", "timestamp", "raw_output"])


def trajectory_of(document: dict[str, Any], ref: SourceRef) -> AgentTrajectory:
    info = mapping(document.get("info"))
    stats, config = mapping(info.get("model_stats")), mapping(info.get("config"))
    messages = sequence(document.get("messages"))
    status = text(info.get("exit_status"))
    ending = _ending(status, stats, mapping(config.get("agent")))
    submission = info.get("submission")
    return AgentTrajectory(
        agent=AGENT,
        ref=ref,
        execution=ending.execution,
        instance=text(document.get("instance_id")),
        version=text(info.get("mini_version")),
        model=text(mapping(config.get("model")).get("model_name")),
        status=status,
        task=next((mapping(one).get("content") for one in messages if mapping(one).get("role") == "user"), None),
        steps=_steps(messages, ref),
        submission=submission if isinstance(submission, str) else None,
        errors=_errors(messages, status, ref) if ending.execution == "error" else (),
        limit=_limit(ending, status, mapping(config.get("agent"))),
        usage=_usage(stats, messages),
        extra=rest(document, _DOCUMENT)
        | non_empty(
            info=rest(info, _INFO),
            config=settings(config),
            trajectory_format=document.get("trajectory_format"),
        ),
    )


def _ending(status: str, stats: dict[str, Any], limits: dict[str, Any]) -> AgentEnding:
    """One status covers several limits: the numbers show which one it was."""
    if status != "LimitsExceeded":
        return _ENDINGS.get(status, AgentEnding("error"))
    cost, limit = number(stats.get("instance_cost")), number(limits.get("cost_limit"))
    return AgentEnding("limit", limit="cost" if cost and limit and cost >= limit else "turn")


def _limit(ending: AgentEnding, status: str, limits: dict[str, Any]) -> Limit | None:
    names = {"cost": "cost_limit", "turn": "step_limit", "time": "wall_time_limit_seconds"}
    if not ending.limit:
        return None
    return Limit(type=ending.limit, value=number(limits.get(names[ending.limit])) or None, reason=status)


def _errors(messages: list[Any], status: str, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    last = mapping(messages[-1]) if messages else {}
    details = mapping(last.get("extra"))
    traceback = text(details.get("traceback"))
    return (
        ErrorInfo(
            type=status,
            message=redact(text(details.get("exception_str")) or text(last.get("content")) or status),
            traceback=redact(traceback[-TRACEBACK_CAP:]),
            ref=ref.below("messages", max(0, len(messages) - 1)),
        ),
    )


def _steps(messages: list[Any], ref: SourceRef) -> tuple[Step, ...]:
    steps = steps_of_chat([_slim(message) for message in messages])
    bags = [mapping(mapping(message).get("extra")) for message in messages]
    return tuple(
        replace(
            step,
            usage=_usage_of_message(bag),
            started_at=moment_since_1970(bag.get("timestamp")),
            ref=ref.below("messages", step.index),
        )
        for step, bag in zip(steps, bags, strict=True)
    )


def _slim(message: Any) -> Any:
    """Without the provider's raw response and a copy of the tool's output: the message holds both."""
    if not isinstance(message, dict) or not isinstance(message.get("extra"), dict):
        return message
    bag, content = message["extra"], text(message.get("content"))
    extra = rest(bag, _BAG)
    if text(bag.get("raw_output")) not in content:
        extra |= non_empty(raw_output=bag.get("raw_output"))
    if not has_value(extra):
        return {key: value for key, value in message.items() if key != "extra"}
    return message | {"extra": extra}


def _usage_of_message(bag: dict[str, Any]) -> Usage | None:
    tokens = mapping(mapping(bag.get("response")).get("usage"))
    cost = cost_number(bag.get("cost"))
    if cost is None and not tokens:
        return None
    return Usage(
        input=count(tokens.get("prompt_tokens")),
        output=count(tokens.get("completion_tokens")),
        total=count(tokens.get("total_tokens")),
        **reported_cost(cost),
    )


def _usage(stats: dict[str, Any], messages: list[Any]) -> Usage:
    usages = [_usage_of_message(mapping(mapping(message).get("extra"))) for message in messages]
    inputs = [one.input for one in usages if one and one.input is not None]
    outputs = [one.output for one in usages if one and one.output is not None]
    return Usage(
        input=sum(inputs) if inputs else None,
        output=sum(outputs) if outputs else None,
        requests=count(stats.get("api_calls")),
        **reported_cost(stats.get("instance_cost")),
        extra=rest(stats, ("instance_cost", "api_calls")),
    )
