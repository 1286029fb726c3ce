"""When the next call may be made: rate limits, pauses that the other side asked for, and back-off after failures."""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable

from errata.review.limits import Limits

MINUTE = 60.0
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
LONGEST_ASKED = 600.0
"""A provider that asks for more than this is not waited for: it is an outage."""

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Pace:
    """Shared by all workers of one reviewer: when one is told to wait, all do."""

    def __init__(self, limits: Limits, *, clock: Clock, sleep: Sleep = asyncio.sleep, seed: int | None = None) -> None:
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._chance = random.Random(seed)  # noqa: S311 no secret hangs on it
        self._not_before = 0.0
        self._made: deque[tuple[float, int]] = deque()
        self._turn = asyncio.Lock()

    async def wait_for_turn(self, tokens: int) -> None:
        """Returns when a call of about so many tokens may be made."""
        async with self._turn:  # one at a time, so that those who wait don't all go at once
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            self._made.append((self._clock(), tokens))

    def hold(self, after: float | None) -> None:
        """Nobody calls before the time that the other side named."""
        if after:
            self._not_before = max(self._not_before, self._clock() + min(after, LONGEST_ASKED))

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
        if per_minute is None and tokens_per_minute is None:
            self._made.clear()
        return max(waits)
