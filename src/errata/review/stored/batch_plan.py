"""The batches of a review: which packets wait in one, which answers came, and going through all that are open."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from msgspec.structs import replace

from errata.errors import ErrataError, SettingsError
from errata.llm.batch_spec import AsksInBatches
from errata.llm.spec import AskError
from errata.model import ReviewBatch
from errata.model.times import now_as_text
from errata.model.verdict import BatchNews, word_for
from errata.review.batch import BatchAccount
from errata.review.choose_reviewer import ChosenReviewer
from errata.review.inherit import MACHINERY
from errata.review.material import RunContext
from errata.review.plan import ReviewRequest
from errata.review.queue import WaitingFailure
from errata.review.run import Clock
from errata.review.spending import Limits
from errata.review.stored.batch import ReviewBatches, is_alike, open_batches_of
from errata.store.database import Store
from errata.store.ledger import batches_of, calls_in, keep_batch
from errata.store.reviews import verdicts_of


class BatchPart(NamedTuple):
    """Of one run and reviewer."""

    open: frozenset[str]
    """Attempts in batches that are not collected."""
    answered: tuple[str, ...]
    """Attempts whose answer came with a batch and is not judged."""
    downloaded: tuple[ReviewBatch, ...]

    def without_open(self, waiting: Sequence[WaitingFailure]) -> list[WaitingFailure]:
        """Also without those that may inherit the verdict on the same crash in a batch."""
        crashes = {one.key.exact for one in waiting if one.attempt in self.open and one.owner in MACHINERY}
        return [
            failure
            for failure in waiting
            if failure.attempt not in self.open and not (failure.owner in MACHINERY and failure.key.exact in crashes)
        ]


def batch_part(context: RunContext, store: Store, request: ReviewRequest) -> BatchPart:
    run_id, reviewer = context.stored.run.id, word_for(request.chosen.identity)
    batches = batches_of(store, [run_id], reviewer=reviewer, states=("intended", "submitted", "downloaded"))
    waiting = {call.attempt for one in batches if one.is_open for call in calls_in(store, one) if not call.ended_at}
    downloaded = [one for one in batches if request.batch and not one.is_open and is_alike(one, request)]
    return BatchPart(frozenset(waiting), _unjudged(downloaded, run_id, reviewer, store), tuple(downloaded))


def _unjudged(downloaded: Sequence[ReviewBatch], run_id: str, reviewer: str, store: Store) -> tuple[str, ...]:
    if not downloaded:
        return ()
    since = {one.attempt: one.at or "" for one in verdicts_of(store, run_id) if word_for(one.reviewer) == reviewer}
    calls = [call for one in downloaded for call in calls_in(store, one) if call.state == "answered"]
    return tuple(dict.fromkeys(call.attempt for call in calls if since.get(call.attempt, "") < (call.ended_at or "")))


def close_judged(batches: Sequence[ReviewBatch], store: Store) -> None:
    for batch in batches:
        keep_batch(store, replace(batch, state="closed"))


@asynccontextmanager
async def opened_batches(chosen: ChosenReviewer, limits: Limits) -> AsyncIterator[AsksInBatches]:
    if chosen.open_batches is None:
        raise SettingsError(f"`--batch` is not possible with {chosen.goes_to}", hint="leave out `--batch`")
    service = chosen.open_batches(limits.timeout)
    try:
        yield service
    finally:
        await service.close()


def collect_batches(
    runs: Sequence[str], store: Store, request: ReviewRequest, account: BatchAccount, *, now: Clock = now_as_text
) -> None:
    """Store the answers of open batches that have ended; what was found is in the account."""
    _each_open(runs, store, request, account, lambda batches, batch: batches.collect(batch), now)


def cancel_batches(
    runs: Sequence[str], store: Store, request: ReviewRequest, account: BatchAccount, *, now: Clock = now_as_text
) -> None:
    _each_open(runs, store, request, account, lambda batches, batch: batches.cancel(batch), now)


def _each_open(
    runs: Sequence[str],
    store: Store,
    request: ReviewRequest,
    account: BatchAccount,
    step: Callable[[ReviewBatches, ReviewBatch], Awaitable[BatchNews]],
    now: Clock,
) -> None:
    waiting = open_batches_of(runs, store, request)
    if waiting:
        asyncio.run(_through(waiting, store, request, account, step, now))


async def _through(
    waiting: Sequence[ReviewBatch],
    store: Store,
    request: ReviewRequest,
    account: BatchAccount,
    step: Callable[[ReviewBatches, ReviewBatch], Awaitable[BatchNews]],
    now: Clock,
) -> None:
    async with opened_batches(request.chosen, request.limits) as service:
        batches = ReviewBatches(service, store, request, account, now)
        for batch in waiting:
            try:
                account.news.append(await step(batches, batch))
            except AskError as error:
                hint = "nothing is lost: run the same command again"
                raise ErrataError(f"The batches can't be listed: {error}", hint=hint) from error
