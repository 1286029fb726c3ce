"""promptfoo's own numbers: of each column, and of the whole evaluation. Passes are divided by all rows, errors too."""

from typing import Any

from errata.model import Reported, SourceRef
from errata.sources.promptfoo.columns import Column
from errata.sources.promptfoo.document import Evaluation
from errata.sources.shared.values import mapping, number

PASS_RATE = "pass rate"  # noqa: S105 a rate
WHOLE = "all columns of the evaluation"

_OF_COLUMN = (("testPassCount", "passed"), ("testFailCount", "failures"), ("testErrorCount", "errors"))
_OF_ALL = (("successes", "passed"), ("failures", "failures"), ("errors", "errors"))
_SUMS = ("score", "assertPassCount", "assertFailCount", "totalLatencyMs")


def reported(evaluation: Evaluation, column: Column, *, alone: bool) -> tuple[Reported, ...]:
    """`alone` is the only column: then the numbers of the whole evaluation are its own."""
    metrics, stats = mapping(column.stated.get("metrics")), evaluation.stats
    ref = SourceRef(file=evaluation.ref.file, pointer=f"{evaluation.prompts_at}/{column.at}/metrics")
    place = SourceRef(file=evaluation.ref.file, pointer=evaluation.stats_at)
    rate, whole = _rate(metrics, _OF_COLUMN, ref), _rate(stats, _OF_ALL, place)
    headline = rate or (whole if alone else None) or Reported(name=PASS_RATE, metric="pass_rate", headline=True)
    of_all = _counts(stats, _OF_ALL, place)
    if not alone:
        # the rows of one column can't tell whether these are right
        of_all = [_of_whole(one) for one in (*of_all, whole) if one is not None]
    return (headline, *_counts(metrics, _OF_COLUMN, ref), *_sums(metrics, ref), *of_all)


def _counts(told: dict[str, Any], names: tuple[tuple[str, str], ...], ref: SourceRef) -> list[Reported]:
    return [
        Reported(name=name, metric=metric, value=value, ref=ref)
        for name, metric in names
        if (value := number(told.get(name))) is not None
    ]


def _rate(told: dict[str, Any], names: tuple[tuple[str, str], ...], ref: SourceRef) -> Reported | None:
    """As promptfoo prints it; before it told errors from failures, these were among them."""
    passed, *others = (number(told.get(name)) for name, _ in names)
    if passed is None or others[0] is None:
        return None
    whole = passed + sum(other or 0 for other in others)
    # no denominator: with one that was changed along with the rate, a recount would find nothing
    value = passed / whole if whole else None
    return Reported(name=PASS_RATE, metric="pass_rate", value=value, headline=True, ref=ref)


def _of_whole(one: Reported) -> Reported:
    metric = "count" if one.metric != "pass_rate" else one.metric
    return Reported(name=one.name, metric=metric, filter=WHOLE, value=one.value, ref=one.ref)


def _sums(metrics: dict[str, Any], ref: SourceRef) -> list[Reported]:
    made = [
        Reported(name=name, metric="sum", reducer="sum", value=value, ref=ref)
        for name in _SUMS
        if (value := number(metrics.get(name))) is not None
    ]
    weights = mapping(metrics.get("namedScoreWeights")) or mapping(metrics.get("namedScoresCount"))
    for name, score in mapping(metrics.get("namedScores")).items():
        often = number(weights.get(name))
        made.append(
            Reported(
                name=name,
                metric="named_score",
                reducer="sum",
                value=number(score),
                n=int(often) if often is not None else None,
                ref=ref,
            )
        )
    return made
