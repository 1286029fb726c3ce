"""What was measured about a sample. A score of no use has a status that says why, and is not counted as wrong."""

from collections.abc import Iterator
from typing import Any

from errata.model import Check, ErrorInfo, Judgement
from errata.model.words import CheckStatus, Measurement
from errata.sources.evalscope.sample import Reading, Sample
from errata.sources.shared.facts import status_of
from errata.sources.shared.values import as_text, mapping, number, plain, sequence, text

USABLE = frozenset(("", "success", "fallback", "degraded"))


def measurement_of(reading: Reading, sample: Sample, value: float | None) -> Measurement:
    if sample.review is None:
        # a review that broke leaves no row, and is counted among the errors
        return "error" if reading.report.errored(reading.subset) else "not_run"
    if text(sample.score.get("status")) not in USABLE:
        return "error"
    return "unscored" if value is None else "scored"


def checks_of(reading: Reading, sample: Sample) -> Iterator[Check]:
    values, status = mapping(sample.score.get("value")), text(sample.score.get("status"))
    main = next((name for name in (reading.primary, text(sample.score.get("main_score_name"))) if name in values), "")
    main = main or next(iter(values), reading.primary or "score")
    broken = status not in USABLE
    for order, name in enumerate(values or ([main] if sample.review is not None else [])):
        told = values.get(name)
        value = told if isinstance(told, bool) else number(told)
        yield Check(
            name=name,
            status=_status(value, broken=broken),
            scorer=name,
            judge=_judge(sample),
            order=order,
            value=value,
            is_primary=name == main,
            counts=name == main,
            explanation=text(sample.score.get("explanation")),
            reason_code=status if status != "success" else "",
            error=_no_verdict(sample, status) if broken else None,
            ref=sample.ref.below("sample_score", "score"),
        )


def _status(value: float | bool | None, *, broken: bool) -> CheckStatus:
    return "error" if broken else status_of(None if value is None else float(value))


def _no_verdict(sample: Sample, status: str) -> ErrorInfo:
    told = text(_summary(sample).get("error")) or text(sample.score.get("explanation")) or status
    return ErrorInfo(
        type=status, message=told, phase="scoring", ref=sample.ref.below("sample_score", "score", "status")
    )


def _summary(sample: Sample) -> dict[str, Any]:
    return mapping(sample.score.get("judge_summary")) or mapping(sample.score.get("judge_detail"))


def _judge(sample: Sample) -> str:
    return ", ".join(map(as_text, sequence(_summary(sample).get("judge_models"))))


def judgements_of(sample: Sample) -> Iterator[Judgement]:
    summary = _summary(sample)
    if summary:
        yield Judgement(
            judge="judge",
            model=_judge(sample),
            valid=text(summary.get("status")) in USABLE,
            reasoning=text(sample.score.get("explanation")),
            raw=plain(summary),
            ref=sample.ref,
        )
