"""Costs and times of attempts that can't be right, gathered in one pass."""

import math
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from errata.model import Attempt, SourceRef, Usage
from errata.model.times import is_local, parse

HIGHEST_PRICE = 0.006
"""Dollars per token: ten times the dearest model that was ever on sale."""
OTHER_FEES = 1.0
"""Dollars per attempt that searches, tools and the like may add."""
MOST_KEPT = 5
_NOT_MADE = ("missing", "unfinished", "skipped")


class RecomputedHeadline(msgspec.Struct, frozen=True):
    """The harness's main number and what its own rule yields from the rows."""

    name: str
    stated: float
    recomputed: float
    ref: SourceRef | None = None


class OddNumber(msgspec.Struct, frozen=True):
    case: str
    quote: str
    ref: SourceRef | None


@dataclass
class OddGroup:
    """How many attempts have such a number, and the first of them."""

    count: int = 0
    first: list[OddNumber] = field(default_factory=list)

    def add(self, attempt: Attempt, quote: str) -> None:
        self.count += 1
        if len(self.first) < MOST_KEPT:
            self.first.append(OddNumber(attempt.case, quote, attempt.ref))


@dataclass
class OddNumbers:
    no_amounts: OddGroup = field(default_factory=OddGroup)
    """Costs that are negative or not a number."""
    overpriced: OddGroup = field(default_factory=OddGroup)
    """Costs far above any price per token."""
    without_tokens: OddGroup = field(default_factory=OddGroup)
    """Costs of attempts that used no token."""
    times: OddGroup = field(default_factory=OddGroup)
    """Negative durations, and ends before the start."""
    cost: float = 0.0
    cost_of_counted: float = 0.0
    cost_unknown: int = 0

    def add(self, attempt: Attempt) -> None:
        if attempt.execution in _NOT_MADE or attempt.parent is not None:
            return
        self._add_cost(attempt)
        if words := _impossible_time(attempt):
            self.times.add(attempt, words)

    def _add_cost(self, attempt: Attempt) -> None:
        roles = (attempt.usage.subject, attempt.usage.judge, attempt.usage.simulator)
        priced = [usage for usage in roles if usage.cost is not None]
        if attempt.usage.invalid_costs:
            self.no_amounts.add(attempt, f"cost {', '.join(f'{usage.cost:g}' for usage in priced)}")
            return
        whole = attempt.usage.cost
        if whole is None:
            self.cost_unknown += 1
            return
        self.cost += whole
        self.cost_of_counted += whole if attempt.counted else 0.0
        for usage in priced:
            if usage.cost and usage.tokens == 0:
                self.without_tokens.add(attempt, f"cost {usage.cost:g}, 0 tokens")
            elif _is_overpriced(usage):
                self.overpriced.add(attempt, f"cost {usage.cost:g}, {usage.tokens:,} tokens")


def _is_overpriced(usage: Usage) -> bool:
    if usage.currency != "USD" or not usage.tokens or usage.cost is None:
        return False
    return usage.cost > OTHER_FEES + HIGHEST_PRICE * usage.tokens


def _impossible_time(attempt: Attempt) -> str:
    """The times as the log has them, if they can't be; else empty."""
    if attempt.duration is not None and not (math.isfinite(attempt.duration) and attempt.duration >= 0):
        return f"duration {attempt.duration:g} s"
    return backwards(attempt.started_at, attempt.finished_at)


def backwards(started: str | None, finished: str | None) -> str:
    """Both times, if the end is before the start; empty where they can't be compared."""
    if not started or not finished or started == finished or is_local(started) != is_local(finished):
        return ""
    # most times are of one length, and then they sort as texts
    if len(started) == len(finished) and started < finished:
        return ""
    start, end = _moment(started), _moment(finished)
    return f"started {started}, finished {finished}" if start and end and end < start else ""


def _moment(text: str) -> datetime | None:
    try:
        return parse(text)
    except ValueError:
        return None
