"""`errata review run`: plan, progress and result."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import click

from errata.cli.options import OneOfMany, Options, Word, reports_option, shared_options
from errata.cli.output import money, plural, put, put_json, say
from errata.cli.progress import StatusLine, status_line
from errata.cli.review.options import packet_options
from errata.cli.review.run_output import batch_name, run_output, show_dry_run, show_plan, show_tally
from errata.errors import ErrataError, SettingsError
from errata.json_output.review import batch_output
from errata.model import ReviewBatch, StoredRun
from errata.model.filters import Filters
from errata.model.output.review import CancelledBatchesOutput
from errata.model.times import to_text
from errata.model.verdict import BatchNews, word_for
from errata.model.words import OWNERS
from errata.review.batch import BatchAccount
from errata.review.choose_reviewer import ReviewerFlags, choose
from errata.review.plan import ReviewPlan, ReviewRequest, refuse_unpriced_cap
from errata.review.run import ReviewTally
from errata.review.spending import Limits
from errata.runs.names import runs_named
from errata.verbs.review import collect_batches, first_prompt, open_review_batches, plan_review, run_review
from errata.verbs.store import Store


@contextmanager
def watching(plan: ReviewPlan, tally: ReviewTally, *, as_json: bool) -> Iterator[Callable[[ReviewTally], None]]:
    """Prints the result even if the review is interrupted: verdicts so far are kept."""
    try:
        if as_json or not tally.planned:
            yield lambda _: None
        else:
            with status_line("Reviewing") as line:
                yield (lambda _: None) if line is None else partial(_show, line)
    finally:
        if as_json or tally.calls or tally.finished or tally.capped:
            show_tally(plan, tally, as_json=as_json)


def _show(line: StatusLine, tally: ReviewTally) -> None:
    line.show(" · ".join([f"{tally.finished:,} of {tally.planned:,}", *progress_parts(tally)]))


def progress_parts(tally: ReviewTally) -> list[str]:
    """`12 reviewed · 1 refused · $0.0312 so far`."""
    parts = [f"{tally.reviewed:,} reviewed"]
    parts += [f"{count:,} {word}" for word, count in (("refused", tally.refused), ("failed", tally.failed)) if count]
    unknown = f" and {tally.unpriced:,} of unknown price" if tally.unpriced else ""
    return [*parts, f"{money(tally.cost)} so far{unknown}"]


@click.command("run")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--model", default="", metavar="PROVIDER:NAME", help="Model to ask; with --base-url, its name there.")
@click.option("--base-url", default="", metavar="URL", help="Server with an OpenAI-compatible API.")
@click.option(
    "--command",
    default="",
    metavar="PROGRAM",
    help="Program to ask: claude, codex, gemini, or your own with its arguments.",
)
@click.option("--reviewer", default="", metavar="NAME", help="Reviewer from your settings.")
@click.option("--parallel", type=click.IntRange(1, 256), default=4, help="Number of calls at once.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0), metavar="DOLLARS", help="Spend at most this much in this command."
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="Use at most N tokens in this command.")
@click.option("--limit", type=click.IntRange(min=1), help="Review at most N, spread over all groups.")
@click.option("--case", default="", help="Only cases whose name contains this text.")
@click.option("--owner", cls=OneOfMany, type=Word(OWNERS), help="Only failures with this owner by triage.")
@click.option("--bucket", default="", metavar="SLUG", help="Only failures in this bucket.")
@click.option(
    "--second", is_flag=True, help="Review failures that others have reviewed, without seeing their verdicts."
)
@click.option(
    "--passes",
    type=click.IntRange(1, 2),
    default=1,
    help="With 2, read each failure twice independently, and adjudicate where the readings differ.",
)
@click.option("--second-reviewer", default="", metavar="NAME", help="Reviewer from your settings for the second pass.")
@packet_options
@click.option("--with-tools", is_flag=True, help="Let the model read and search texts that are too long for a packet.")
@click.option("--allow-tools", is_flag=True, help="Start an agent even if its tools may be on.")
@click.option("--batch", is_flag=True, help="Use the provider's batch API: half the price at OpenAI, within 24 hours.")
@click.option("--wait", is_flag=True, help="With --batch, wait for all answers.")
@click.option("--cancel", is_flag=True, help="With --batch, cancel the open batches of this reviewer.")
@click.option("--dry-run", is_flag=True, help="Only show what would be sent and its cost.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before spending.")
@reports_option
@shared_options
def command(
    runs: tuple[str, ...],
    parallel: int,
    max_cost: float | None,
    max_tokens: int | None,
    limit: int | None,
    case: str,
    owner: str | None,
    bucket: str,
    second: bool,
    passes: Literal[1, 2],
    second_reviewer: str,
    taxonomy: str,
    blind: bool,
    batch: bool,
    wait: bool,
    cancel: bool,
    dry_run: bool,
    yes: bool,
    options: Options,
    **whom: str | bool,
) -> None:
    """Review failures with a model or a program.

    Shows the estimated cost first. Each verdict is stored at once and no call is repeated, so an interrupted review
    continues where it stopped. With --batch, run the same command again to collect what is ready.
    """
    store = options.store
    _refuse_passes(passes, second_reviewer, second=second)
    _refuse_batch_options(batch=batch, wait=wait, cancel=cancel, passes=passes)
    reviewers = options.settings.reviewers
    request = ReviewRequest(
        chosen=choose(ReviewerFlags(**whom, batch=batch), reviewers),  # type: ignore[arg-type]
        limits=Limits(parallel=parallel, max_cost=max_cost, max_tokens=max_tokens),
        filters=Filters(case=case, owner=owner or "", bucket=bucket),
        wanted="second" if second else "unread",
        at_most=limit,
        taxonomy=taxonomy,
        blind=blind,
        passes=passes,
        second=choose(ReviewerFlags(reviewer=second_reviewer), reviewers) if second_reviewer else None,
        batch=batch,
    )
    meant = list(runs_named(runs, store))
    if batch:
        _run_batch(BatchReview(meant, store, request, as_json=options.json), wait, cancel, dry_run, yes)
        return
    plan = plan_review(meant, store, request, now=to_text(datetime.now(UTC)))
    if not options.json:
        show_plan(plan)
    if dry_run:
        show_dry_run(plan, first_prompt(plan, store), as_json=options.json)
        return
    refuse_unpriced_cap(plan)
    tally = ReviewTally(plan.packets)
    if plan.packets and not _may_begin(plan, yes=yes):
        say("nothing was sent")
        return
    with watching(plan, tally, as_json=options.json) as on_end:
        if plan.packets:
            run_review(plan, store, tally, on_end)
    _refuse_nothing(tally)


def _refuse_passes(passes: int, second_reviewer: str, *, second: bool) -> None:
    if passes == 2 and second:
        hint = "use one of them: `--passes 2` reviews each unreviewed failure twice"
        raise SettingsError("`--second` and `--passes 2` can't be combined", hint=hint)
    if second_reviewer and passes == 1:
        raise SettingsError("`--second-reviewer` needs `--passes 2`", hint="add `--passes 2`")


def _run_batch(review: "BatchReview", wait: bool, cancel: bool, dry_run: bool, yes: bool) -> None:
    if dry_run:
        review.show_dry_run()
    elif cancel:
        review.cancel()
    else:
        review.run(partial(_may_begin, yes=yes), wait=wait)
        _refuse_nothing(review.tally)


def _refuse_batch_options(*, batch: bool, wait: bool, cancel: bool, passes: int) -> None:
    if not batch and (wait or cancel):
        raise SettingsError(f"`--{'wait' if wait else 'cancel'}` needs `--batch`", hint="add `--batch`")
    if wait and cancel:
        raise SettingsError(
            "`--wait` and `--cancel` can't be combined", hint="cancel first, then collect with `--wait`"
        )
    if batch and passes == 2:
        hint = "collect a first review, then submit another with `--batch --second --reviewer NAME`"
        raise SettingsError("`--batch` and `--passes 2` can't be combined", hint=hint)


def _may_begin(plan: ReviewPlan, *, yes: bool) -> bool:
    """Ask before spending; without a terminal, require a flag."""
    estimate, limits = plan.estimate, plan.request.limits
    if yes or not estimate.calls or estimate.cost == 0:
        return True
    if sys.stdin.isatty():
        return click.confirm("Begin?", default=True, err=True)
    if limits.max_cost is None and limits.max_tokens is None:
        cost = "an unknown cost" if estimate.cost is None else f"about {money(estimate.cost)}"
        raise SettingsError(
            f"This would make {estimate.calls:,} calls for {cost}, and there is no terminal to confirm it",
            hint="add `--yes`, or a cap: `--max-cost DOLLARS`, `--max-tokens N`; `--dry-run` shows what would be sent",
        )
    return True


def _refuse_nothing(tally: ReviewTally) -> None:
    """A review without any result is an error, even if earlier verdicts are stored."""
    if tally.stopped:
        raise ErrataError(f"The reviewer can't be asked any more: {tally.stopped}", hint="reviews so far are kept")
    if tally.failed and not tally.reviewed and not tally.refused:
        why = tally.reasons.most_common(1)[0][0]
        raise ErrataError(f"No failure could be reviewed: {why}", hint="`errata review status RUN` shows all calls")


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
