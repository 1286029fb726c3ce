"""`errata review run`: plan, progress and result."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

import click
import msgspec

from errata.cli.options import Options, shared_options
from errata.cli.output import money, number, plural, put, put_command, put_json, say
from errata.cli.progress import StatusLine, status_line
from errata.cli.review.options import no_failure, packet_options
from errata.cli.shared_options import OneOfMany, Word, reports_option
from errata.cli.table import put_parts
from errata.errors import ErrataError, SettingsError
from errata.model import ReviewCall
from errata.model.attempt import Filters
from errata.model.output.review import DryRunOutput, EstimateOutput, LostCallOutput, PlannedRunOutput, ReviewRunOutput
from errata.model.times import to_text
from errata.model.usage import total_of
from errata.model.verdict import word_for
from errata.model.words import OWNERS
from errata.review.choose_reviewer import ReviewerFlags, choose
from errata.review.limits import Limits
from errata.review.plan import ReviewPlan, ReviewRequest, refuse_unpriced_cap
from errata.review.protocols import Prompt
from errata.review.run import ReviewTally
from errata.runs.names import runs_named, short
from errata.text.clean import one_line
from errata.verbs.review import first_prompt, plan_review, run_review

NAMED, LONGEST = 5, 70


def show_plan(plan: ReviewPlan) -> None:
    """Printed to stderr before anything is sent."""
    for part in plan.parts:
        queue, begun = part.queue, len(part.first) + len(part.then)
        counts = f"{plural(queue.failures, 'failure')} · {queue.read:,} reviewed · {begun:,} to review"
        again = f", {len(queue.returned):,} of them again: evidence changed since" if queue.returned else ""
        say(f"{short(part.stored.run.native_id):<9} {counts}{again}")
    if not any(part.queue.failures for part in plan.parts):
        say(no_failure(plan.request.filters, *(short(part.stored.run.native_id) for part in plan.parts)))
        return
    if not plan.packets:
        whose = "that others have reviewed " if plan.request.wanted == "second" else ""
        say(f"nothing {whose}is waiting for `{word_for(plan.request.chosen.identity)}`")
        return
    if plan.left_out:
        say(f"left out  {sum(plan.left_out.values()):,} by `--limit`: {_groups(plan)}")
    say(f"sent to   {plan.request.chosen.goes_to}, as `{word_for(plan.request.chosen.identity)}`")
    if plan.request.passes == 2:
        second = word_for(plan.request.second_reader.identity)
        say(f"passes    two readings, the second as `{second}`; an adjudication where they differ")
    estimate = plan.estimate
    tokens = f"about {number(estimate.tokens_in)} tokens in and {number(estimate.tokens_out)} out"
    cached = f" · {plural(estimate.cached, 'answer')} cached" if estimate.cached else ""
    most = "at most " if plan.request.passes == 2 else ""
    say(f"estimate  {most}{plural(estimate.calls, 'call')}, {tokens}, {_cost(estimate.cost)}{cached}")
    if plan.lost:
        say(f"lost      {_lost_in_words(plan.lost)}: a process ended before the answer was stored")


def show_dry_run(plan: ReviewPlan, prompt: Prompt | None, *, as_json: bool) -> None:
    """Exactly what would be sent for the first packet."""
    if as_json:
        put_json(DryRunOutput(**plan_fields(plan), prompt=prompt.text if prompt else None), raw=True)
        return
    if prompt is None:
        return
    sys.stdout.write(f"{prompt.text}\n")  # not folded: this is what would be sent, character for character
    say(f"\nthis is the first of {plural(plan.packets, 'packet')}; nothing was sent")


def show_tally(plan: ReviewPlan, tally: ReviewTally, *, as_json: bool) -> None:
    if as_json:
        put_json(run_output(plan, tally))
        return
    if not tally.planned:
        return
    labels = [f"{label} {count:,}" for label, count in tally.labels.most_common()]
    put_parts("Reviewed", [f"{tally.reviewed:,} of {tally.planned:,}", *labels])
    for word, count in (("refused", tally.refused), ("failed", tally.failed)):
        if count:
            put(f"{word:<8} {count:,}")
    for why, count in tally.reasons.most_common(NAMED):
        put(f"{'':<9}{count}× {one_line(why, 2 * LONGEST)}", hang=12)
    if plan.request.passes == 2 and tally.reviewed:
        put(f"passes   {tally.adjudicated:,} of {tally.reviewed:,} adjudicated; the readings agree on the others")
    if tally.inherited:
        put(f"inherit  {plural(tally.inherited, 'failure')} of the same crash inherited a verdict")
    if tally.need_second:
        verdicts = plural(tally.need_second, "verdict")
        put(f"second   {verdicts} that the log may have asked for: not final until another reviewer agrees", hang=9)
    _put_spent(tally)
    if tally.capped:
        put(f"stopped  {tally.capped}; {plural(tally.remaining, 'failure')} not reviewed", hang=9)
    elif tally.remaining:
        put(f"left     {tally.remaining:,} not reviewed")
    if plan.left_out:
        put(f"left out {sum(plan.left_out.values()):,} by --limit: {_groups(plan)}", hang=9)
    _put_next(plan, tally)


def _put_spent(tally: ReviewTally) -> None:
    unknown = f", unknown for {tally.unpriced:,}" if tally.unpriced else ""
    known = money(tally.cost) if tally.calls > tally.unpriced else "unknown"
    parts = [f"{known}{unknown if known != 'unknown' else ''}", plural(tally.calls, "call")]
    if tally.tokens:
        parts.append(f"{number(tally.tokens)} tokens")
    if tally.cached:
        parts.append(f"{plural(tally.cached, 'answer')} cached")
    put_parts("cost", parts)
    if tally.lost:
        put(f"lost     {_lost_in_words(tally.lost)}: interrupted, and perhaps billed", hang=9)


def _put_next(plan: ReviewPlan, tally: ReviewTally) -> None:
    handles = [short(part.stored.run.native_id) for part in plan.parts]
    if tally.remaining or tally.failed:
        put("Next     run the same command to continue; no call is repeated")
    elif tally.reviewed:
        put_command("Next", ["errata", "review", "status", *handles])


def plan_fields(plan: ReviewPlan) -> dict[str, Any]:
    return {
        "runs": tuple(
            PlannedRunOutput(
                run=part.stored.run.native_id,
                run_id=part.stored.run.id,
                failures=part.queue.failures,
                read_before=part.queue.read,
                planned=len(part.first) + len(part.then),
            )
            for part in plan.parts
        ),
        "reviewer": word_for(plan.request.chosen.identity),
        "passes": plan.request.passes,
        "goes_to": plan.request.chosen.goes_to,
        "estimate": msgspec.convert(plan.estimate, EstimateOutput, from_attributes=True),
        "left_out": plan.left_out,
        "lost_before": lost_calls(plan.lost),
    }


def run_output(plan: ReviewPlan, tally: ReviewTally) -> ReviewRunOutput:
    return ReviewRunOutput(
        **plan_fields(plan),
        planned=tally.planned,
        reviewed=tally.reviewed,
        refused=tally.refused,
        failed=tally.failed,
        inherited=tally.inherited,
        not_read=tally.remaining,
        need_second=tally.need_second,
        adjudicated=tally.adjudicated,
        labels=dict(tally.labels.most_common()),
        reasons=dict(tally.reasons.most_common()),
        calls=tally.calls,
        cached=tally.cached,
        tokens=tally.tokens,
        cost=tally.cost if tally.calls > tally.unpriced or not tally.calls else None,
        unpriced=tally.unpriced,
        lost=lost_calls(tally.lost),
        capped=tally.capped or None,
        stopped=tally.stopped or None,
    )


def lost_calls(calls: Iterable[ReviewCall]) -> tuple[LostCallOutput, ...]:
    return tuple(
        LostCallOutput(attempt_id=call.attempt, reviewer=call.reviewer, estimate=call.estimate, why=call.why)
        for call in calls
    )


def _lost_in_words(calls: Iterable[ReviewCall]) -> str:
    made = list(calls)
    return f"{plural(len(made), 'call')}, {_cost(total_of(call.estimate.cost for call in made))}"


def _cost(cost: float | None) -> str:
    return "unknown cost" if cost is None else f"about {money(cost, 2 if cost >= 1 else 4)}"


def _groups(plan: ReviewPlan) -> str:
    most = sorted(plan.left_out.items(), key=lambda entry: -entry[1])
    listed = [f"{count:,} of `{one_line(group, LONGEST)}`" for group, count in most[:NAMED]]
    more = [f"{len(most) - NAMED:,} more groups"] if len(most) > NAMED else []
    return ", ".join([*listed, *more])


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
@click.option("--second", is_flag=True, help="Review what others have reviewed, without seeing their verdicts.")
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
    dry_run: bool,
    yes: bool,
    options: Options,
    **whom: str | bool,
) -> None:
    """Review failures with a model or a program.

    Shows the estimated cost first. Each verdict is stored at once and no call is repeated, so an interrupted review
    continues where it stopped.
    """
    store = options.store
    _refuse_passes(passes, second_reviewer, second=second)
    reviewers = options.settings.reviewers
    request = ReviewRequest(
        chosen=choose(ReviewerFlags(**whom), reviewers),  # type: ignore[arg-type]
        limits=Limits(parallel=parallel, max_cost=max_cost, max_tokens=max_tokens),
        filters=Filters(case=case, owner=owner or "", bucket=bucket),
        wanted="second" if second else "unread",
        at_most=limit,
        taxonomy=taxonomy,
        blind=blind,
        passes=passes,
        second=choose(ReviewerFlags(reviewer=second_reviewer), reviewers) if second_reviewer else None,
    )
    meant = list(runs_named(runs, store))
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
        hint = "use one of them: `--passes 2` reads what nobody has reviewed, twice"
        raise SettingsError("`--second` and `--passes 2` can't be combined", hint=hint)
    if second_reviewer and passes == 1:
        raise SettingsError("`--second-reviewer` needs `--passes 2`", hint="add `--passes 2`")


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
