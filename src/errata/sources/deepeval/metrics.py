"""The metrics of a case → checks.

`success` is the metric's own word and is never recomputed: some metrics pass above their threshold and some below. A
metric that raised has an error, no score, and `success: false` all the same. One without a threshold decides nothing,
and neither does one that is called flaky.
"""

from collections.abc import Iterator
from typing import Any

from errata.model import Check, ErrorInfo, Scorer, SourceRef
from errata.model.words import CheckStatus, ScorerKind
from errata.sources.base import Row
from errata.sources.deepeval.names import fields, objects
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.values import known, mapping, number, rest, sequence, text

_METRIC = frozenset(("name", "threshold", "success", "score", "reason", "error", "evaluation_model"))
_LABEL = frozenset(("name", "label", "success", "reason", "error", "evaluation_model"))


def checks_of(case: dict[str, Any], row: Row) -> Iterator[Check]:
    metrics, ref = sequence(case.get("metrics_data")), row.ref
    name = "metricsData" if "metricsData" in row.data else "metrics_data"
    for order, metric in enumerate(metrics):
        yield _check(fields(metric), order, ref.below(name, order))
    for at, label in enumerate(objects(case.get("classifications"))):
        yield _label(label, len(metrics) + at, ref.below("classifications", at))


def _check(metric: dict[str, Any], order: int, ref: SourceRef) -> Check:
    score, bar, passed = number(metric.get("score")), number(metric.get("threshold")), metric.get("success")
    status = _status(metric, score)
    return Check(
        name=text(metric.get("name")) or "metric",
        status=status,
        judge=judge_of(metric),
        order=order,
        kind="criterion",
        value=score,
        threshold=bar,
        lower_is_better=_is_better_lower(score, bar, passed),
        counts=metric.get("flaky") is not True and status != "not_applicable",
        explanation=text(metric.get("reason")),
        error=_error(metric, ref),
        extra=rest(metric, _METRIC) | known(success=passed if passed is not (status == "pass") else None),
        ref=ref,
    )


def _status(metric: dict[str, Any], score: float | None) -> CheckStatus:
    passed = metric.get("success")
    if text(metric.get("error")):
        return "error"
    if score is None:
        return "unscored" if passed is not True else "pass"
    if passed is None:
        return "not_applicable"
    return "pass" if passed is True else "fail"


def _is_better_lower(score: float | None, bar: float | None, passed: Any) -> bool:
    if score is None or bar is None or score == bar or not isinstance(passed, bool):
        return False
    return passed is not (score > bar)


def _label(label: dict[str, Any], order: int, ref: SourceRef) -> Check:
    """A classifier's word; it takes no part in what the case comes to."""
    told = label.get("success")
    status: CheckStatus = "not_applicable" if not isinstance(told, bool) else "pass" if told else "fail"
    return Check(
        name=text(label.get("name")) or "classification",
        status="error" if text(label.get("error")) else status,
        judge=judge_of(label),
        order=order,
        value=text(label.get("label")) or None,
        counts=False,
        explanation=text(label.get("reason")),
        error=_error(label, ref),
        extra=rest(label, _LABEL),
        ref=ref,
    )


def _error(told: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    said = text(told.get("error"))
    return error_of(raised_as(said), "scoring", ref=ref.below("error")) if said else None


def judge_of(metric: dict[str, Any]) -> str:
    """The model that measures; a metric of plain code may call it `none`."""
    told = text(metric.get("evaluation_model"))
    return "" if told.lower() == "none" else told


def scorers_of(cases: Iterator[dict[str, Any]]) -> tuple[Scorer, ...]:
    found: dict[str, Scorer] = {}
    for case in cases:
        for metric in objects(case.get("metrics_data")):
            name, judge = text(metric.get("name")), judge_of(metric)
            if name and name not in found:
                kind: ScorerKind = "judge" if judge else "code"
                found[name] = Scorer(name=name, kind=kind, model=judge, threshold=number(metric.get("threshold")))
    return tuple(found.values())


def expectations_of(case: dict[str, Any]) -> Any:
    return mapping(case.get("expectations_data")) or case.get("expectations")
