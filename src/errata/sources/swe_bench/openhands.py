"""OpenHands: `output.jsonl` with a line per instance, with the events of both generations of its log."""

import re
from collections.abc import Iterator
from typing import Any

from errata.model import Actor, Artefact, ErrorInfo, Limit, SourceRef, Step, ToolCall, Usage
from errata.model.words import ActorRole, StepKind
from errata.sources.shared.values import (
    as_text,
    count,
    mapping,
    moment,
    non_empty,
    plain,
    reported_cost,
    rest,
    sequence,
    settings,
    text,
)
from errata.sources.swe_bench.trajectory import AgentEnding, AgentTrajectory, error_of
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

AGENT = "OpenHands"
_ROW = frozenset(
    ["instance_id", "attempt", "test_result", "instruction", "metadata", "history", "metrics", "error", "instance"]
)
_METRICS = frozenset(["accumulated_cost", "accumulated_token_usage", "costs", "response_latencies", "token_usages"])
_TOKENS = frozenset(
    ["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "model"]
)
_INSTANCE = frozenset(["instance_id", "problem_statement", "patch", "test_patch"])
# OpenHands has one field for all errors; these are its texts for a limit
_ITERATIONS = lazy_regex(r"max(?:imum)?[ _]?(?:number of )?iterations?", re.IGNORECASE)
_BUDGET = lazy_regex(r"max(?:imum)?[ _]?budget|budget (?:exceeded|limit)", re.IGNORECASE)
_KIND = lazy_regex(r"^(?P<kind>[A-Z]\w*(?:Error|Exception)\b)")
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


def trajectory_of(row: dict[str, Any], ref: SourceRef) -> AgentTrajectory:
    history, metadata, result = sequence(row.get("history")), mapping(row.get("metadata")), row.get("test_result")
    raised = conversation_errors(history, ref)
    status = text(row.get("error")) or (raised[0].message if raised else "")
    ending = _ending(" ".join([status, *(error.type for error in raised)]))
    instance, patch = mapping(row.get("instance")), mapping(result).get("git_patch")
    return AgentTrajectory(
        agent=AGENT,
        ref=ref,
        execution=ending.execution,
        instance=text(row.get("instance_id")),
        version=text(metadata.get("openhands_version")),
        model=text(mapping(row.get("metrics")).get("model_name"))
        or text(mapping(metadata.get("llm")).get("model"))
        or text(mapping(metadata.get("llm_config")).get("model")),
        status=redact(status.partition("\n")[0]),
        task=instance.get("problem_statement") or row.get("instruction"),
        reference=tuple(_reference(instance, ref)),
        steps=steps_of(history, ref),
        submission=patch if isinstance(patch, str) else None,
        errors=(raised or _error(status, ending, ref)) if ending.execution == "error" else (),
        limit=Limit(type=ending.limit, reason=redact(status)) if ending.limit else None,
        usage=_usage(mapping(row.get("metrics"))),
        extra=_extra(row, metadata, instance),
    )


def _ending(status: str) -> AgentEnding:
    if not status.strip():
        return AgentEnding("completed")
    if _ITERATIONS.search(status):
        return AgentEnding("limit", limit="turn")
    return AgentEnding("limit", limit="cost") if _BUDGET.search(status) else AgentEnding("error")


def _error(status: str, ending: AgentEnding, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    kind = _KIND.match(status)
    return error_of(kind["kind"] if kind else "error", redact(status), ending, ref.below("error"))


def _usage(metrics: dict[str, Any]) -> Usage:
    tokens = mapping(metrics.get("accumulated_token_usage"))
    calls = len(sequence(metrics.get("token_usages"))) or len(sequence(metrics.get("costs")))
    return Usage(
        input=count(tokens.get("prompt_tokens")),
        output=count(tokens.get("completion_tokens")),
        cache_read=count(tokens.get("cache_read_tokens")),
        cache_write=count(tokens.get("cache_write_tokens")),
        reasoning=count(tokens.get("reasoning_tokens")),
        requests=calls or None,
        **reported_cost(metrics.get("accumulated_cost")),
        includes_cache=True,
        extra=rest(tokens, _TOKENS) | rest(metrics, _METRICS),
    )


def _reference(instance: dict[str, Any], ref: SourceRef) -> list[Artefact]:
    artefacts = []
    for name, role in (("patch", "expected"), ("test_patch", "grader")):
        if diff := text(instance.get(name)):
            size = len(diff.encode("utf-8", "replace"))
            place = ref.below("instance", name)
            artefacts.append(Artefact(role=role, path=f"{name}.diff", size=size, text=diff, ref=place))  # type: ignore[arg-type]
    return artefacts


def _extra(row: dict[str, Any], metadata: dict[str, Any], instance: dict[str, Any]) -> dict[str, Any]:
    other_results = rest(mapping(row.get("test_result")), ("git_patch",))
    instruction = row.get("instruction") if instance.get("problem_statement") else None
    return rest(row, _ROW) | non_empty(
        attempt=row.get("attempt"),
        metadata=settings(metadata),
        test_result=other_results,
        instance=rest(instance, _INSTANCE),
        instruction=instruction,
    )


def steps_of(history: list[Any], ref: SourceRef) -> tuple[Step, ...]:
    steps: list[Step] = []
    calls: dict[str, int] = {}
    for place, event in _events(history, ref):
        if len(steps) == STEPS_CAP:
            break
        step = _sdk_step(event, len(steps), calls, place) if "kind" in event else _step(event, len(steps), calls, place)
        steps.append(step)
    return tuple(steps)


def conversation_errors(history: list[Any], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """The errors that ended the conversation; an error that the agent recovered from is a step."""
    return tuple(
        ErrorInfo(
            type=text(event.get("code")) or "ConversationError",
            message=redact(text(event.get("detail")) or text(event.get("error"))),
            at=moment(event.get("timestamp")),
            ref=place,
        )
        for place, event in _events(history, ref)
        if event.get("kind") == "ConversationErrorEvent"
    )


def _events(history: list[Any], ref: SourceRef) -> Iterator[tuple[SourceRef, dict[str, Any]]]:
    """The oldest logs keep an action and its observation as a pair."""
    for at, event in enumerate(history):
        for inner, entry in enumerate(event) if isinstance(event, list) else [(-1, event)]:
            if isinstance(entry, dict):
                yield ref.below("history", at, *([] if inner < 0 else [inner])), entry


def _sdk_step(event: dict[str, Any], index: int, calls: dict[str, int], ref: SourceRef) -> Step:
    kind, action, observation = text(event.get("kind")), mapping(event.get("action")), mapping(event.get("observation"))
    message = mapping(event.get("llm_message"))
    if action:
        calls[text(event.get("tool_call_id"))] = index
    message_text = _words(message.get("content"), event.get("thought"), mapping(event.get("system_prompt")).get("text"))
    shown_text = message_text or _words(
        observation.get("content"), observation.get("output"), event.get("error"), event.get("detail")
    )
    return Step(
        index=index,
        actor=Actor(role=_role(event, kind, bool(action or message))),
        kind=_kind(bool(action), bool(observation), is_message=bool(message or kind == "SystemPromptEvent")),
        parent=calls.get(text(event.get("tool_call_id"))) if not action else None,
        text=shown_text,
        reasoning=text(event.get("reasoning_content")) or text(message.get("reasoning_content")),
        tool_calls=(_call(event, rest(action, ("kind",))),) if action else (),
        error=_step_error(event, ref) if kind in _FAILED else None,
        started_at=moment(event.get("timestamp")),
        span_id=text(event.get("id")),
        ref=ref,
        extra=rest(event, _TAKEN)
        | non_empty(kind=kind, observation=rest(observation, ("content", "output")), tool=_tool(event)),
    )


def _step(event: dict[str, Any], index: int, calls: dict[str, int], ref: SourceRef) -> Step:
    """Before the SDK: `action` with `args`, or `observation` with `content` and the id of its action as `cause`."""
    action, arguments = text(event.get("action")), mapping(event.get("args"))
    is_call = bool(action) and action not in ("message", "system")
    calls[as_text(event.get("id"))] = index
    message_text = _words(
        arguments.get("content"), arguments.get("thought"), event.get("content"), event.get("message")
    )
    source = text(event.get("source"))
    role = "tool" if event.get("observation") else "system" if action == "system" else _ROLES.get(source, "environment")
    other_arguments = rest(arguments, ("content", "thought"))
    return Step(
        index=index,
        actor=Actor(role=role),
        kind=_kind(is_call, bool(event.get("observation")), is_message=bool(action)),
        parent=calls.get(as_text(event.get("cause"))) if event.get("observation") else None,
        text=message_text,
        tool_calls=(ToolCall(name=action, id=as_text(event.get("id")), arguments=other_arguments),) if is_call else (),
        started_at=moment(event.get("timestamp")),
        span_id=as_text(event.get("id")) if event.get("id") is not None else "",
        ref=ref,
        extra=rest(event, _TAKEN)
        | non_empty(observation=event.get("observation"), args=None if is_call else other_arguments),
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


def _step_error(event: dict[str, Any], ref: SourceRef) -> ErrorInfo:
    message = text(event.get("error")) or text(event.get("detail"))
    return ErrorInfo(type=text(event.get("kind")), message=redact(message), phase="tool", ref=ref)


def _words(*contents: Any) -> str:
    """The first text that is not empty: a text, or parts with texts."""
    for content in contents:
        parts = sequence(content) or [content]
        texts = [part if isinstance(part, str) else text(mapping(part).get("text")) for part in parts]
        if any(texts):
            return "\n".join(filter(None, texts))
    return ""
