"""A span of MLflow → a span as errata has it."""

from typing import Any

from msgspec.structs import replace

from errata.model import ErrorInfo, SourceRef, Usage
from errata.sources.mlflow.values import decoded
from errata.sources.shared.chat import answered_in, asked_in, stopped_in
from errata.sources.shared.spans import Span, SpanKind, call_of, error_of, hex_id, moment, whole
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import known, mapping, number, rest, sequence, text

_KINDS: dict[str, SpanKind] = {
    "CHAT_MODEL": "model",
    "LLM": "model",
    "TOOL": "tool",
    "RETRIEVER": "tool",
    "RERANKER": "tool",
    "AGENT": "agent",
    "EVALUATOR": "judge",
}
_SPAN = frozenset(
    ("trace_id", "span_id", "parent_span_id", "name", "start_time_unix_nano", "end_time_unix_nano", "events", "status",
     "attributes", "context", "parent_id", "start_time", "end_time", "status_code", "status_message")
)  # fmt: skip
_ATTRIBUTES = frozenset(
    ("mlflow.traceRequestId", "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.chat.tokenUsage",
     "mlflow.llm.model", "mlflow.llm.cost")
)  # fmt: skip
_WELL = tuple({"code": f"STATUS_CODE_{word}", "message": ""} for word in ("OK", "UNSET"))


def span_of(data: dict[str, Any], ref: SourceRef, trace: str) -> Span:
    told = {str(key): decoded(value) for key, value in mapping(data.get("attributes")).items()}
    kind = _KINDS.get(text(told.get("mlflow.spanType")), "other")
    begun, ended = (whole(data.get(f"{end}_time_unix_nano", data.get(f"{end}_time"))) for end in ("start", "end"))
    given, got = told.get("mlflow.spanInputs"), told.get("mlflow.spanOutputs")
    error = _error(data, kind, ref)
    name = text(data.get("name"))
    return Span(
        id=hex_id(data.get("span_id") or mapping(data.get("context")).get("span_id")),
        parent=hex_id(data.get("parent_span_id") or data.get("parent_id")),
        name=name,
        kind=kind,
        order=begun or 0,
        started_at=moment(begun),
        ended_at=moment(ended),
        seconds=(ended - begun) / 1e9 if begun and ended and ended >= begun else None,
        asked=asked_in(given) if kind == "model" else [],
        answered=answered_in(got) if kind == "model" else [],
        call=call_of(name, "", given, got, failed=error is not None) if kind == "tool" else None,
        error=error,
        usage=_usage(told),
        model=text(told.get("mlflow.llm.model"))
        or text(mapping(given).get("model"))
        or text(mapping(got).get("model")),
        stopped=stopped_in(got),
        input=given,
        output=got,
        extra=_extra(data, told, kind, trace),
        ref=ref,
    )


def _usage(told: dict[str, Any]) -> Usage | None:
    used = usage_in(told.get("mlflow.chat.tokenUsage"))
    cost = number(mapping(told.get("mlflow.llm.cost")).get("total_cost"))
    if used is None and cost is None:
        return None
    return replace(used or Usage(), cost=cost, cost_source="unknown" if cost is None else "reported")


def usage_in(value: Any) -> Usage | None:
    told = mapping(decoded(value))
    if not told:
        return None
    cached = {
        "input_tokens_cache_read": "cache_read_input_tokens",
        "input_tokens_cache_write": "cache_creation_input_tokens",
    }
    # whether the input counts these, too, is up to the provider
    return replace(usage_of(told | {name: told.get(other) for name, other in cached.items()}), includes_cache=None)


def _error(data: dict[str, Any], kind: SpanKind, ref: SourceRef) -> ErrorInfo | None:
    status = mapping(data.get("status"))
    code = text(status.get("code")) or text(data.get("status_code"))
    if not code.endswith("ERROR"):
        return None
    events = [mapping(one) for one in sequence(data.get("events"))]
    at = max((at for at, one in enumerate(events) if one.get("name") == "exception"), default=None)
    raised = events[at] if at is not None else {}
    return error_of(
        kind,
        mapping(raised.get("attributes")),
        ref.below("events", at) if at is not None else ref,
        status=text(status.get("message")) or text(data.get("status_message")),
        at=moment(raised.get("time_unix_nano", raised.get("timestamp"))),
    )


def _extra(data: dict[str, Any], told: dict[str, Any], kind: SpanKind, trace: str) -> dict[str, Any]:
    failed = text(mapping(data.get("status")).get("code")).endswith("ERROR")
    events = [one for one in sequence(data.get("events")) if not (failed and mapping(one).get("name") == "exception")]
    owner = told.get("mlflow.traceRequestId")
    return rest(data, _SPAN) | known(
        attributes=rest(told, _ATTRIBUTES),
        events=events,
        type=told.get("mlflow.spanType") if kind == "other" else None,
        trace=owner if owner != trace else None,
        hex_trace=_foreign(data, trace),
        status=mapping(data.get("status")) if not failed and data.get("status") not in _WELL else None,
    )


def _foreign(data: dict[str, Any], trace: str) -> str | None:
    """The trace that a span says it is of, where that is not the one it stands in."""
    told = hex_id(data.get("trace_id") or mapping(data.get("context")).get("trace_id"))
    return told if told not in ("", trace, trace.removeprefix("tr-")) else None
