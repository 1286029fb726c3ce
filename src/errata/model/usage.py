"""Tokens and money, and the calls to a reviewer that cost them. Every number is optional: absent is not zero."""

import math
from collections.abc import Iterable
from typing import TypeVar

from errata.model.record import Record
from errata.model.words import CallState, CostSource

Number = TypeVar("Number", int, float)


class Usage(Record):
    input: int | None = None
    output: int | None = None
    total: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    requests: int | None = None
    cost: float | None = None
    currency: str = "USD"
    cost_source: CostSource = "unknown"
    includes_cache: bool | None = None
    """Whether `input` counts the cached tokens too."""

    @property
    def tokens(self) -> int | None:
        """The total as given, else input + output where either is known."""
        if self.total is not None:
            return self.total
        if self.input is None and self.output is None:
            return None
        return (self.input or 0) + (self.output or 0)


NO_USAGE = Usage()


class UsageByRole(Record):
    """Who spent what: the subject under test, its judges, a simulated user."""

    subject: Usage = NO_USAGE
    judge: Usage = NO_USAGE
    simulator: Usage = NO_USAGE

    @property
    def cost(self) -> float | None:
        """What all of them spent; none where one of the costs can't be right, so that no sum includes it."""
        if self.judge is NO_USAGE and self.simulator is NO_USAGE:
            return amount(self.subject.cost)
        spent = [usage for usage in (self.subject, self.judge, self.simulator) if usage.cost is not None]
        if len({usage.currency for usage in spent}) > 1:
            return None  # two currencies have no sum
        return amount(total_cost(usage.cost for usage in spent))

    @property
    def invalid_costs(self) -> list[float]:
        """Negative costs, and those that are not a number, as the log has them."""
        costs = (self.subject.cost, self.judge.cost, self.simulator.cost)
        return [cost for cost in costs if cost is not None and amount(cost) is None]


NO_USAGE_BY_ROLE = UsageByRole()


def amount(cost: float | None) -> float | None:
    """The cost; none where nobody can pay it: a negative number, infinity, `NaN`."""
    return cost if cost is not None and 0 <= cost < math.inf else None


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of the known costs; an invalid one takes the place of the sum, so that no sum hides it."""
    known = [cost for cost in costs if cost is not None]
    return next((cost for cost in known if amount(cost) is None), total_of(known))


def total_of(values: Iterable[Number | None]) -> Number | None:
    """The sum of what is known; none if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None


class ReviewCall(Record):
    id: str
    run: str
    attempt: str
    reviewer: str
    """Kind, name and version in one word."""
    cache_key: str
    """Of packet, reviewer, prompt and round: what was answered once is never asked again."""
    round: int = 1
    """2 is the one round of repair."""
    state: CallState = "intended"
    why: str = ""
    """Of what failed or was lost."""
    answer: str = ""
    estimate: Usage = NO_USAGE
    usage: Usage = NO_USAGE
    started_at: str
    ended_at: str | None = None
