"""Spans of a trace that promptfoo collected while a row ran, as steps."""

from collections.abc import Iterator
from typing import Any

from errata.model import Actor, ErrorInfo, Step
from errata.model.words import ActorRole, StepKind
from errata.sources.promptfoo.values import moment, rest
from errata.sources.shared.values import mapping, sequence, text

_KNOWN = ("spanId", "parentSpanId", "name", "startTime", "endTime", "status")


def steps_of_trace(trace: dict[str, Any], start: int) -> Iterator[Step]:
    spans = [span for span in sequence(trace.get("spans")) if isinstance(span, dict)]
    places = {text(span.get("spanId")): start + at for at, span in enumerate(spans)}
    for at, span in enumerate(spans):
        kind, role = _kind(span)
        yield Step(
            index=start + at,
            actor=Actor(role=role),
            kind=kind,
            parent=places.get(text(span.get("parentSpanId"))),
            text=text(span.get("name")),
            error=_error(span),
            started_at=moment(span.get("startTime")),
            ended_at=moment(span.get("endTime")),
            model=text(mapping(span.get("attributes")).get("gen_ai.request.model")),
            span_id=text(span.get("spanId")),
            extra=rest(span, _KNOWN),
        )


def _kind(span: dict[str, Any]) -> tuple[StepKind, ActorRole]:
    names = [text(span.get("name")), *mapping(span.get("attributes"))]
    if any(name.startswith(("tool.", "gen_ai.tool.", "execute_tool")) for name in names):
        return "tool_call", "tool"
    if any(name.startswith(("llm.", "gen_ai.")) for name in names):
        return "model_call", "assistant"
    return "log", "environment"


def _error(span: dict[str, Any]) -> ErrorInfo | None:
    status = mapping(span.get("status"))
    code = status.get("code", span.get("statusCode"))
    if code not in (2, "error", "ERROR"):
        return None
    message = text(status.get("message")) or text(span.get("statusMessage"))
    return ErrorInfo(type="span_error", message=message, phase="subject")
