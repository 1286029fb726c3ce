"""A review on the store: planned from what is waiting, then run, with every verdict committed when it is there."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial
from secrets import token_hex
from typing import NamedTuple

import msgspec

from errata.model import Packet, Reviewer, Usage, Verdict
from errata.model.codec import json_text
from errata.model.identity import split_attempt_id
from errata.model.times import now_as_text
from errata.model.verdict import word_for
from errata.review.adjudicate import differ, readings_of
from errata.review.batch import BatchAccount, OnlyInBatches, Outbox
from errata.review.choose_reviewer import ChosenReviewer
from errata.review.fan_out import PacketResult, RefusedAnswer, Work, cache_key, fan_out, read_once
from errata.review.inherit import IdenticalFailures
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.plan import (
    PlannedRun,
    ReviewPlan,
    ReviewRequest,
    at_most,
    estimate_passes,
    estimated,
    leaders_first,
    prompt_of,
    total_estimate,
    with_tools,
)
from errata.review.prompts import adjudication_prompt, fresh_marker, repair_prompt
from errata.review.protocols import AsksForVerdicts, Ledger, Prompt, ReviewerAnswer
from errata.review.queue import sample
from errata.review.reading_tools import WholePackets
from errata.review.redaction import redacted
from errata.review.run import Clock, PacketStream, ReviewTally
from errata.review.spending import Limits, Pace, Purse
from errata.review.stored.batch import ReviewBatches
from errata.review.stored.batch_plan import batch_part, close_judged, opened_batches
from errata.review.stored.packets import packet_of, packets_in_turn
from errata.review.stored.queue import queue_of
from errata.review.stored.verdicts import identical_failures, keep_refused, take_back_copies, verdicts_on
from errata.review.verdicts import AnswerInfo, Rejection, judge
from errata.store.database import Store
from errata.store.ledger import StoredLedger, calls_of, find_lost, open_ledger
from errata.store.reviews import keep_verdicts


class Passes(msgspec.Struct, frozen=True):
    first: Work
    second: Work
    adjudicate: Callable[[Verdict, Verdict], Work]

    async def read(self, packet: Packet, _work: Work) -> PacketResult:
        """Every answer is in the ledger when it is there: after an interruption, no reading is paid for twice."""
        first = await read_once(packet, self.first)
        second = await read_once(packet, self.second)
        cached = first.cached and second.cached
        refused = (*first.refused, *second.refused)
        if first.verdict is None or second.verdict is None:
            return _with_one_reading(first, second, refused, cached=cached)
        if not differ(first.verdict, second.verdict):
            readings = (first.verdict,)
            return msgspec.structs.replace(second, readings=readings, refused=refused, cached=cached)
        decided = await read_once(packet, self.adjudicate(first.verdict, second.verdict))
        return msgspec.structs.replace(
            decided,
            readings=(first.verdict, second.verdict),
            refused=(*refused, *decided.refused),
            cached=cached and decided.cached,
        )


def plan_review(runs: Sequence[RunContext], store: Store, request: ReviewRequest, *, now: str) -> ReviewPlan:
    lost = find_lost(store, now=now)
    queues = [queue_of(run, store, request.chosen.identity, request.filters, request.wanted) for run in runs]
    parts_of_batches = [batch_part(run, store, request) for run in runs]
    answered = {attempt for part in parts_of_batches for attempt in part.answered}
    free = [part.without_open(queue.waiting) for part, queue in zip(parts_of_batches, queues, strict=True)]
    taken = sample([one for some in free for one in some if one.attempt not in answered], request.at_most)
    chosen = {one.attempt for one in taken.taken} | answered
    parts = []
    for context, queue, batched, waiting in zip(runs, queues, parts_of_batches, free, strict=True):
        first, then = leaders_first([one for one in waiting if one.attempt in chosen])
        meanwhile = tuple(one for one in batched.answered if one not in {*first, *then})
        in_batch = len(queue.waiting) - len(waiting)
        parts.append(PlannedRun(context, queue, (*first, *meanwhile), then, in_batch, len(meanwhile)))
    readers = [request.chosen, *([request.second_reader, request.adjudicator] if request.passes == 2 else [])]
    with open_ledger(store) as ledger:
        known = [partial(_is_answered, ledger, word_for(reader.identity)) for reader in readers]
        prices = [reader.price for reader in readers]
        passes = list(zip(known, prices, strict=True))
        estimates = estimate_passes(_all_packets(parts, store, request), prompt_of, passes)
    return ReviewPlan(
        request=request,
        parts=tuple(parts),
        left_out=taken.left_out,
        estimate=total_estimate([with_tools(*one) for one in zip(estimates, readers, strict=True)]),
        downloaded=tuple(batch for part in parts_of_batches for batch in part.downloaded),
        lost=tuple(lost),
    )


def _is_answered(ledger: StoredLedger, word: str, packet: Packet, prompt: Prompt) -> bool:
    return ledger.answered(cache_key(packet, prompt, word, 1)) is not None


def packets_for(
    part: PlannedRun, store: Store, request: ReviewRequest, turns: Iterable[str | None] | None = None
) -> Iterator[Packet | None]:
    """Redacted: nothing else is asked about, judged or sent. In the order of the plan, unless `turns` has another."""
    question = part.context.question(request.taxonomy)
    options = PacketOptions(question=question, blind=request.blind)
    return packets_in_turn(part.context, store, part.attempts if turns is None else turns, options)


def _all_packets(parts: Iterable[PlannedRun], store: Store, request: ReviewRequest) -> Iterator[Packet]:
    return (one for part in parts for one in packets_for(part, store, request) if one is not None)


def first_prompt(plan: ReviewPlan, store: Store) -> Prompt | None:
    """What would be sent first."""
    first = next(_all_packets(plan.parts, store, plan.request), None)
    return None if first is None else prompt_of(first)


def review(
    plan: ReviewPlan,
    store: Store,
    tally: ReviewTally,
    on_end: Callable[[ReviewTally], None],
    *,
    now: Clock = now_as_text,
    account: BatchAccount | None = None,
    may_submit: bool = True,
) -> None:
    """Every verdict is committed when it is there; what is broken off can be taken up again without paying twice.

    With an account, nothing is asked at once: answers come from batches, and what is missing goes into one.
    """
    started = now()
    try:
        with store.kept_open():
            reviewing = _Reviewing(plan, store, tally, now)
            asyncio.run(
                reviewing.through(on_end) if account is None else reviewing.by_batch(on_end, account, may_submit)
            )
    finally:
        calls = (call for part in plan.parts for call in calls_of(store, part.stored.run.id))
        tally.lost = [call for call in calls if call.state == "lost" and call.started_at >= started]


class _OpenReviewer(NamedTuple):
    """A reviewer that is open, under the name of one pass."""

    chosen: ChosenReviewer
    reviewer: AsksForVerdicts
    pace: Pace


class _Reviewing:
    def __init__(self, plan: ReviewPlan, store: Store, tally: ReviewTally, now: Clock) -> None:
        self._plan, self._store, self._tally, self._now = plan, store, tally, now
        self._request = plan.request
        chosen = plan.request.chosen
        self._limits: Limits = self._limits_of(chosen)
        self._whole_packets = WholePackets(self._read_packet, blind=plan.request.blind)
        self._stream = PacketStream(plan, self._packets, self._identical)
        self._contexts = {part.stored.run.id: part.context for part in plan.parts}
        self._planned = frozenset(attempt for part in plan.parts for attempt in part.attempts)

    def _packets(self, part: PlannedRun, turns: Iterable[str | None]) -> Iterator[Packet | None]:
        return packets_for(part, self._store, self._request, turns)

    def _identical(self, part: PlannedRun) -> IdenticalFailures:
        return identical_failures(part.context, self._store)

    def _read_packet(self, attempt: str, options: PacketOptions) -> Packet:
        context = self._contexts[split_attempt_id(attempt).run]
        return redacted(packet_of(attempt, context, self._store, options=options))

    async def through(self, on_end: Callable[[ReviewTally], None]) -> None:
        request, purse = self._request, Purse(self._limits)
        async with AsyncExitStack() as stack:
            first = _OpenReviewer(request.chosen, await self._open(request.chosen, stack), self._pace(request.chosen))
            ledger = stack.enter_context(open_ledger(self._store))
            work = self._work(first, ledger, purse)
            passes = await self._passes(first, work, stack) if request.passes == 2 else None
            ends = fan_out(self._stream.packets(), work, passes.read if passes else None)
            assert isinstance(ends, AsyncGenerator)
            async with aclosing(ends):  # whatever happens here, calls in flight are reported as lost
                async for ended in ends:
                    self._keep(ended)
                    self._tally.add(ended, work.purse)
                    on_end(self._tally)

    async def by_batch(self, on_end: Callable[[ReviewTally], None], account: BatchAccount, may_submit: bool) -> None:
        request = self._request
        async with AsyncExitStack() as stack:
            service = await stack.enter_async_context(opened_batches(request.chosen, self._limits))
            batches = ReviewBatches(service, self._store, request, account, self._now)
            outbox = Outbox(account, batches.submit, may_submit=may_submit)
            first = _OpenReviewer(request.chosen, OnlyInBatches(request.chosen.identity), self._pace(request.chosen))
            ledger = stack.enter_context(open_ledger(self._store))
            work = msgspec.structs.replace(self._work(first, ledger, account.purse), answer=outbox.answer)
            async for ended in fan_out(self._stream.packets(), work):
                self._keep(ended)
                self._tally.add(ended, work.purse)
                on_end(self._tally)
            close_judged(self._plan.downloaded, self._store)
            await outbox.flush()

    async def _open(self, chosen: ChosenReviewer, stack: AsyncExitStack) -> AsksForVerdicts:
        tools = self._whole_packets.tools if chosen.reads_more else None
        return await stack.enter_async_context(chosen.open(self._limits_of(chosen), tools))

    async def _passes(self, first: "_OpenReviewer", work: Work, stack: AsyncExitStack) -> Passes:
        chosen = self._request.second_reader
        if self._request.second is None:
            second = _OpenReviewer(chosen, first.reviewer, first.pace)
        else:
            second = _OpenReviewer(chosen, await self._open(chosen, stack), self._pace(chosen))

        def adjudicate(first_reading: Verdict, second_reading: Verdict) -> Work:
            asked = _OpenReviewer(self._request.adjudicator, first.reviewer, first.pace)
            readings = [json_text(reading) for reading in readings_of((first_reading, second_reading))]
            made = self._work(asked, work.ledger, work.purse, adjudicates=(first_reading.id, second_reading.id))
            return msgspec.structs.replace(made, prompt=partial(_adjudication_prompt, readings))

        return Passes(work, self._work(second, work.ledger, work.purse), adjudicate)

    def _limits_of(self, chosen: ChosenReviewer) -> Limits:
        limits = self._request.limits
        return msgspec.structs.replace(limits, per_minute=chosen.per_minute, tokens_per_minute=chosen.tokens_per_minute)

    def _pace(self, chosen: ChosenReviewer) -> Pace:
        return Pace(self._limits_of(chosen), clock=time.monotonic)

    def _work(self, asked: "_OpenReviewer", ledger: Ledger, purse: Purse, *, adjudicates: tuple[str, ...] = ()) -> Work:
        chosen = asked.chosen
        return Work(
            reviewer=asked.reviewer,
            identity=chosen.identity,
            ledger=ledger,
            prompt=prompt_of,
            repair=_repair,
            judge=partial(self._judge, chosen.identity, adjudicates),
            estimate=partial(estimated, chosen),
            most=partial(at_most, chosen),
            now=self._now,
            new_id=partial(token_hex, 16),
            limits=self._limits,
            pace=asked.pace,
            purse=purse,
        )

    def _judge(
        self, reviewer: Reviewer, adjudicates: tuple[str, ...], packet: Packet, prompt: Prompt, answer: ReviewerAnswer
    ) -> Verdict | Rejection:
        earlier = verdicts_on(self._store, packet.attempt_id, withdrawn=True)
        info = self._answer_info(reviewer, prompt.hash, answer.usage, adjudicates)
        context = self._contexts[split_attempt_id(packet.attempt_id).run]
        info = msgspec.structs.replace(info, triaged=context.owners_by_rules(packet.attempt_id))
        return judge(answer.text, packet, info, earlier, whole=lambda: self._whole_packets.whole(packet))

    def _answer_info(
        self, reviewer: Reviewer, prompt_hash: str = "", usage: Usage | None = None, adjudicates: tuple[str, ...] = ()
    ) -> AnswerInfo:
        return AnswerInfo(
            reviewer=reviewer,
            at=self._now(),
            prompt_hash=prompt_hash,
            usage=usage,
            blind=self._request.blind,
            adjudicates=adjudicates,
        )

    def _keep(self, ended: PacketResult) -> None:
        """In one transaction: the verdict, and what others inherit from it."""
        if ended.verdict is not None:
            inherited = self._stream.inherit(ended.verdict, self._now())
            keep_verdicts(self._store, [*ended.readings, ended.verdict, *inherited])
            take_back_copies(ended.verdict.attempt, self._store)
            self._tally.inherited += len(inherited)
            self._tally.spared += sum(one.attempt in self._planned for one in inherited)
        elif ended.readings:
            keep_verdicts(self._store, ended.readings)
        for refused in ended.refused:
            info = self._answer_info(refused.reviewer)
            keep_refused(refused.answer, refused.reasons, ended.packet, info, self._store)
        if ended.end != "waiting":
            self._stream.end(ended)


def _repair(_packet: Packet, prompt: Prompt, answer: str, reasons: tuple[str, ...]) -> Prompt:
    return repair_prompt(prompt, answer, reasons, marker=fresh_marker(prompt, answer, *reasons))


def _adjudication_prompt(readings: Sequence[str], packet: Packet) -> Prompt:
    prompt = prompt_of(packet)
    return adjudication_prompt(prompt, readings, marker=fresh_marker(prompt, *readings))


def _with_one_reading(
    first: PacketResult, second: PacketResult, refused: tuple[RefusedAnswer, ...], *, cached: bool
) -> PacketResult:
    """Where one answer is refused, the other reading is the verdict; there is nothing to decide."""
    taken = second if first.verdict is None else first
    return msgspec.structs.replace(taken, refused=refused, cached=cached)
