"""The verb `review run`: packets to a reviewer, answers into the ledger, verdicts into the store, one by one."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex

import msgspec

from errata.model import Packet, Usage, Verdict
from errata.review.batches import InTurn
from errata.review.fan_out import Ended, fan_out
from errata.review.judge import Answered, judge, keep_refused
from errata.review.limits import Limits, Purse
from errata.review.more_text import Shelves
from errata.review.pacing import Pace
from errata.review.plan import Plan, at_most, estimated, prompt_of
from errata.review.prompts import fresh_marker, repair_prompt
from errata.review.protocols import Answer, AsksForVerdicts, Prompt
from errata.review.tally import Tally
from errata.review.verdicts import Refused
from errata.review.work import Work
from errata.store.database import Store
from errata.store.ledger import StoredLedger, calls_of, open_ledger
from errata.store.reviews import keep_verdicts, word_for

Clock = Callable[[], str]


def now_as_text() -> str:
    """To the microsecond, so that verdicts stand in the order they were given."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def review(
    plan: Plan, store: Store, tally: Tally, on_end: Callable[[Tally], None], *, now: Clock = now_as_text
) -> None:
    """Every verdict is committed when it is there; what is broken off can be taken up again without paying twice."""
    started = now()
    try:
        with store.kept_open():
            asyncio.run(_Reviewing(plan, store, tally, now).through(on_end))
    finally:
        calls = (call for part in plan.parts for call in calls_of(store, part.stored.run.id))
        tally.lost = [call for call in calls if call.state == "lost" and call.started_at >= started]


class _Reviewing:
    def __init__(self, plan: Plan, store: Store, tally: Tally, now: Clock) -> None:
        self._plan, self._store, self._tally, self._now = plan, store, tally, now
        self._request = plan.request
        chosen = plan.request.chosen
        self._limits: Limits = msgspec.structs.replace(
            plan.request.limits, per_minute=chosen.per_minute, tokens_per_minute=chosen.tokens_per_minute
        )
        self._shelves = Shelves(store, blind=plan.request.blind) if chosen.reads_more else None
        self._in_turn = InTurn(plan, store)
        self._planned = frozenset(attempt for part in plan.parts for attempt in part.attempts)

    async def through(self, on_end: Callable[[Tally], None]) -> None:
        tools = self._shelves.tools if self._shelves else None
        async with self._request.chosen.open(self._limits, tools) as reviewer:
            with open_ledger(self._store) as ledger:
                work = self._work(reviewer, ledger)
                ends = fan_out(self._in_turn.packets(), work)
                assert isinstance(ends, AsyncGenerator)
                async with aclosing(ends):  # whatever happens here, what is in flight is told as lost
                    async for ended in ends:
                        self._keep(ended)
                        self._tally.add(ended, work.purse)
                        on_end(self._tally)

    def _work(self, reviewer: AsksForVerdicts, ledger: StoredLedger) -> Work:
        chosen = self._request.chosen
        return Work(
            reviewer=reviewer,
            word=word_for(chosen.identity),
            ledger=ledger,
            prompt=prompt_of,
            repair=_repair,
            judge=self._judge,
            estimate=partial(estimated, chosen),
            most=partial(at_most, chosen),
            now=self._now,
            new_id=partial(token_hex, 16),
            limits=self._limits,
            pace=Pace(self._limits, clock=time.monotonic),
            purse=Purse(self._limits),
        )

    def _judge(self, packet: Packet, prompt: Prompt, answer: Answer) -> Verdict | Refused:
        whole = self._shelves.whole(packet) if self._shelves else None
        return judge(answer.text, packet, self._answered(prompt.hash, answer.usage), self._store, judged_on=whole)

    def _answered(self, prompt_hash: str = "", usage: Usage | None = None) -> Answered:
        return Answered(
            reviewer=self._request.chosen.identity,
            at=self._now(),
            prompt_hash=prompt_hash,
            usage=usage,
            blind=self._request.blind,
        )

    def _keep(self, ended: Ended) -> None:
        """In one transaction: the verdict, and what others inherit from it."""
        if ended.verdict is not None:
            heirs = self._in_turn.heirs_of(ended.verdict, self._now())
            keep_verdicts(self._store, [ended.verdict, *heirs])
            self._tally.inherited += len(heirs)
            self._tally.spared += sum(one.attempt in self._planned for one in heirs)
        elif ended.end == "refused":
            keep_refused(ended.answer, ended.reasons, ended.packet, self._answered(), self._store)
        self._in_turn.ended(ended)


def _repair(_packet: Packet, prompt: Prompt, answer: str, reasons: tuple[str, ...]) -> Prompt:
    return repair_prompt(prompt, answer, reasons, marker=fresh_marker(prompt, answer, *reasons))
