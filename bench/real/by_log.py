"""Intervals over logs: rows of one log fail for one reason, so they are not as many observations as rows."""

from collections.abc import Callable, Iterable, Sequence
from math import isnan
from random import Random
from typing import TypeVar

from errata.compare.intervals import RESAMPLES, TAIL, Interval, quantile, wilson

Row = TypeVar("Row")

ENOUGH_LOGS = 5
"""Drawing from fewer logs shows little of how logs differ."""


def interval_by_log(
    rows: Iterable[tuple[str, Row]], figure: Callable[[Sequence[Row]], float]
) -> tuple[int, Interval | None]:
    """How many logs, and the 95 % interval: whole logs are drawn again (percentile bootstrap).

    Where every log gives 0 or every log gives 1, drawing again shows nothing: each log then counts once (Wilson).
    """
    by_log: dict[str, list[Row]] = {}
    for log, row in rows:
        by_log.setdefault(log, []).append(row)
    logs, number = list(by_log.values()), len(by_log)
    if number < ENOUGH_LOGS:
        return number, None
    alone = {figure(log) for log in logs}
    if len(alone) == 1 and alone <= {0.0, 1.0}:
        return number, wilson(alone.pop() * number, number)
    chance = Random(0)
    drawn = (figure([row for log in chance.choices(logs, k=number) for row in log]) for _ in range(RESAMPLES))
    ordered = sorted(value for value in drawn if not isnan(value))
    return number, (quantile(ordered, TAIL), quantile(ordered, 1 - TAIL))


def share(rows: Sequence[bool]) -> float:
    return sum(rows) / len(rows)


def in_words(logs: int, interval: Interval | None) -> str:
    words = f"{logs} log{'' if logs == 1 else 's'}"
    return f"{words}: {interval[0]:.2f}–{interval[1]:.2f}" if interval else words
