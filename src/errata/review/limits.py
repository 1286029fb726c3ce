"""What a review may spend: hard caps on money and tokens, checked before every call."""

import asyncio

import msgspec

from errata.model import Usage

OUTPUT_TOKENS = 1_200
"""A verdict with its reasoning and four quotes; an estimate, never a limit."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    parallel: int = 4
    tries: int = 8
    """Of one packet, before the reviewer is given up for it."""
    timeout: float = 180.0
    """Seconds that one call may take."""
    max_cost: float | None = None
    max_tokens: int | None = None
    per_minute: int | None = None
    """Calls."""
    tokens_per_minute: int | None = None


NOTHING = Usage(input=0, output=0, cost=0.0)
"""Owed for a call that was turned away."""


class Purse:
    """What was spent and what may still be owed.

    For each call the most that it can cost is held until it is known what it did cost. What is never known, because
    the answer was lost or does not tell, stays held: so no cap is ever exceeded.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.cost = 0.0
        self.tokens = 0
        self.calls = 0
        self.unpriced = 0
        """Calls whose price nobody knows: absent is not zero."""
        self._cost_held = 0.0
        self._tokens_held = 0
        self._in_flight = 0
        self._one_ended = asyncio.Event()

    async def take(self, most: Usage) -> str:
        """Holds what a call may cost, once it fits beside those in flight; else the cap that forbids it."""
        while cap := self._over(most):
            if not self._in_flight:
                return cap
            self._one_ended.clear()
            await self._one_ended.wait()
        self._cost_held += most.cost or 0
        self._tokens_held += most.tokens or 0
        self._in_flight += 1
        return ""

    def end(self, most: Usage, owed: Usage) -> None:
        """What `owed` does not tell stays held."""
        self.calls += 1
        if owed.cost is None:
            self.unpriced += 1
            self._cost_held += most.cost or 0
        if owed.total is None and (owed.input is None or owed.output is None):
            self._tokens_held += max((most.tokens or 0) - (owed.tokens or 0), 0)
        self.cost += owed.cost or 0
        self.tokens += owed.tokens or 0
        self.give_back(most)

    def give_back(self, most: Usage) -> None:
        """No call was made, or what it cost is counted."""
        self._in_flight -= 1
        self._cost_held -= most.cost or 0
        self._tokens_held -= most.tokens or 0
        self._one_ended.set()

    def _over(self, most: Usage) -> str:
        max_cost, max_tokens = self._limits.max_cost, self._limits.max_tokens
        if max_cost is not None:
            if most.cost is None:
                return "`--max-cost` can't be kept: nobody knows the price of a call"
            if self.cost + self._cost_held + most.cost > max_cost:
                return "the next call could go over `--max-cost`"
        if max_tokens is not None and self.tokens + self._tokens_held + (most.tokens or 0) > max_tokens:
            return "the next call could go over `--max-tokens`"
        return ""
