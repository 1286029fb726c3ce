"""What happened in a trace: its spans, each a step."""

from typing import Any

from errata.model import Actor, Step
from errata.model.words import ActorRole, Phase, StepKind
from errata.sources.base import Row
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.scores import answer_of
from errata.sources.shared.values import as_text, known, mapping, moment_since_1970, number, rest, sequence, text

SCORE = "score"
STEPS_CAP = 10_000
_KINDS: dict[str, tuple[ActorRole, StepKind]] = {
    "llm": ("assistant", "model_call"),
    "tool": ("tool", "tool_result"),
    "function": ("tool", "tool_result"),
    SCORE: ("judge", "score"),
}
_SPAN = frozenset(("span_id", "span_parents", "root_span_id", "output", "error", "metrics", "span_attributes"))


def kind_of(span: dict[str, Any]) -> str:
    return text(mapping(span.get("span_attributes")).get("type"))


def steps_of(spans: list[Row]) -> tuple[Step, ...]:
    """In the order in which they began."""
    ordered = sorted(spans, key=lambda one: number(mapping(one.data.get("metrics")).get("start")) or 0)[:STEPS_CAP]
    at = {text(one.data.get("span_id")): index for index, one in enumerate(ordered)}
    return tuple(_step(one, index, at) for index, one in enumerate(ordered))


def _step(row: Row, index: int, at: dict[str, int]) -> Step:
    span = row.data
    attributes, metrics = mapping(span.get("span_attributes")), mapping(span.get("metrics"))
    role, kind = _KINDS.get(kind_of(span), ("environment", "log"))
    above = [at[one] for one in sequence(span.get("span_parents")) if isinstance(one, str) and one in at]
    said, error = span.get("output"), span.get("error")
    phase: Phase = "scoring" if role == "judge" else "tool" if role == "tool" else "subject"
    return Step(
        index=index,
        actor=Actor(role=role, name=text(attributes.get("name"))),
        kind=kind,
        parent=above[0] if above and above[0] != index else None,
        text=answer_of(said) or ("" if said is None else as_text(said)),
        error=error_of(raised_as(as_text(error)), phase, ref=row.ref) if error else None,
        started_at=moment_since_1970(metrics.get("start")),
        ended_at=moment_since_1970(metrics.get("end")),
        model=text(mapping(span.get("metadata")).get("model")),
        span_id=text(span.get("span_id")),
        ref=row.ref,
        extra=rest(span, _SPAN) | known(type=kind_of(span), metrics=metrics),
    )
