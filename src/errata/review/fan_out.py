"""Many packets, some in parallel: every call is in the ledger before it is made, and no answer is paid for twice."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

import msgspec

from errata.errors import ErrataError
from errata.model import Packet, ReviewCall, Reviewer, Usage, Verdict, split_attempt_id
from errata.model.record import Struct
from errata.model.usage import NO_USAGE
from errata.model.verdict import word_for
from errata.review.protocols import (
    AsksForVerdicts,
    Ledger,
    NoAnswerError,
    Prompt,
    RetryLaterError,
    ReviewerAnswer,
    ReviewerStoppedError,
    ReviewFailedError,
)
from errata.review.redaction import packet_hash
from errata.review.spending import FIRST_WAIT, LONGEST_ASKED, MINUTE, NOTHING, Limits, Pace, Purse
from errata.review.verdicts import Rejection

LONGEST_MESSAGE = 500
LOOK_AGAIN = 0.2
"""Seconds, while another process asks."""
End = Literal["reviewed", "refused", "failed", "capped", "stopped", "waiting"]
"""Waiting: it is or will be asked in a batch."""


class Work(Struct):
    reviewer: AsksForVerdicts
    identity: Reviewer
    """Under this name the answers are kept."""
    ledger: Ledger
    prompt: Callable[[Packet], Prompt]
    repair: Callable[[Packet, Prompt, str, tuple[str, ...]], Prompt]
    """After an answer that can't be taken, and why not."""
    judge: Callable[[Packet, Prompt, ReviewerAnswer], Verdict | Rejection]
    estimate: Callable[[Prompt], Usage]
    """What a call will cost, as far as one can tell; shown for those that were lost."""
    most: Callable[[Prompt], Usage]
    """The most that it can cost; the caps are kept by this."""
    now: Callable[[], str]
    new_id: Callable[[], str]
    limits: Limits
    pace: Pace
    purse: Purse
    answer: "Answer | None" = None
    """How a round gets its answer; none for a call at once."""


@contextmanager
def this_one_only(*, in_doubt: bool = False) -> Iterator[None]:
    """An error in one packet is reported and counted; it does not end the review of the others."""
    try:
        yield
    except (NoAnswerError, ErrataError):
        raise
    except Exception as error:
        message = f"errata stumbled over it: {type(error).__name__}: {error}"[:LONGEST_MESSAGE]
        raise ReviewFailedError(message, in_doubt=in_doubt) from error


class AskedElsewhereError(Exception):
    """Another process asks the same just now: its answer will do for both."""


class CapReachedError(Exception):
    """The next call could cost more than is left."""


class WaitingError(Exception):
    """The answer comes with a batch."""


class Got(msgspec.Struct, frozen=True):
    given: ReviewerAnswer
    cached: bool


Answer = Callable[[Packet, Prompt, int, Work], Awaitable[Got]]
"""A packet, what is asked about it, and the number of the round."""


async def answer_to(packet: Packet, prompt: Prompt, number: int, work: Work) -> Got:
    if work.answer is not None:
        return await work.answer(packet, prompt, number, work)
    return await Round(packet, prompt, number, work).answer()


class Round:
    """One question about one packet, asked until it is answered or given up."""

    def __init__(self, packet: Packet, prompt: Prompt, number: int, work: Work) -> None:
        self._packet, self._prompt, self._round, self._work = packet, prompt, number, work
        self._most = work.most(prompt)
        self._intent = intended_call(packet, prompt, number, work)

    async def answer(self) -> Got:
        failures = 0
        while True:
            before = self._work.ledger.answered(self._intent.cache_key)
            if before is not None:
                return Got(ReviewerAnswer(before.answer, before.usage), cached=True)
            try:
                return Got(await self._once(), cached=False)
            except AskedElsewhereError as error:
                if self._work.ledger.is_in_batch(self._intent.cache_key):
                    raise ReviewFailedError("it was submitted in a batch in the meantime") from error
                await asyncio.sleep(LOOK_AGAIN)
            except RetryLaterError as error:
                failures += 1
                await self._wait(error, failures)

    async def _wait(self, error: RetryLaterError, failures: int) -> None:
        pace, after = self._work.pace, error.after or 0.0
        if after > LONGEST_ASKED:
            message = f"the other side wants to be left alone for {after / MINUTE:,.0f} minutes: {error.why}"
            raise ReviewerStoppedError(message) from error
        if failures >= self._work.limits.tries:
            raise ReviewFailedError(f"given up after {failures} tries: {error.why}") from error
        if after > 0:
            pace.hold(after)
        if not after >= FIRST_WAIT:  # no time, one that has gone by, or one too short to change anything
            await pace.pause(failures)

    async def _once(self) -> ReviewerAnswer:
        work = self._work
        if cap := await work.purse.take(self._most):
            raise CapReachedError(cap)
        try:
            await work.pace.wait_for_turn(self._intent.estimate.tokens or 0)
        except BaseException:
            work.purse.give_back(self._most)
            raise
        call = msgspec.structs.replace(self._intent, id=work.new_id(), started_at=work.now())
        if not work.ledger.intend(call, unless_since=self._still_asked()):
            work.purse.give_back(self._most)
            raise AskedElsewhereError
        try:
            given = await self._ask()
        except BaseException as error:
            self._close(_without_answer(call, error))
            raise
        self._close(msgspec.structs.replace(call, state="answered", answer=given.text, usage=given.usage))
        work.pace.went_well()
        return given

    async def _ask(self) -> ReviewerAnswer:
        seconds = self._work.limits.timeout
        with this_one_only(in_doubt=True):  # it was on its way
            try:
                async with asyncio.timeout(seconds):
                    return await self._work.reviewer.ask(self._prompt, self._packet)
            except TimeoutError as error:
                raise RetryLaterError(f"no answer within {seconds:g} s", in_doubt=True) from error

    def _still_asked(self) -> str:
        """The earlier caller has given up, or its machine is gone."""
        longest = timedelta(seconds=2 * self._work.limits.timeout)
        return (datetime.fromisoformat(self._work.now()) - longest).isoformat().replace("+00:00", "Z")

    def _close(self, call: ReviewCall) -> None:
        self._work.ledger.close(msgspec.structs.replace(call, ended_at=self._work.now()))
        self._work.purse.end(self._most, owed(call))


