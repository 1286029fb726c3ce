"""OpenHands: a line of `output.jsonl` for each instance, with the events of both generations of its log."""

import re
from typing import Any

from errata.model import Artefact, ErrorInfo, Limit, SourceRef, Usage
from errata.sources.shared.values import count, known, mapping, number, rest, sequence, settings, text
from errata.sources.swe_bench.openhands_events import conversation_errors, steps_of
from errata.sources.swe_bench.trajectory import Ending, Trajectory, error_of
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
# OpenHands has one field for all errors; its own words for a limit are these
_ITERATIONS = re.compile(r"max(?:imum)?[ _]?(?:number of )?iterations?", re.IGNORECASE)
_BUDGET = re.compile(r"max(?:imum)?[ _]?budget|budget (?:exceeded|limit)", re.IGNORECASE)
_KIND = re.compile(r"^(?P<kind>[A-Z]\w*(?:Error|Exception)\b)")


def trajectory_of(row: dict[str, Any], ref: SourceRef) -> Trajectory:
    history, metadata, result = sequence(row.get("history")), mapping(row.get("metadata")), row.get("test_result")
    raised = conversation_errors(history, ref)
    status = text(row.get("error")) or (raised[0].message if raised else "")
    ending = _ending(" ".join([status, *(error.type for error in raised)]))
    instance, patch = mapping(row.get("instance")), mapping(result).get("git_patch")
    return Trajectory(
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


def _ending(status: str) -> Ending:
    if not status.strip():
        return Ending("completed")
    if _ITERATIONS.search(status):
        return Ending("limit", limit="turn")
    return Ending("limit", limit="cost") if _BUDGET.search(status) else Ending("error")


def _error(status: str, ending: Ending, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    kind = _KIND.match(status)
    return error_of(kind["kind"] if kind else "error", redact(status), ending, ref.below("error"))


def _usage(metrics: dict[str, Any]) -> Usage:
    tokens = mapping(metrics.get("accumulated_token_usage"))
    cost = number(metrics.get("accumulated_cost"))
    calls = len(sequence(metrics.get("token_usages"))) or len(sequence(metrics.get("costs")))
    return Usage(
        input=count(tokens.get("prompt_tokens")),
        output=count(tokens.get("completion_tokens")),
        cache_read=count(tokens.get("cache_read_tokens")),
        cache_write=count(tokens.get("cache_write_tokens")),
        reasoning=count(tokens.get("reasoning_tokens")),
        requests=calls or None,
        cost=cost,
        cost_source="reported" if cost is not None else "unknown",
        includes_cache=True,
        extra=rest(tokens, _TOKENS) | rest(metrics, _METRICS),
    )


def _reference(instance: dict[str, Any], ref: SourceRef) -> list[Artefact]:
    found = []
    for name, role in (("patch", "expected"), ("test_patch", "grader")):
        if words := text(instance.get(name)):
            size = len(words.encode("utf-8", "replace"))
            place = ref.below("instance", name)
            found.append(Artefact(role=role, path=f"{name}.diff", size=size, text=words, ref=place))  # type: ignore[arg-type]
    return found


def _extra(row: dict[str, Any], metadata: dict[str, Any], instance: dict[str, Any]) -> dict[str, Any]:
    more = rest(mapping(row.get("test_result")), ("git_patch",))
    instruction = row.get("instruction") if instance.get("problem_statement") else None
    return rest(row, _ROW) | known(
        attempt=row.get("attempt"),
        metadata=settings(metadata),
        test_result=more,
        instance=rest(instance, _INSTANCE),
        instruction=instruction,
    )
