"""One trace and its spans, from any file: MLflow 3 and 2 name their parts differently."""

from typing import Any

from msgspec.structs import replace

from errata.model import ErrorInfo, SourceRef, Usage
from errata.sources.base import Row, decode
from errata.sources.shared.chat import finish_reason, reply_messages, request_messages
from errata.sources.shared.spans import SpanKind, TraceSpan, call_of, error_of, hex_id, whole
from errata.sources.shared.spans import moment as moment_of_span
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import (
    cost_number,
    mapping,
    moment,
    moment_since_1970,
    non_empty,
    number,
    reported_cost,
    rest,
    sequence,
    text,
)

_COLUMNS = ("trace", "trace_id", "state", "request_time", "execution_duration", "request", "response", "trace_metadata",
            "tags", "spans", "assessments", "client_request_id")  # fmt: skip
SOURCE_RUN = "mlflow.sourceRun"
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


class MlflowTrace:
    def __init__(self, row: Row) -> None:
        data = row.data
        if not isinstance(data, dict):
            raise ValueError("expected an object")
        self.ref = row.ref
        if isinstance(data.get("info"), dict):
            self.info, self.columns = data["info"], {}
            self.spans = sequence(mapping(data.get("data")).get("spans"))
            self.spans_ref = row.ref.below("data", "spans")
            self.ref_of_info = row.ref.below("info")
        else:
            self.columns = {str(key): value for key, value in data.items() if key not in _COLUMNS}
            trace = mapping(decode_text(data.get("trace")))
            columns = {key: data[key] for key in _COLUMNS if data.get(key) is not None}
            # the table has milliseconds under a name that a trace uses for a text
            columns |= {"execution_duration_ms": columns.pop("execution_duration", None)}
            self.info = mapping(trace.get("info")) | {key: value for key, value in columns.items() if value is not None}
            self.spans = sequence(data.get("spans")) or sequence(mapping(trace.get("data")).get("spans"))
            self.spans_ref = row.ref.below("spans")
            self.ref_of_info = row.ref
        self.id = text(self.get("trace_id", "request_id"))
        if not self.id:
            raise ValueError("a trace without an id")

    def get(self, *names: str) -> Any:
        return next((self.info[name] for name in names if self.info.get(name) is not None), None)

    @property
    def metadata(self) -> dict[str, Any]:
        return mapping(self.get("trace_metadata", "request_metadata"))

    @property
    def run(self) -> str:
        return text(self.metadata.get(SOURCE_RUN)) or text(mapping(self.info.get("tags")).get(SOURCE_RUN))

    @property
    def experiment(self) -> str:
        location = mapping(mapping(self.info.get("trace_location")).get("mlflow_experiment"))
        return text(location.get("experiment_id")) or text(self.info.get("experiment_id"))

    @property
    def native_run(self) -> str:
        """Traces without a run are grouped by experiment."""
        return self.run or f"experiment-{self.experiment or 'unknown'}"

    @property
    def name(self) -> str:
        return text(mapping(self.info.get("tags")).get("mlflow.traceName"))

    @property
    def state(self) -> str:
        return text(self.get("state", "status"))

    @property
    def assessments(self) -> list[tuple[dict[str, Any], SourceRef]]:
        listed = self.info.get("assessments")
        if not isinstance(listed, list):
            return list(self._of_columns())
        return [(mapping(one), self.ref_of_info.below("assessments", at)) for at, one in enumerate(listed)]

    def _of_columns(self) -> Any:
        """Tables with only the values: a column per scorer, and further columns for its rationale and its error."""
        for column, value in self.columns.items():
            name, slash, what = column.rpartition("/")
            if slash and what == "value":
                broken = text(self.columns.get(f"{name}/error_message"))
                error = {"error_message": broken} if broken else None
                yield (
                    {
                        "assessment_name": name,
                        "feedback": {"value": value, "error": error},
                        "rationale": self.columns.get(f"{name}/rationale"),
                    },
                    self.ref.below(column),
                )


