"""An observation → a span as errata has it."""

from typing import Any

from errata.model import ErrorInfo, Usage
from errata.model.times import moment_of
from errata.sources.base import Row
from errata.sources.langfuse.rows import time_of
from errata.sources.shared.chat import answered_in, asked_in, stopped_in
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.spans import PHASES, Span, SpanKind, call_of, parsed
from errata.sources.shared.values import count, known, mapping, number, rest, sequence, text

_KINDS: dict[str, SpanKind] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "RETRIEVER": "tool",
    "AGENT": "agent",
    "EVALUATOR": "judge",
}
_HOMES = frozenset(
    ("id", "traceId", "type", "name", "startTime", "endTime", "parentObservationId", "input", "output", "model",
     "providedModelName", "usageDetails", "usage", "level", "statusMessage", "toolCalls")
)  # fmt: skip
_TOKENS = {
    "input": ("input", "promptTokens", "prompt_tokens", "input_tokens"),
    "output": ("output", "completionTokens", "completion_tokens", "output_tokens"),
    "total": ("total", "totalTokens", "total_tokens"),
    "cache_read": ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read"),
    "cache_write": ("cache_creation_input_tokens", "input_cache_creation"),
    "reasoning": ("output_reasoning_tokens", "reasoning_tokens", "output_reasoning"),
}


def span_of(row: Row) -> Span:
    data = row.data
    kind = _KINDS.get(text(data.get("type")), "other")
    error = _error(row, kind)
    given, got = data.get("input"), data.get("output")
    return Span(
        id=text(data.get("id")),
        parent=text(data.get("parentObservationId")),
        name=text(data.get("name")),
        kind=kind,
        order=moment_of(time_of(data.get("startTime")) or "").timestamp() if time_of(data.get("startTime")) else 0,
        started_at=time_of(data.get("startTime")),
        ended_at=time_of(data.get("endTime")),
        seconds=number(data.get("latency")),
        asked=_asked(given) if kind == "model" else [],
        answered=_answered(got, data.get("toolCalls")) if kind == "model" else [],
        call=call_of(text(data.get("name")), "", given, got, failed=error is not None) if kind == "tool" else None,
        error=error,
        usage=_usage(data),
        model=text(data.get("model")) or text(data.get("providedModelName")),
        stopped=stopped_in(got),
        input=given,
        output=got,
        extra=_extra(data, kind),
        ref=row.ref,
    )


def _asked(given: Any) -> list[Any]:
    return given if isinstance(given, list) else asked_in(given)


def _answered(got: Any, calls: Any) -> list[Any]:
    if isinstance(got, list) and got and all(isinstance(one, dict) and "role" in one for one in got):
        return got
    said = answered_in(got)
    told = [parsed(one) for one in sequence(calls)]
    if told and not any(mapping(one).get("tool_calls") for one in said):
        return [*said[1:], (said or [{"role": "assistant"}])[0] | {"tool_calls": told}]
    return said


def _error(row: Row, kind: SpanKind) -> ErrorInfo | None:
    if row.data.get("level") != "ERROR":
        return None
    said = text(row.data.get("statusMessage")) or "the observation has the level ERROR"
    traceback = said if "Traceback (most recent call last)" in said else ""
    ref = row.ref.below("statusMessage")
    return error_of(raised_as(said), PHASES.get(kind, "subject"), traceback=traceback, ref=ref)


def _usage(data: dict[str, Any]) -> Usage | None:
    details = mapping(data.get("usageDetails")) or mapping(data.get("usage"))
    tokens: dict[str, Any] = {
        name: next((told for one in spelled if (told := count(details.get(one))) is not None), None)
        for name, spelled in _TOKENS.items()
    }
    costs = (mapping(data.get("costDetails")).get("total"), data.get("calculatedTotalCost"), data.get("totalCost"))
    cost = next((paid for one in costs if (paid := number(one)) is not None), None)
    if data.get("type") != "GENERATION" and not any(tokens.values()) and not cost:
        return None
    if cost is None and not any(value is not None for value in tokens.values()):
        return None
    # Langfuse takes cached tokens out of the input before it counts them
    return Usage(**tokens, cost=cost, cost_source="unknown" if cost is None else "reported", includes_cache=False)


def _extra(data: dict[str, Any], kind: SpanKind) -> dict[str, Any]:
    failed = data.get("level") == "ERROR"
    details = mapping(data.get("usageDetails")) or mapping(data.get("usage"))
    spelled = {name for names in _TOKENS.values() for name in names}
    return rest(data, _HOMES) | known(
        type=data.get("type") if kind in ("other", "tool") else None,
        level=data.get("level") if not failed and data.get("level") != "DEFAULT" else None,
        status=data.get("statusMessage") if not failed else None,
        usage=rest(details, spelled),
    )
