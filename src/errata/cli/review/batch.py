"""`errata review run --batch`: collect what ended, judge it, submit what is missing, and wait if asked to."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from errata.cli.output import plural, put, put_json, say
from errata.cli.review.run_output import batch_name, run_output, show_dry_run, show_plan, show_tally
from errata.errors import SettingsError
from errata.json_output.review import batch_output
from errata.model import ReviewBatch, StoredRun
from errata.model.output.review import CancelledBatchesOutput
from errata.model.times import to_text
from errata.model.verdict import BatchNews, word_for
from errata.review.batch import BatchAccount
from errata.review.plan import ReviewPlan, ReviewRequest, refuse_unpriced_cap
from errata.review.run import ReviewTally
from errata.verbs.review import collect_batches, first_prompt, open_review_batches, plan_review, run_review
from errata.verbs.store import Store

FIRST_LOOK, LONGEST_LOOK = 20.0, 300.0
"""Seconds between two looks at a batch; each wait is half as long again as the one before."""

MayBegin = Callable[[ReviewPlan], bool]
"""Asks before spending; raises where nobody can be asked."""


class BatchReview:
    """One command: its batches, its progress, and what it may spend."""

    def __init__(self, runs: Sequence[StoredRun], store: Store, request: ReviewRequest, *, as_json: bool) -> None:
        self._runs, self._store, self._request, self._as_json = runs, store, request, as_json
        self.account = BatchAccount(request.limits)
        self.tally = ReviewTally(0)

    def show_dry_run(self) -> None:
        plan = self._plan()
        show_dry_run(plan, first_prompt(plan, self._store), as_json=self._as_json)

    def cancel(self) -> None:
        collect_batches(self._runs, self._store, self._request, self.account, cancel=True)
        if self._as_json:
            put_json(CancelledBatchesOutput(batches=tuple(batch_output(one) for one in self.account.news)))
            return
        self._show_news()
        if not self.account.news:
            put(f"no open batch of `{word_for(self._request.chosen.identity)}`")

    def run(self, may_begin: MayBegin, *, wait: bool) -> None:
        """What was collected is judged even if nothing may be submitted."""
        refusal: SettingsError | None = None
        plan, may_submit, pause = None, None, FIRST_LOOK
        try:
            while True:
                plan = self._collect_and_plan()
                if may_submit is None:
                    try:
                        may_submit = not plan.packets or may_begin(plan)
                    except SettingsError as error:
                        may_submit, refusal = False, error
                self._review(plan, may_submit=may_submit)
                if not wait or not self._open() or self.tally.stopped:
                    break
                time.sleep(pause)
                pause = min(1.5 * pause, LONGEST_LOOK)
        finally:
            if plan is not None:
                self._show(plan)
        if refusal is not None:
            raise refusal

    def _collect_and_plan(self) -> ReviewPlan:
        shown = len(self.account.news)
        collect_batches(self._runs, self._store, self._request, self.account)
        if not self._as_json:
            self._show_news(shown)
        plan = self._plan()
        refuse_unpriced_cap(plan)
        return plan

    def _plan(self) -> ReviewPlan:
        plan = plan_review(self._runs, self._store, self._request, now=to_text(datetime.now(UTC)))
        if not self._as_json:
            show_plan(plan)
        return plan

    def _review(self, plan: ReviewPlan, *, may_submit: bool) -> None:
        in_batch = sum(part.in_batch for part in plan.parts)
        self.tally.planned, self.tally.waiting = self.tally.finished + plan.packets + in_batch, 0
        if plan.packets:
            run_review(plan, self._store, self.tally, lambda _: None, account=self.account, may_submit=may_submit)
        self.tally.capped, self.tally.stopped = self.account.capped, self.account.stopped

    def _open(self) -> list[ReviewBatch]:
        return open_review_batches(self._runs, self._store, reviewer=word_for(self._request.chosen.identity))

    def _show(self, plan: ReviewPlan) -> None:
        latest = {news.batch.id: news for news in self.account.news}
        waiting = {one.id: BatchNews(batch=one, notes=_notes(latest.get(one.id))) for one in self._open()}
        if self._as_json:
            put_json(run_output(plan, self.tally, batches=tuple({**latest, **waiting}.values())))
            return
        for batch in self.account.submitted:
            put(f"sent     {plural(batch.requests, 'request')} in batch {batch_name(batch)}", hang=9)
        show_tally(plan, self.tally, as_json=False, in_batches=sum(one.batch.requests for one in waiting.values()))

    def _show_news(self, since: int = 0) -> None:
        for news in self.account.news[since:]:
            say(f"batch     {batch_name(news.batch)}: {_progress(news)}")
            for note in news.notes:
                say(f"{'':<10}{note}")


def _notes(news: BatchNews | None) -> tuple[str, ...]:
    return news.notes if news else ()


def _progress(news: BatchNews) -> str:
    batch = news.batch
    if batch.is_open:
        return f"{batch.status or 'not submitted'}, {batch.done:,} of {plural(batch.requests, 'request')} done"
    counts = [(news.answered, "answered"), (news.failed, "failed"), (news.lost, "lost, perhaps billed")]
    parts = [f"{count:,} {word}" for count, word in counts if count]
    return f"{batch.status or batch.state}, {', '.join(parts) or 'nothing new'}"
