"""SWE-agent: a `.traj` file per instance, from 2024 and later."""

from typing import Any

from errata.model import Actor, Limit, SourceRef, Step, ToolCall, ToolResult, Usage
from errata.sources.base import decode
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.values import count, mapping, non_empty, number, reported_cost, rest, sequence, text
from errata.sources.swe_bench.trajectory import AgentEnding, AgentTrajectory, error_of
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

AGENT = "SWE-agent"

_ENDINGS: dict[str, AgentEnding] = {
    "submitted": AgentEnding("completed"),
    "exit_forfeit": AgentEnding("completed"),
    "exit_command": AgentEnding("completed"),
    "exit_cost": AgentEnding("limit", limit="cost"),
    "exit_total_cost": AgentEnding("limit", limit="cost"),
    "exit_context": AgentEnding("limit", limit="context"),
    "exit_command_timeout": AgentEnding("limit", limit="time"),
    "exit_total_execution_time": AgentEnding("limit", limit="time"),
    "exit_environment_error": AgentEnding("error", "environment"),
    "early_exit": AgentEnding("unfinished"),
    "": AgentEnding("unfinished"),
}
_AUTOSUBMITTED = lazy_regex(r"^submitted \((?P<cause>[^)]+)\)$")
_STEP = frozenset(["action", "observation", "response", "thought", "execution_time", "query"])
_INFO = frozenset(["exit_status", "submission", "model_stats", "swe_agent_version"])
_STATS = frozenset(["instance_cost", "tokens_sent", "tokens_received", "api_calls"])


def trajectory_of(document: dict[str, Any], ref: SourceRef) -> AgentTrajectory:
    info = mapping(document.get("info"))
    status = text(info.get("exit_status"))
    ending = ending_of(status)
    items = [mapping(item) for item in sequence(document.get("trajectory"))]
    lead = _lead(sequence(document.get("history")))
    submission = info.get("submission")
    config = _config(document.get("replay_config"))
    return AgentTrajectory(
        agent=AGENT,
        ref=ref,
        execution=ending.execution,
        version=text(info.get("swe_agent_version")),
        model=text(mapping(mapping(config.get("agent")).get("model")).get("name")),
        status=status,
        task=_task(lead),
        steps=_steps(lead, items, _thoughts(document, len(items)), ref),
        submission=submission if isinstance(submission, str) else None,
        errors=error_of(status, redact(_exit_reason(items)), ending, ref.below("info", "exit_status")),
        limit=Limit(type=ending.limit, reason=status) if ending.limit else None,
        usage=_usage(mapping(info.get("model_stats"))),
        extra=non_empty(
            environment=document.get("environment"),
            info=rest(info, _INFO),
            attempts=_attempts(document),
            edited=document.get("edited_files"),
        ),
    )


def ending_of(status: str) -> AgentEnding:
    """`submitted (exit_cost)`: SWE-agent itself submitted the patch after something else had ended the work."""
    match = _AUTOSUBMITTED.match(status)
    return _ENDINGS.get(match["cause"] if match else status, AgentEnding("error"))


def _lead(history: list[Any]) -> list[Any]:
    """The messages before the agent's first answer; later ones are repeated in the trajectory."""
    for at, message in enumerate(history):
        if mapping(message).get("role") == "assistant" and not mapping(message).get("is_demo"):
            return history[:at]
    return history


def _task(lead: list[Any]) -> Any:
    prompts = [
        message for message in map(mapping, lead) if message.get("role") == "user" and not message.get("is_demo")
    ]
    return prompts[0].get("content") if prompts else None


def _thoughts(document: dict[str, Any], steps: int) -> list[str]:
    """Separate reasoning of a model is only in the history."""
    own = [mapping(message) for message in sequence(document.get("history"))]
    own = [message for message in own if message.get("role") == "assistant" and not message.get("is_demo")]
    if len(own) != steps:
        return [""] * steps
    blocks = [sequence(message.get("thinking_blocks")) for message in own]
    return ["\n".join(text(mapping(block).get("thinking")) for block in parts) for parts in blocks]


def _steps(lead: list[Any], items: list[dict[str, Any]], thoughts: list[str], ref: SourceRef) -> tuple[Step, ...]:
    steps = list(steps_of_chat(lead))
    for at, (item, reasoning) in enumerate(zip(items, thoughts, strict=True)):
        steps.append(_step(item, reasoning, len(steps), ref.below("trajectory", at)))
    return tuple(steps)


def _step(item: dict[str, Any], reasoning: str, index: int, ref: SourceRef) -> Step:
    action, response, thought = text(item.get("action")), text(item.get("response")), text(item.get("thought"))
    call = ToolCall(
        name=action.split(maxsplit=1)[0] if action.strip() else "",
        arguments={"command": action},
        result=ToolResult(text=text(item.get("observation"))),
        duration=number(item.get("execution_time")),
    )
    has_acted = bool(action or item.get("observation"))
    return Step(
        index=index,
        actor=Actor(role="assistant"),
        kind="tool_call" if has_acted else "message",
        text=response or thought,
        reasoning=reasoning,
        tool_calls=(call,) if has_acted else (),
        ref=ref,
        extra=rest(item, _STEP) | non_empty(thought=thought if thought not in response else None),
    )


def _exit_reason(items: list[dict[str, Any]]) -> str:
    """If SWE-agent gave up, it writes the reason in place of a thought."""
    thought = text(items[-1].get("thought")) if items else ""
    return thought if thought.startswith("Exit") else ""


def _usage(stats: dict[str, Any]) -> Usage:
    return Usage(
        input=count(stats.get("tokens_sent")),
        output=count(stats.get("tokens_received")),
        requests=count(stats.get("api_calls")),
        **reported_cost(stats.get("instance_cost")),
        extra=rest(stats, _STATS),
    )


def _config(config: Any) -> dict[str, Any]:
    """The configuration is a JSON document in a text."""
    try:
        return mapping(decode(config.encode())) if isinstance(config, str) else mapping(config)
    except ValueError:
        return {}


def _attempts(document: dict[str, Any]) -> list[dict[str, Any]]:
    """A retrying agent keeps all its attempts; the file as a whole holds the best of them."""
    infos = [mapping(mapping(one).get("info")) for one in sequence(document.get("attempts"))]
    return [non_empty(exit_status=info.get("exit_status"), model_stats=info.get("model_stats")) for info in infos]
