"""Many packets, some in parallel: every call is in the ledger before it is made, and no answer is paid for twice."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Literal

import msgspec

from errata.model import Packet, Verdict
from errata.review.protocols import NoAnswerError, ReviewerStoppedError
from errata.review.rounds import CapReachedError, Round, this_one_only
from errata.review.verdicts import Refused
from errata.review.work import Work

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


async def fan_out(packets: Iterable[Packet | None], work: Work) -> AsyncIterator[Ended]:
    """The ends in the order they come. Packets are taken one by one, when somebody is free to review them.

    None in their place says that there are more, but not before one of those that are being reviewed has ended.
    """
    waiting = iter(packets)
    running: set[asyncio.Task[Ended]] = set()
    stopped = False
    try:
        while True:
            while not stopped and len(running) < work.limits.parallel and (packet := next(waiting, None)) is not None:
                running.add(asyncio.create_task(_review(packet, work)))
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
        await asyncio.gather(*running, return_exceptions=True)


async def _review(packet: Packet, work: Work) -> Ended:
    try:
        return await _reviewed(packet, work)
    except ReviewerStoppedError as error:
        return Ended(packet=packet, end="stopped", reasons=(error.why,))
    except NoAnswerError as error:
        return Ended(packet=packet, end="failed", reasons=(error.why,))
    except CapReachedError as error:
        return Ended(packet=packet, end="capped", reasons=(str(error),))


async def _reviewed(packet: Packet, work: Work) -> Ended:
    """One round, and where the answer can't be taken one round of repair; then it is refused."""
    with this_one_only():
        prompt = work.prompt(packet)
    first = await Round(packet, prompt, 1, work).answer()
    with this_one_only():
        judged = work.judge(packet, prompt, first.given)
        if not isinstance(judged, Refused):
            return Ended(packet=packet, end="reviewed", verdict=judged, cached=first.cached)
        prompt = work.repair(packet, prompt, first.given.text, judged.reasons)
    second = await Round(packet, prompt, 2, work).answer()
    cached = first.cached and second.cached
    with this_one_only():
        judged = work.judge(packet, prompt, second.given)
    if isinstance(judged, Refused):
        return Ended(packet=packet, end="refused", reasons=judged.reasons, answer=second.given.text, cached=cached)
    return Ended(packet=packet, end="reviewed", verdict=judged, cached=cached)
