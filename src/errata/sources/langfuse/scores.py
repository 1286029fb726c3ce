"""Scores → checks of a trace, and numbers of a run."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from errata.model import Check, Reported
from errata.sources.base import Row
from errata.sources.shared.scores import status_of_value
from errata.sources.shared.values import as_text, known, number, rest, text

_SCORE = frozenset(
    ("id", "traceId", "name", "value", "stringValue", "dataType", "comment", "observationId", "datasetRunId",
     "sessionId", "timestamp", "source")
)  # fmt: skip
_HEADLINE = ("id", "name", "datasetRunId")
_NO_MEASURE = ("TEXT", "CORRECTION")
_AVERAGES = ("{}", "avg_{}", "average_{}", "mean_{}", "{}_avg", "{}_average", "{}_mean")


def value_of(score: dict[str, Any]) -> float | str | bool | None:
    """By its type: a yes or no is a number, and of a category the number says nothing."""
    kind, value, words = score.get("dataType"), score.get("value"), score.get("stringValue")
    if kind == "BOOLEAN":
        told = number(value)
        return value if isinstance(value, bool) else None if told is None else bool(told)
    if kind in ("CATEGORICAL", *_NO_MEASURE):
        return text(words) or (value if isinstance(value, str) else None)
    return value if isinstance(value, bool | str) else number(value)


def checks_of(scores: list[Row], primary: str, steps: dict[str, int]) -> Iterator[Check]:
    """`primary` is the score that the headline of a run averages, where it has one: then it alone decides."""
    for order, row in enumerate(scores):
        score = row.data
        name, value, place = text(score.get("name")), value_of(score), text(score.get("observationId"))
        measures = score.get("dataType") not in _NO_MEASURE
        yield Check(
            name=name,
            status=status_of_value(value) if measures else "not_applicable",
            order=order,
            value=value,
            is_primary=measures and name == primary,
            counts=measures and primary in ("", name),
            explanation=as_text(score.get("comment") or ""),
            step=steps.get(place),
            extra=rest(score, _SCORE)
            | known(
                id=score.get("id"),
                at=score.get("timestamp"),
                source=score.get("source"),
                type=score.get("dataType"),
                number=score.get("value") if isinstance(value, str) else None,
                words=score.get("stringValue") if not isinstance(value, str) else None,
                observation=place if place not in steps else None,
                session=score.get("sessionId"),
                run=score.get("datasetRunId"),
            ),
            ref=row.ref,
        )


def reported_of(scores: list[Row], values: Counter[str]) -> tuple[Reported, ...]:
    """The first number of the whole run is its headline. `values` tells how many traces have one under each name."""
    told = [(row, _averaged(row, values)) for row in scores if number(row.data.get("value")) is not None]
    headline = next((row for row, of in told if of), told[0][0] if told else None)
    return tuple(
        Reported(
            name=text(row.data.get("name")),
            metric="mean" if of else text(row.data.get("name")),
            scorer=of,
            value=number(row.data.get("value")),
            # whoever averages over a run does so over its traces, however often an item was tried
            n=values[of] if of else None,
            headline=row is headline,
            extra=rest(row.data, (*_HEADLINE, "value")) | known(id=row.data.get("id")),
            ref=row.ref,
        )
        for row, of in told
    )


def _averaged(row: Row, values: Counter[str]) -> str:
    """The score of single traces that a number of a run is the mean of, as its name tells."""
    name = text(row.data.get("name"))
    return next((one for one in sorted(values) if name in {how.format(one) for how in _AVERAGES}), "")
