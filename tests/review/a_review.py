"""Reviews without a store, a network or a clock: a ledger in memory, reviewers that do as they are told, fake time."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from errata.model import Packet, Question, ReviewCall, Reviewer, Usage, Verdict
from errata.review.fan_out import PacketResult, Work, fan_out
from errata.review.protocols import Prompt, ReviewerAnswer
from errata.review.spending import Limits, Pace, Purse
from errata.review.verdicts import Rejection

WHO = Reviewer(kind="llm", name="fake")
Says = Callable[[Prompt, Packet], Awaitable[ReviewerAnswer]]


def some_packets(count: int) -> list[Packet]:
    return [
        Packet(
            id=f"run/case-{number}#1",
            run={},
            case_key=f"case-{number}",
            attempt=1,
            attempt_id=f"{'0' * 16}:case-{number}#1",
            facts={},
            question=Question(taxonomy="t", labels=(), rule=""),
        )
        for number in range(count)
    ]


class Time:
    """A clock that goes on only while somebody sleeps; whoever sleeps longest wakes last."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


class MemoryLedger:
    def __init__(self) -> None:
        self.calls: dict[str, ReviewCall] = {}
        self.reads = 0

    def answered(self, cache_key: str) -> ReviewCall | None:
        self.reads += 1
        known = (call for call in self.calls.values() if call.cache_key == cache_key)
        return next((call for call in known if call.state == "answered"), None)

    def is_in_batch(self, cache_key: str) -> bool:
        assert cache_key
        return False

    def intend(self, call: ReviewCall, *, unless_since: str) -> bool:
        assert unless_since < call.started_at
        assert call.id not in self.calls
        self.calls[call.id] = call
        return True

    def close(self, call: ReviewCall) -> None:
        assert self.calls[call.id].state == "intended", "a call is closed once"
        self.calls[call.id] = call

    def states(self) -> list[str]:
        return [call.state for call in self.calls.values()]

    def of(self, packet: Packet, state: str = "") -> list[ReviewCall]:
        return [one for one in self.calls.values() if one.attempt == packet.attempt_id and state in ("", one.state)]


class Fake:
    def __init__(self, says: Says) -> None:
        self.identity = WHO
        self._says = says
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0

    async def ask(self, prompt: Prompt, packet: Packet) -> ReviewerAnswer:
        self.asked.append(packet.id)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._says(prompt, packet)
        finally:
            self.at_once -= 1


async def takes(_prompt: Prompt, _packet: Packet) -> ReviewerAnswer:
    await asyncio.sleep(0)
    return ReviewerAnswer("good", Usage(input=10, output=5, cost=0.01))


def judge(packet: Packet, _prompt: Prompt, answer: ReviewerAnswer) -> Verdict | Rejection:
    """`good` is a verdict, anything else is not."""
    if answer.text != "good":
        return Rejection((f"`{answer.text}` is no verdict",))
    return Verdict(
        id=packet.id,
        attempt=packet.attempt_id,
        taxonomy="t",
        label="l",
        owner="model",
        cause="c",
        confidence="likely",
        reviewer=WHO,
    )


def a_prompt(packet: Packet) -> Prompt:
    return Prompt(before="b", data=packet.id, after="a", marker="m", schema={}, hash="h1")


def repaired(_packet: Packet, prompt: Prompt, answer: str, reasons: tuple[str, ...]) -> Prompt:
    return msgspec.structs.replace(prompt, data=f"{prompt.data} {answer} {reasons}", hash="h2")


def some_work(reviewer: Fake, limits: Limits | None = None, **changes: Any) -> Work:
    limits = limits or Limits()
    numbers = itertools.count()
    time = Time()
    given: dict[str, Any] = {
        "reviewer": reviewer,
        "identity": WHO,
        "ledger": MemoryLedger(),
        "prompt": a_prompt,
        "repair": repaired,
        "judge": judge,
        "estimate": lambda _: Usage(input=10, output=10, cost=0.02),
        "most": lambda _: Usage(input=20, output=20, cost=0.05),
        "now": lambda: "2026-11-16T00:00:00+00:00",
        "new_id": lambda: f"call-{next(numbers)}",
        "limits": limits,
        "pace": Pace(limits, clock=time, sleep=time.sleep, seed=3),
        "purse": Purse(limits),
    }
    return Work(**given | changes)


def reviewed(packets: Iterable[Packet], work: Work) -> list[PacketResult]:
    async def all_of_them() -> list[PacketResult]:
        return [ended async for ended in fan_out(packets, work)]

    return asyncio.run(all_of_them())
