"""Costs and times of attempts that can't be right, gathered in one pass."""

import math
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from errata.model import Attempt, ScoreScale, SourceRef, Usage
from errata.model.times import is_local, parse
from errata.model.usage import NO_USAGE_BY_ROLE

HIGHEST_PRICE = 0.006
"""Dollars per token: ten times the dearest model that was ever on sale."""
OTHER_FEES = 1.0
"""Dollars per attempt that searches, tools and the like may add."""
SCORE_SLACK = 1e-6
MOST_KEPT = 5
_NOT_MADE = ("missing", "unfinished", "skipped")


class RecomputedHeadline(msgspec.Struct, frozen=True):
    """The harness's main number and what its own rule yields from the rows."""

    name: str
    stated: float
    recomputed: float
    ref: SourceRef | None = None
    others: tuple[str, ...] = ()
    """What other rules yield, where the harness does not give its own: `mean of cases 0.643`."""


class OddNumber(msgspec.Struct, frozen=True):
    case: str
    words: str
    ref: SourceRef | None


@dataclass
class OddGroup:
    """How many attempts have such a number, and the first of them."""

    count: int = 0
    first: list[OddNumber] = field(default_factory=list)

    def add(self, attempt: Attempt, words: str) -> None:
        self.count += 1
        if len(self.first) < MOST_KEPT:
            self.first.append(OddNumber(attempt.case, words, attempt.ref))


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
    off_scale: OddGroup = field(default_factory=OddGroup)
    """Scores that the harness can't give."""
    contradicted: OddGroup = field(default_factory=OddGroup)
    """Scores that are not the product of their parts."""
    scale: ScoreScale | None = None
    cost: float = 0.0
    cost_of_counted: float = 0.0
    cost_unknown: int = 0

    def add(self, attempt: Attempt) -> None:
        if attempt.execution in _NOT_MADE or attempt.parent is not None:
            return
        self._add_cost(attempt)
        if self.scale is not None and attempt.reported is not None:
            self._add_score(attempt, attempt.reported, self.scale)
        if words := _impossible_time(attempt):
            self.times.add(attempt, words)

    def _add_score(self, attempt: Attempt, score: float, scale: ScoreScale) -> None:
        lowest = -math.inf if scale.lowest is None else scale.lowest
        highest = math.inf if scale.highest is None else scale.highest
        if not lowest - SCORE_SLACK <= score <= highest + SCORE_SLACK:
            self.off_scale.add(attempt, f"score {score:g}")
        elif scale.is_product and (parts := _parts(attempt)):
            product = math.prod(parts.values())
            if abs(product - score) > SCORE_SLACK:
                listed = ", ".join(f"{name} {value:g}" for name, value in parts.items())
                self.contradicted.add(attempt, f"score {score:g}, parts: {listed}")

    def _add_cost(self, attempt: Attempt) -> None:
        if attempt.usage is NO_USAGE_BY_ROLE:
            self.cost_unknown += 1
            return
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


def _parts(attempt: Attempt) -> dict[str, float]:
    """The values of the checks that count; empty where one has none, or the attempt was cut off."""
    checks = [check for check in attempt.checks if check.counts]
    if attempt.execution != "completed" or any(type(check.value) not in (int, float) for check in checks):
        return {}
    return {check.name: float(check.value) for check in checks if isinstance(check.value, int | float)}


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
