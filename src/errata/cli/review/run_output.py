"""The plan and the result of `errata review run`, on a terminal and as JSON."""

import sys
from collections.abc import Iterable
from typing import Any

from errata.cli.output import money, number, plural, put, put_command, put_json, say
from errata.cli.review.options import no_failure
from errata.cli.table import put_parts
from errata.json_output.review import batch_output
from errata.model import ReviewBatch, ReviewCall
from errata.model.output.review import (
    DryRunOutput,
    LostCallOutput,
    PlannedRunOutput,
    ReviewRunOutput,
)
from errata.model.usage import total_of
from errata.model.verdict import BatchNews, word_for
from errata.review.plan import ReviewPlan
from errata.review.protocols import Prompt
from errata.review.run import ReviewTally
from errata.runs.names import short
from errata.text.clean import one_line

NAMED, LONGEST = 5, 70


def show_plan(plan: ReviewPlan) -> None:
    """Printed to stderr before anything is sent."""
    for part in plan.parts:
        queue, begun = part.queue, len(part.first) + len(part.then)
        counts = f"{plural(queue.failures, 'failure')} · {queue.read:,} reviewed · {begun:,} to review"
        again = f", {len(queue.returned):,} of them again: evidence changed since" if queue.returned else ""
        waits = f" · {part.in_batch:,} in a batch" if part.in_batch else ""
        say(f"{short(part.stored.run.native_id):<9} {counts}{again}{waits}")
        if part.meanwhile:
            others = f"{plural(part.meanwhile, 'answer')} about failures that others reviewed in the meantime"
            say(f"{'':<9} {others}: kept beside their verdicts")
    if not any(part.queue.failures for part in plan.parts):
        say(no_failure(plan.request.filters, *(short(part.stored.run.native_id) for part in plan.parts)))
        return
    if not plan.packets:
        if any(part.in_batch for part in plan.parts):
            return
        whose = "that others have reviewed " if plan.request.wanted == "second" else ""
        say(f"nothing {whose}is waiting for `{word_for(plan.request.chosen.identity)}`")
        return
    if plan.left_out:
        say(f"left out  {sum(plan.left_out.values()):,} by `--limit`: {_groups(plan)}")
    how = " in batches" if plan.request.batch else ""
    say(f"sent to   {plan.request.chosen.goes_to},{how} as `{word_for(plan.request.chosen.identity)}`")
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


def show_tally(plan: ReviewPlan, tally: ReviewTally, *, as_json: bool, in_batches: int = 0) -> None:
    """`in_batches` requests wait for their provider."""
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
    if tally.calls or not in_batches:
        _put_spent(tally)
    if tally.capped:
        put(f"stopped  {tally.capped}; {plural(tally.remaining, 'failure')} not reviewed", hang=9)
    elif tally.remaining > in_batches:
        put(f"left     {tally.remaining:,} not reviewed")
    if in_batches:
        put(f"waiting  {plural(in_batches, 'request')} in batches; answers come within 24 hours", hang=9)
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
        "estimate": plan.estimate,
        "left_out": plan.left_out,
        "lost_before": lost_calls(plan.lost),
    }


def run_output(plan: ReviewPlan, tally: ReviewTally, *, batches: tuple[BatchNews, ...] = ()) -> ReviewRunOutput:
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
        batches=tuple(batch_output(one) for one in batches),
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


def batch_name(batch: ReviewBatch) -> str:
    """The provider's id, which its web pages show, else errata's own."""
    return f"`{batch.remote or batch.id}`"


def open_batch_line(batch: ReviewBatch) -> str:
    """`3 of 40 requests done · in_progress · since 2026-11-17T12:00:00Z · batch_abc`."""
    done = f"{batch.done:,} of {plural(batch.requests, 'request')} done"
    return " · ".join([done, batch.status or "not submitted", f"since {batch.created_at[:19]}Z", batch_name(batch)])
