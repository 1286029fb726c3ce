"""A review as it runs: packets to a reviewer, answers into the ledger, verdicts into the store, and how far it is."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex

import msgspec

from errata.model import Call, Packet, Usage, Verdict
from errata.model.identity import split_attempt_id
from errata.model.verdict import word_for
from errata.review.fan_out import PacketResult, Work, fan_out
from errata.review.inherit import IdenticalFailures, Schedule
from errata.review.limits import Limits, Pace, Purse
from errata.review.plan import Part, Plan, at_most, estimated, packets_for, prompt_of
from errata.review.prompts import fresh_marker, repair_prompt
from errata.review.protocols import Answer, AsksForVerdicts, Prompt
from errata.review.reading_tools import WholePackets
from errata.review.verdicts import AnswerInfo, Rejection, judge, keep_refused
from errata.store.database import Store
from errata.store.ledger import StoredLedger, calls_of, open_ledger
from errata.store.reviews import keep_verdicts


class Tally:
    def __init__(self, planned: int) -> None:
        self.planned = planned
        self.reviewed = self.refused = self.failed = 0
        self.cached = 0
        """Of these, those whose answers were in the ledger already."""
        self.inherited = 0
        """Verdicts that identical failures took over; some of these failures were planned, some were not."""
        self.spared = 0
        """Planned, and then not read, because they had inherited a verdict."""
        self.need_second = 0
        self.labels: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        """Why answers were refused, or packets could not be reviewed."""
        self.stopped = ""
        """Why the reviewer can't be asked any more."""
        self.capped = ""
        self.cost = 0.0
        self.tokens = 0
        self.calls = 0
        self.unpriced = 0
        """Calls whose price nobody knows."""
        self.lost: list[Call] = []

    @property
    def done(self) -> int:
        return self.reviewed + self.refused + self.failed + self.spared

    @property
    def left(self) -> int:
        """Planned, and not come to."""
        return max(self.planned - self.done, 0)

    def add(self, ended: PacketResult, purse: Purse) -> None:
        self.cost, self.tokens, self.calls, self.unpriced = purse.cost, purse.tokens, purse.calls, purse.unpriced
        self.cached += ended.cached
        match ended.end:
            case "reviewed":
                assert ended.verdict is not None
                self.reviewed += 1
                self.labels[ended.verdict.label] += 1
                self.need_second += ended.verdict.needs_second
            case "refused":
                self.refused += 1
                self.reasons.update(ended.reasons)
            case "failed":
                self.failed += 1
                self.reasons.update(ended.reasons)
            case "stopped":
                self.stopped = self.stopped or ended.reasons[0]
            case "capped":
                self.capped = self.capped or ended.reasons[0]


class PacketStream:
    def __init__(self, plan: Plan, store: Store) -> None:
        # a second opinion that nobody has is none: then nothing is taken over
        self._shared = plan.request.wanted != "second"
        self._lines = {part.stored.run.id: _RunPackets(plan, part, store, shared=self._shared) for part in plan.parts}

    def packets(self) -> Iterator[Packet | None]:
        """None where all that is left waits for what is being read. No run waits for another."""
        coming = [line.packets() for line in self._lines.values()]
        while coming:
            packet = None
            for packets in tuple(coming):
                try:
                    packet = next(packets)
                except StopIteration:
                    coming.remove(packets)
                if packet is not None:
                    break
            if packet is not None or coming:
                yield packet

    def heirs_of(self, verdict: Verdict, at: str) -> list[Verdict]:
        return self._lines[_run_of(verdict.attempt)].heirs_of(verdict, at) if self._shared else []

    def ended(self, ended: PacketResult) -> None:
        """After its heirs have what they get: those who waited are let go."""
        attempt = ended.packet.attempt_id
        self._lines[_run_of(attempt)].turns.ended(attempt, with_verdict=ended.verdict is not None)


class _RunPackets:
    """Of one run."""

    def __init__(self, plan: Plan, part: Part, store: Store, *, shared: bool) -> None:
        self._plan, self._part, self._store = plan, part, store
        self._heirs = IdenticalFailures(part.stored, store)
        self._inherited: set[str] = set()
        self.turns = Schedule(part.attempts, self._heirs.key_of if shared else lambda _attempt: None)

    def packets(self) -> Iterator[Packet | None]:
        """What inherited a verdict meanwhile is not read."""
        for packet in packets_for(self._part, self._store, self._plan.request, self._attempts()):
            if packet is None:
                yield None
            elif packet.attempt_id in self._inherited:
                self.turns.ended(packet.attempt_id, with_verdict=True)
            else:
                self._heirs.is_read(packet.attempt_id)
                yield packet

    def _attempts(self) -> Iterator[str | None]:
        while (attempt := self.turns.take()) is not None or self.turns.is_waiting:
            if attempt not in self._inherited:
                yield attempt

    def heirs_of(self, verdict: Verdict, at: str) -> list[Verdict]:
        found = self._heirs.of(verdict, at)
        self._inherited |= {one.attempt for one in found}
        return found


def _run_of(attempt: str) -> str:
    return split_attempt_id(attempt).run


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
        self._shelves = WholePackets(store, blind=plan.request.blind) if chosen.reads_more else None
        self._in_turn = PacketStream(plan, store)
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

    def _judge(self, packet: Packet, prompt: Prompt, answer: Answer) -> Verdict | Rejection:
        whole = self._shelves.whole(packet) if self._shelves else None
        return judge(answer.text, packet, self._answered(prompt.hash, answer.usage), self._store, judged_on=whole)

    def _answered(self, prompt_hash: str = "", usage: Usage | None = None) -> AnswerInfo:
        return AnswerInfo(
            reviewer=self._request.chosen.identity,
            at=self._now(),
            prompt_hash=prompt_hash,
            usage=usage,
            blind=self._request.blind,
        )

    def _keep(self, ended: PacketResult) -> None:
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
