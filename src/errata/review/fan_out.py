"""Many packets, some in parallel: every call is in the ledger before it is made, and no answer is paid for twice."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Literal

import msgspec

from errata.model import Call, Packet, Usage, Verdict, split_attempt_id
from errata.review.hashing import packet_hash
from errata.review.limits import Limits, Purse
from errata.review.pacing import Pace
from errata.review.protocols import (
    Answer,
    AsksForVerdicts,
    Ledger,
    Prompt,
    RetryLaterError,
    ReviewerStoppedError,
    ReviewFailedError,
)
from errata.review.verdicts import Refused

End = Literal["reviewed", "refused", "failed", "capped", "stopped"]


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How the review of one packet ended."""

    packet: Packet
    end: End
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    answer: str = ""
    """What was refused."""
    cached: bool = False
    """Nothing was asked: all answers were in the ledger."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the fan-out is given by the pipeline: everything that knows a store, a clock or a chance."""

    reviewer: AsksForVerdicts
    word: str
    """The reviewer's kind, name and version in one word."""
    ledger: Ledger
    prompt: Callable[[Packet], Prompt]
    repair: Callable[[Prompt, str, tuple[str, ...]], Prompt]
    judge: Callable[[Packet, Prompt, Answer], Verdict | Refused]
    estimate: Callable[[Prompt], Usage]
    now: Callable[[], str]
    new_id: Callable[[], str]
    limits: Limits
    pace: Pace
    purse: Purse


async def fan_out(packets: Iterable[Packet], work: Work) -> AsyncIterator[Ended]:
    """The ends in the order they come. Packets are taken one by one, when somebody is free to review them."""
    waiting = iter(packets)
    running: set[asyncio.Task[Ended]] = set()
    stopped = ""
    try:
        while True:
            running |= set(_started(waiting, work, work.limits.parallel - len(running)) if not stopped else ())
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                ended = task.result()
                stopped = stopped or (ended.reasons[0] if ended.end in ("stopped", "capped") else "")
                yield ended
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _started(waiting: Iterator[Packet], work: Work, free: int) -> Iterator[asyncio.Task[Ended]]:
    for _ in range(free):
        packet = next(waiting, None)
        if packet is None:
            return
        yield asyncio.create_task(_review(packet, work))


async def _review(packet: Packet, work: Work) -> Ended:
    """One round, and where the answer can't be taken one round of repair; then it is refused."""
    try:
        prompt = work.prompt(packet)
        first = await _Asking(packet, prompt, 1, work).answer()
        judged = work.judge(packet, prompt, first.given)
        if not isinstance(judged, Refused):
            return Ended(packet=packet, end="reviewed", verdict=judged, cached=first.cached)
        prompt = work.repair(prompt, first.given.text, judged.reasons)
        second = await _Asking(packet, prompt, 2, work).answer()
    except (ReviewFailedError, RetryLaterError) as error:
        return Ended(packet=packet, end="failed", reasons=(str(error),))
    except ReviewerStoppedError as error:
        return Ended(packet=packet, end="stopped", reasons=(str(error),))
    except _CapReachedError as error:
        return Ended(packet=packet, end="capped", reasons=(str(error),))
    cached = first.cached and second.cached
    judged = work.judge(packet, prompt, second.given)
    if isinstance(judged, Refused):
        return Ended(packet=packet, end="refused", reasons=judged.reasons, answer=second.given.text, cached=cached)
    return Ended(packet=packet, end="reviewed", verdict=judged, cached=cached)


class _CapReachedError(Exception):
    """The next call could cost more than is left."""


class _Got(msgspec.Struct, frozen=True):
    given: Answer
    cached: bool


class _Asking:
    """One question, asked until it is answered or given up."""

    def __init__(self, packet: Packet, prompt: Prompt, number: int, work: Work) -> None:
        self._packet, self._prompt, self._round, self._work = packet, prompt, number, work
        self._estimate = work.estimate(prompt)
        self._key = cache_key(packet, prompt, work.word, number)

    async def answer(self) -> _Got:
        before = self._work.ledger.answered(self._key)
        if before is not None:
            return _Got(Answer(before.answer, before.usage), cached=True)
        failures = 0
        while True:
            try:
                return _Got(await self._once(), cached=False)
            except RetryLaterError as error:
                failures += 1
                if failures >= self._work.limits.tries:
                    raise ReviewFailedError(f"given up after {failures} tries: {error.why}") from error
                self._work.pace.hold(error.after)
                if not error.after:
                    await asyncio.sleep(self._work.pace.back_off(failures))

    async def _once(self) -> Answer:
        work = self._work
        await work.pace.wait_for_turn(self._estimate.tokens or 0)
        if not work.purse.allows(self._estimate):
            raise _CapReachedError("the next call could go over `--max-cost` or `--max-tokens`")
        call = self._call()
        work.ledger.intend((call,))
        work.purse.begin(self._estimate)
        try:
            async with asyncio.timeout(work.limits.timeout):
                given = await work.reviewer.ask(self._prompt, self._packet)
        except BaseException as error:
            self._close_failed(call, error)
            if isinstance(error, TimeoutError):
                raise RetryLaterError(f"no answer within {work.limits.timeout:g} s") from error
            raise
        closed = msgspec.structs.replace(
            call, state="answered", answer=given.text, usage=given.usage, ended_at=work.now()
        )
        work.ledger.close(closed)
        work.purse.end(self._estimate, given.usage)
        return given

    def _close_failed(self, call: Call, error: BaseException) -> None:
        """A call that was broken off may have been paid for: it is told as lost, not as failed."""
        work = self._work
        broken_off = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        why = "broken off before the answer came" if broken_off else str(error) or type(error).__name__
        state: Literal["lost", "failed"] = "lost" if broken_off else "failed"
        work.ledger.close(msgspec.structs.replace(call, state=state, why=why[:500], ended_at=work.now()))
        work.purse.end(self._estimate, None)

    def _call(self) -> Call:
        return Call(
            id=self._work.new_id(),
            run=split_attempt_id(self._packet.attempt_id).run,
            attempt=self._packet.attempt_id,
            reviewer=self._work.word,
            cache_key=self._key,
            round=self._round,
            estimate=self._estimate,
            started_at=self._work.now(),
        )


def cache_key(packet: Packet, prompt: Prompt, reviewer: str, number: int) -> str:
    """The same packet, reviewer, instructions and round: the same answer."""
    told = "\0".join((packet_hash(packet), prompt.hash, reviewer, str(number)))
    return blake2b(told.encode("utf-8", "replace"), digest_size=16).hexdigest()
