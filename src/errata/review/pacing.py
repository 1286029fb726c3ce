"""When the next call may be made: rate limits, pauses that the other side asked for, and back-off after failures."""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable

from errata.review.limits import Limits

MINUTE = 60.0
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
LONGEST_ASKED = 600.0
"""A provider that asks for more than this is not waited for: it is an outage, or a quota that is used up."""
FIRST_GAP, LONGEST_GAP = 0.02, 10.0
WIDER, NARROWER = 2.0, 0.9

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Pace:
    """Shared by all workers of one reviewer: when one is told to wait, all do.

    After that they go one by one, with a gap between them that closes again while calls succeed; else all would be
    turned away together once more.
    """

    def __init__(self, limits: Limits, *, clock: Clock, sleep: Sleep = asyncio.sleep, seed: int | None = None) -> None:
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._chance = random.Random(seed)  # noqa: S311 no secret hangs on it
        self._not_before = 0.0
        self._gap = 0.0
        self._made: deque[tuple[float, int]] = deque()
        self._turn = asyncio.Lock()

    async def wait_for_turn(self, tokens: int) -> None:
        """Returns when a call of about so many tokens may be made."""
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
        if self._not_before <= now + self._gap:  # those who were on their way when it was said don't say it again
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
