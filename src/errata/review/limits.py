"""What a review may spend: hard caps on money and tokens, checked before every call."""

import msgspec

from errata.model import Usage

OUTPUT_TOKENS = 1_200
"""A verdict with its reasoning and four quotes; an estimate, never a limit."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    parallel: int = 4
    tries: int = 6
    """Of one packet, before the reviewer is given up for it."""
    timeout: float = 180.0
    """Seconds that one call may take."""
    max_cost: float | None = None
    max_tokens: int | None = None
    per_minute: int | None = None
    """Calls."""
    tokens_per_minute: int | None = None


class Purse:
    """What was spent and what is in flight. A call in flight counts with its estimate until its answer is there."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.cost = 0.0
        self.tokens = 0
        self.calls = 0
        self.unpriced = 0
        """Answered calls whose price nobody knows: absent is not zero."""
        self._cost_in_flight = 0.0
        self._tokens_in_flight = 0

    def allows(self, estimate: Usage) -> bool:
        cost = self.cost + self._cost_in_flight + (estimate.cost or 0)
        tokens = self.tokens + self._tokens_in_flight + (estimate.tokens or 0)
        limits = self._limits
        over_cost = limits.max_cost is not None and cost > limits.max_cost
        return not over_cost and not (limits.max_tokens is not None and tokens > limits.max_tokens)

    def begin(self, estimate: Usage) -> None:
        self._cost_in_flight += estimate.cost or 0
        self._tokens_in_flight += estimate.tokens or 0

    def end(self, estimate: Usage, usage: Usage | None) -> None:
        """Without a usage the call was not answered, and nothing is known to be owed for it."""
        self._cost_in_flight -= estimate.cost or 0
        self._tokens_in_flight -= estimate.tokens or 0
        self.calls += 1
        if usage is not None:
            self.cost += usage.cost or 0
            self.tokens += usage.tokens or 0
            self.unpriced += usage.cost is None