def decode_text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode(value.encode())
    except (ValueError, UnicodeError):
        return value


def seconds_of(milliseconds: Any, written: Any) -> float | None:
    """`written` is a duration in protobuf's format: `0.005s`."""
    value = number(milliseconds)
    if value is not None:
        return value / 1000
    try:
        return float(text(written).removesuffix("s")) if text(written).endswith("s") else None
    except ValueError:
        return None


def time_of(value: Any) -> str | None:
    """A text, or milliseconds since 1970."""
    milliseconds = number(value)
    return moment(value) if milliseconds is None else moment_since_1970(milliseconds / 1000)


def span_of(data: dict[str, Any], ref: SourceRef, trace: str) -> TraceSpan:
    attributes = {str(key): decode_text(value) for key, value in mapping(data.get("attributes")).items()}
    kind = _KINDS.get(text(attributes.get("mlflow.spanType")), "other")
    begun, ended = (whole(data.get(f"{end}_time_unix_nano", data.get(f"{end}_time"))) for end in ("start", "end"))
    input_, output_ = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    error = _error(data, kind, ref)
    name = text(data.get("name"))
    return TraceSpan(
        id=hex_id(data.get("span_id") or mapping(data.get("context")).get("span_id")),
        parent=hex_id(data.get("parent_span_id") or data.get("parent_id")),
        name=name,
        kind=kind,
        order=begun or 0,
        started_at=moment_of_span(begun),
        ended_at=moment_of_span(ended),
        seconds=(ended - begun) / 1e9 if begun and ended and ended >= begun else None,
        request=request_messages(input_) if kind == "model" else [],
        reply=reply_messages(output_) if kind == "model" else [],
        call=call_of(name, "", input_, output_, failed=error is not None) if kind == "tool" else None,
        error=error,
        usage=_usage(attributes),
        model=text(attributes.get("mlflow.llm.model"))
        or text(mapping(input_).get("model"))
        or text(mapping(output_).get("model")),
        stopped=finish_reason(output_),
        input=input_,
        output=output_,
        extra=_extra(data, attributes, kind, trace),
        ref=ref,
    )


def _usage(attributes: dict[str, Any]) -> Usage | None:
    used = usage_in(attributes.get("mlflow.chat.tokenUsage"))
    cost = cost_number(mapping(attributes.get("mlflow.llm.cost")).get("total_cost"))
    if used is None and cost is None:
        return None
    return replace(used or Usage(), **reported_cost(cost))


def usage_in(value: Any) -> Usage | None:
    tokens = mapping(decode_text(value))
    if not tokens:
        return None
    cached = {
        "input_tokens_cache_read": "cache_read_input_tokens",
        "input_tokens_cache_write": "cache_creation_input_tokens",
    }
    # whether the input includes these depends on the provider
    return replace(usage_of(tokens | {name: tokens.get(other) for name, other in cached.items()}), includes_cache=None)


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
        at=moment_of_span(raised.get("time_unix_nano", raised.get("timestamp"))),
    )


def _extra(data: dict[str, Any], attributes: dict[str, Any], kind: SpanKind, trace: str) -> dict[str, Any]:
    failed = text(mapping(data.get("status")).get("code")).endswith("ERROR")
    events = [one for one in sequence(data.get("events")) if not (failed and mapping(one).get("name") == "exception")]
    owner = attributes.get("mlflow.traceRequestId")
    return rest(data, _SPAN) | non_empty(
        attributes=rest(attributes, _ATTRIBUTES),
        events=events,
        type=attributes.get("mlflow.spanType") if kind == "other" else None,
        trace=owner if owner != trace else None,
        hex_trace=_foreign(data, trace),
        status=mapping(data.get("status")) if not failed and data.get("status") not in _WELL else None,
    )


def _foreign(data: dict[str, Any], trace: str) -> str | None:
    """The trace id in a span, if it is not the trace that holds it."""
    ident = hex_id(data.get("trace_id") or mapping(data.get("context")).get("trace_id"))
    return ident if ident not in ("", trace, trace.removeprefix("tr-")) else None
