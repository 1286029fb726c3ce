"""Whether a trace was measured, and how it came out: events of evaluations, evaluator spans, a test's own status."""

from collections.abc import Iterator
from typing import Any

from errata.model import Check, ErrorInfo
from errata.model.words import CheckStatus
from errata.sources.otlp.names import RESULT_STATUS
from errata.sources.otlp.spans import Evaluation, Recorded
from errata.sources.shared.scores import status_of_value
from errata.sources.shared.spans import parsed
from errata.sources.shared.values import as_text, known, mapping, number, rest, text

_SCORE = "gen_ai.evaluation.score."


def checks_of(spans: list[Recorded], logged: list[Evaluation], places: dict[str, int]) -> tuple[Check, ...]:
    """`places` tells which step a span is."""
    found = [_check(one, order, places) for order, one in enumerate(_evaluations(spans, logged))]
    found += [check for one in spans for check in _of_evaluator(one)]
    found += [check for one in spans for check in _of_test(one)]
    return tuple(found)


def _evaluations(spans: list[Recorded], logged: list[Evaluation]) -> Iterator[Evaluation]:
    for one in spans:
        yield from one.evaluations
    yield from logged


def _check(told: Evaluation, order: int, places: dict[str, int]) -> Check:
    attributes = told.attributes
    value = number(attributes.take(f"{_SCORE}value"))
    label = attributes.take_text(f"{_SCORE}label")
    broken = attributes.take_text("error.type")
    said = attributes.take_text("gen_ai.evaluation.explanation")
    name = attributes.take_text("gen_ai.evaluation.name") or "evaluation"
    error = ErrorInfo(type=broken, message=said or broken, phase="scoring", ref=told.ref) if broken else None
    return Check(
        name=name,
        status="error" if broken else _status(value, label),
        order=order,
        value=value if value is not None else label or None,
        explanation=said,
        reason_code=label,
        error=error,
        step=places.get(told.span),
        extra=known(attributes=attributes.left(), at=told.at),
        ref=told.ref,
    )


def _of_evaluator(one: Recorded) -> Iterator[Check]:
    """OpenInference: a span of its own, whose output has the score."""
    given = mapping(parsed(one.span.output))
    if one.span.kind != "judge" or not {"score", "label"} & set(given):
        if one.span.kind == "judge" and one.span.error:
            yield Check(name=one.span.name, status="error", error=one.span.error, ref=one.span.ref)
        return
    score, label = given.get("score"), text(given.get("label"))
    value: Any = score if isinstance(score, bool) else number(score)
    yield Check(
        name=one.span.name,
        status=_status(value, label),
        value=value if value is not None else label or None,
        explanation=text(given.get("explanation")),
        reason_code=label,
        extra=rest(given, ("score", "label", "explanation")),
        ref=one.span.ref,
    )


def _of_test(one: Recorded) -> Iterator[Check]:
    status = one.attributes.get(RESULT_STATUS)
    if status is not None:
        yield Check(name="test", status=status_of_value(status), value=as_text(status), ref=one.span.ref)


def _status(value: float | bool | None, label: str) -> CheckStatus:
    """What a number means is up to who measured, so a word that says yes or no goes before it."""
    by_label = status_of_value(label or None)
    return by_label if value is None or by_label in ("pass", "fail") else status_of_value(value)
