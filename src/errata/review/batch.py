"""A review by batches: rounds that are answered take their answer from the ledger, the others are queued."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from errata.llm.batch_spec import MOST_BYTES, MOST_REQUESTS, BatchStatus
from errata.model import Packet, ReviewBatch, ReviewCall, Reviewer, Usage
from errata.model.verdict import BatchNews
from errata.review.excerpts import weight
from errata.review.fan_out import Got, WaitingError, Work, intended_call
from errata.review.protocols import Prompt, ReviewerAnswer, ReviewerStoppedError, ReviewFailedError
from errata.review.spending import Limits, Purse


class QueuedRequest(msgspec.Struct, frozen=True):
    call: ReviewCall
    prompt: Prompt
    most: Usage
    """Held until it is known what it cost."""


class BatchAccount:
    """Of one command: what it may spend, and what its batches brought."""

    def __init__(self, limits: Limits) -> None:
        self.purse = Purse(limits)
        self.held: dict[str, Usage] = {}
        """Call → the most that it may cost; submitted by this command and not ended."""
        self.collected: set[str] = set()
        """Cache keys that were answered in this command."""
        self.failed: dict[str, str] = {}
        """Cache key → why it failed; it is not asked again by this command."""
        self.news: list[BatchNews] = []
        self.submitted: list[ReviewBatch] = []
        self.capped = ""
        self.stopped = ""
        """Why nothing more can be submitted."""

    def end(self, call: ReviewCall, owed: Usage) -> None:
        most = self.held.pop(call.id, None)
        if most is None:
            self.purse.count(owed)
        else:
            self.purse.end(most, owed)
        if call.state == "answered":
            self.collected.add(call.cache_key)
        else:
            self.failed[call.cache_key] = call.why

    def release(self, call: ReviewCall) -> None:
        """It was not submitted."""
        most = self.held.pop(call.id, None)
        if most is not None:
            self.purse.give_back(most)


class OnlyInBatches:
    """In the place of a reviewer that is asked by calls."""

    def __init__(self, identity: Reviewer) -> None:
        self.identity = identity

    async def ask(self, _prompt: Prompt, _packet: Packet) -> ReviewerAnswer:
        raise ReviewerStoppedError("it is asked in batches only")


Submit = Callable[[str, Sequence[QueuedRequest]], Awaitable[None]]
"""A run and requests about its failures."""


class Outbox:
    """Requests that no ledger answers, by run; a batch is submitted when it is full, the rest at the end."""

    def __init__(self, account: BatchAccount, submit: Submit, *, may_submit: bool) -> None:
        self._account, self._submit, self._may_submit = account, submit, may_submit
        self._queued: dict[str, list[QueuedRequest]] = {}
        self._sizes: dict[str, int] = {}

    async def answer(self, packet: Packet, prompt: Prompt, number: int, work: Work) -> Got:
        call, account = intended_call(packet, prompt, number, work), self._account
        key = call.cache_key
        before = work.ledger.answered(key)
        if before is not None:
            return Got(ReviewerAnswer(before.answer, before.usage), cached=key not in account.collected)
        if work.ledger.is_in_batch(key):
            raise WaitingError
        if key in account.failed:
            raise ReviewFailedError(account.failed[key])
        if not self._may_submit or account.stopped:
            raise WaitingError
        most = work.most(prompt)
        if cap := account.purse.hold(most):
            account.capped = account.capped or cap
            raise WaitingError
        account.held[call.id] = most
        await self._queue(QueuedRequest(call, prompt, most))
        raise WaitingError

    async def flush(self) -> None:
        for run in tuple(self._queued):
            await self._send(run)

    async def _queue(self, request: QueuedRequest) -> None:
        run, size = request.call.run, weight(request.prompt.text) + weight(str(request.prompt.schema))
        if self._sizes.get(run, 0) + 2 * size > MOST_BYTES:  # escaped for JSON, a text may be twice as long
            await self._send(run)
        self._queued.setdefault(run, []).append(request)
        self._sizes[run] = self._sizes.get(run, 0) + 2 * size
        if len(self._queued[run]) == MOST_REQUESTS:
            await self._send(run)

    async def _send(self, run: str) -> None:
        requests = self._queued.pop(run, [])
        self._sizes.pop(run, None)
        if requests:
            await self._submit(run, requests)


def missing_row(status: BatchStatus) -> str:
    """Why a request has no row; empty where it should have one, so that it may have been billed."""
    match status:
        case "expired":
            return "the batch expired before it was answered; it is not billed"
        case "cancelled":
            return "the batch was cancelled before it was answered; it is not billed"
        case "failed":
            return "the provider refused the batch"
        case _:
            return ""