def intended_call(packet: Packet, prompt: Prompt, number: int, work: Work) -> ReviewCall:
    reviewer = word_for(work.identity)
    return ReviewCall(
        id=work.new_id(),
        run=split_attempt_id(packet.attempt_id).run,
        attempt=packet.attempt_id,
        reviewer=reviewer,
        cache_key=cache_key(packet, prompt, reviewer, number),
        round=number,
        estimate=work.estimate(prompt),
        started_at=work.now(),
    )


def _without_answer(call: ReviewCall, error: BaseException) -> ReviewCall:
    """An interrupted call may have been billed: it is reported as lost, not as failed."""
    if not isinstance(error, NoAnswerError):
        return msgspec.structs.replace(call, state="lost", why="broken off before the answer came")
    state: Literal["lost", "failed"] = "lost" if error.in_doubt else "failed"
    return msgspec.structs.replace(call, state=state, why=error.why[:LONGEST_MESSAGE], usage=error.usage)


def owed(call: ReviewCall) -> Usage:
    if call.state == "failed" and call.usage == NO_USAGE:
        return NOTHING
    return NO_USAGE if call.state == "lost" else call.usage


def cache_key(packet: Packet, prompt: Prompt, reviewer: str, number: int) -> str:
    """The same packet, reviewer, instructions and round: the same answer."""
    key = "\0".join((packet_hash(packet), prompt.hash, reviewer, str(number)))
    return blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()


class RefusedAnswer(msgspec.Struct, frozen=True):
    """The last answer of a reviewer about a packet, where it could not be taken."""

    reviewer: Reviewer
    answer: str
    reasons: tuple[str, ...]


class PacketResult(Struct):
    """How the review of one packet ended."""

    packet: Packet
    end: End
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    readings: tuple[Verdict, ...] = ()
    """Of two passes: the readings beside the verdict."""
    refused: tuple[RefusedAnswer, ...] = ()
    cached: bool = False
    """Nothing was asked: all answers were in the ledger."""


Read = Callable[[Packet, Work], Awaitable[PacketResult]]


async def fan_out(
    packets: Iterable[Packet | None], work: Work, read: Read | None = None
) -> AsyncIterator[PacketResult]:
    """The ends in the order they come. Packets are taken one by one, when somebody is free to review them.

    None in their place means that there are more, but only after one of those under review has ended.
    """
    waiting = iter(packets)
    running: set[asyncio.Task[PacketResult]] = set()
    done: set[asyncio.Task[PacketResult]] = set()
    stopped = False
    try:
        while True:
            while not stopped and len(running) < work.limits.parallel and (packet := next(waiting, None)) is not None:
                running.add(asyncio.create_task(_review(packet, work, read or read_once)))
                await asyncio.sleep(0)  # it is on its way before the next packet is made
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                ended = task.result()
                stopped = stopped or ended.end in ("stopped", "capped")
                yield ended
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, *done, return_exceptions=True)


async def _review(packet: Packet, work: Work, read: Read) -> PacketResult:
    try:
        return await read(packet, work)
    except ReviewerStoppedError as error:
        return PacketResult(packet=packet, end="stopped", reasons=(error.why,))
    except NoAnswerError as error:
        return PacketResult(packet=packet, end="failed", reasons=(error.why,))
    except WaitingError:
        return PacketResult(packet=packet, end="waiting")
    except CapReachedError as error:
        return PacketResult(packet=packet, end="capped", reasons=(str(error),))


async def read_once(packet: Packet, work: Work) -> PacketResult:
    """One round, and where the answer can't be taken one round of repair; then it is refused."""
    with this_one_only():
        prompt = work.prompt(packet)
    first = await answer_to(packet, prompt, 1, work)
    with this_one_only():
        judged = work.judge(packet, prompt, first.given)
        if not isinstance(judged, Rejection):
            return PacketResult(packet=packet, end="reviewed", verdict=judged, cached=first.cached)
        prompt = work.repair(packet, prompt, first.given.text, judged.reasons)
    second = await answer_to(packet, prompt, 2, work)
    cached = first.cached and second.cached
    with this_one_only():
        judged = work.judge(packet, prompt, second.given)
    if isinstance(judged, Rejection):
        refused = RefusedAnswer(work.identity, second.given.text, judged.reasons)
        return PacketResult(packet=packet, end="refused", reasons=judged.reasons, refused=(refused,), cached=cached)
    return PacketResult(packet=packet, end="reviewed", verdict=judged, cached=cached)
