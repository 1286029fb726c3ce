"""What a review may spend, and when the next call may be made: caps, rate limits, back-off."""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable

from errata.model import Usage
from errata.model.record import Struct

OUTPUT_TOKENS = 1_200
"""A verdict with its reasoning and four quotes; an estimate, never a limit."""
NOTHING = Usage(input=0, output=0, cost=0.0)
"""Owed for a call that was turned away."""
MINUTE = 60.0
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
LONGEST_ASKED = 600.0
"""A provider that asks for more than this is not waited for: it is an outage, or a quota that is used up."""
FIRST_GAP, LONGEST_GAP = 0.02, 10.0
WIDER, NARROWER = 2.0, 0.9
Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Limits(Struct):
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
        while cap := self.hold(most):
            if not self._in_flight:
                return cap
            self._one_ended.clear()
            await self._one_ended.wait()
        return ""

    def hold(self, most: Usage) -> str:
        """The same without waiting for those in flight."""
        if cap := self._over(most):
            return cap
        self._cost_held += most.cost or 0
        self._tokens_held += most.tokens or 0
        self._in_flight += 1
        return ""

    def end(self, most: Usage, owed: Usage) -> None:
        """What `owed` does not tell stays held."""
        if owed.cost is None:
            self._cost_held += most.cost or 0
        if owed.total is None and (owed.input is None or owed.output is None):
            self._tokens_held += max((most.tokens or 0) - (owed.tokens or 0), 0)
        self.count(owed)
        self.give_back(most)

    def count(self, owed: Usage) -> None:
        """A call for which nothing is held: another command made it."""
        self.calls += 1
        self.unpriced += owed.cost is None
        self.cost += owed.cost or 0
        self.tokens += owed.tokens or 0

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
                return "`--max-cost` can't be enforced: the price of a call is unknown"
            if self.cost + self._cost_held + most.cost > max_cost:
                return "the next call could go over `--max-cost`"
        if max_tokens is not None and self.tokens + self._tokens_held + (most.tokens or 0) > max_tokens:
            return "the next call could go over `--max-tokens`"
        return ""


class Pace:
    """Shared by all workers of a reviewer: when the provider asks one to wait, all wait.

    After that they go one by one, with a gap between them that closes again while calls succeed; else all would be
    turned away together once more.
    """

    def __init__(self, limits: Limits, *, clock: Clock, sleep: Sleep = asyncio.sleep, seed: int | None = None) -> None:
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._chance = random.Random(seed)  # noqa: S311 no secret depends on it
        self._not_before = 0.0
        self._gap = 0.0
        self._made: deque[tuple[float, int]] = deque()
        self._turn = asyncio.Lock()

    async def wait_for_turn(self, tokens: int) -> None:
        """Returns when a call of about this many tokens may be made."""
        async with self._turn:  # one at a time, so that those who wait don't all go at once
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            now = self._clock()
            self._not_before = max(self._not_before, now + self._gap)
            if self._limits.per_minute is not None or self._limits.tokens_per_minute is not None:
                self._made.append((now, tokens))

    def hold(self, after: float) -> None:
        """Nobody calls before the time that the other side named."""
        now = self._clock()
        if self._not_before <= now + self._gap:  # calls that were already under way get the same answer; it counts once
            self._gap = min(LONGEST_GAP, max(FIRST_GAP, self._gap * WIDER))
        self._not_before = max(self._not_before, now + after)

    def went_well(self) -> None:
        self._gap = self._gap * NARROWER if self._gap > FIRST_GAP / 4 else 0.0

    async def pause(self, failures: int) -> None:
        await self._sleep(self.back_off(failures))

    def back_off(self, failures: int) -> float:
        """Seconds before the next try: twice as long each time, and never all at the same moment."""
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (failures - 1))
        return longest * self._chance.uniform(0.5, 1.0)

    def _wait(self, tokens: int) -> float:
        now = self._clock()
        while self._made and self._made[0][0] <= now - MINUTE:
            self._made.popleft()
        waits = [self._not_before - now]
        per_minute, tokens_per_minute = self._limits.per_minute, self._limits.tokens_per_minute
        if per_minute is not None and len(self._made) >= per_minute:
            waits.append(self._made[len(self._made) - per_minute][0] + MINUTE - now)
        if tokens_per_minute is not None and self._made:
            used = sum(spent for _, spent in self._made)
            if used + tokens > tokens_per_minute:
                waits.append(self._made[0][0] + MINUTE - now)
        return max(waits)
