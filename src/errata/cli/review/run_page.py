"""What a review will do, and what it did, on a page and as JSON."""

import sys
from collections.abc import Iterable
from typing import Any

from errata.cli.output import money, number, plural, put, put_command, put_json, say
from errata.cli.review.nothing import no_failure
from errata.cli.table import put_parts
from errata.model import Call
from errata.model.usage import total_of
from errata.model.verdict import word_for
from errata.review.plan import Plan
from errata.review.protocols import Prompt
from errata.review.run import Tally
from errata.runs.names import short
from errata.text.clean import one_line

NAMED, LONGEST = 5, 70


def show_plan(plan: Plan) -> None:
    """Talk: it is said before anything is done."""
    for part in plan.parts:
        queue, begun = part.queue, len(part.first) + len(part.then)
        told = f"{plural(queue.failures, 'failure')} · {queue.read:,} read before · {begun:,} to read now"
        again = f", {len(queue.returned):,} of them again: evidence changed since" if queue.returned else ""
        say(f"{short(part.stored.run.native_id):<9} {told}{again}")
    if not any(part.queue.failures for part in plan.parts):
        say(no_failure(plan.request.filters, *(short(part.stored.run.native_id) for part in plan.parts)))
        return
    if not plan.packets:
        whose = "that others have read " if plan.request.wanted == "second" else ""
        say(f"nothing {whose}is waiting for `{word_for(plan.request.chosen.identity)}`")
        return
    if plan.left_out:
        say(f"left out  {sum(plan.left_out.values()):,} by `--limit`: {_groups(plan)}")
    say(f"goes to   {plan.request.chosen.goes_to}, as `{word_for(plan.request.chosen.identity)}`")
    estimate = plan.estimate
    tokens = f"about {number(estimate.tokens_in)} tokens in and {number(estimate.tokens_out)} out"
    cached = f" · {plural(estimate.cached, 'answer')} in the ledger already" if estimate.cached else ""
    say(f"estimate  {plural(estimate.calls, 'call')}, {tokens}, {_cost(estimate.cost)}{cached}")
    if plan.lost:
        say(f"lost      {_lost(plan.lost)}: a process ended before the answer was stored")


def show_dry_run(plan: Plan, prompt: Prompt | None, *, as_json: bool) -> None:
    """All that would leave the machine for the first packet, as it would."""
    if as_json:
        put_json(json_of_plan(plan) | {"prompt": prompt.text if prompt else None}, raw=True)
        return
    if prompt is None:
        return
    sys.stdout.write(f"{prompt.text}\n")  # not folded: this is what would be sent, character for character
    say(f"\nthis is the first of {plural(plan.packets, 'packet')}; nothing was sent")


def show_tally(plan: Plan, tally: Tally, *, as_json: bool) -> None:
    if as_json:
        put_json(json_of_plan(plan) | json_of_tally(tally))
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
    if tally.inherited:
        put(f"inherit  {plural(tally.inherited, 'failure')} of the same crash took a verdict over; nobody read them")
    if tally.need_second:
        verdicts = plural(tally.need_second, "verdict")
        put(f"second   {verdicts} on text that talks to its reader: not final until another reviewer agrees", hang=9)
    _put_spent(tally)
    if tally.capped:
        put(f"stopped  {tally.capped}; {plural(tally.left, 'failure')} not read", hang=9)
    elif tally.left:
        put(f"not read {tally.left:,}")
    if plan.left_out:
        put(f"left out {sum(plan.left_out.values()):,} by --limit: {_groups(plan)}", hang=9)
    _put_next(plan, tally)


def _put_spent(tally: Tally) -> None:
    unknown = f", unknown for {tally.unpriced:,}" if tally.unpriced else ""
    known = money(tally.cost) if tally.calls > tally.unpriced else "unknown"
    parts = [f"{known}{unknown if known != 'unknown' else ''}", plural(tally.calls, "call")]
    if tally.tokens:
        parts.append(f"{number(tally.tokens)} tokens")
    if tally.cached:
        parts.append(f"{plural(tally.cached, 'answer')} out of the ledger")
    put_parts("cost", parts)
    if tally.lost:
        put(f"lost     {_lost(tally.lost)}: broken off, and perhaps paid for", hang=9)


def _put_next(plan: Plan, tally: Tally) -> None:
    handles = [short(part.stored.run.native_id) for part in plan.parts]
    if tally.left or tally.failed:
        put("Next     the same command goes on where this one stopped; nothing is asked twice")
    elif tally.reviewed:
        put_command("Next", ["errata", "review", "status", *handles])


def json_of_plan(plan: Plan) -> dict[str, Any]:
    return {
        "runs": [
            {
                "run": part.stored.run.native_id,
                "run_id": part.stored.run.id,
                "failures": part.queue.failures,
                "read_before": part.queue.read,
                "planned": len(part.first) + len(part.then),
            }
            for part in plan.parts
        ],
        "reviewer": word_for(plan.request.chosen.identity),
        "goes_to": plan.request.chosen.goes_to,
        "estimate": plan.estimate,
        "left_out": plan.left_out,
        "lost_before": json_of_lost(plan.lost),
    }


def json_of_tally(tally: Tally) -> dict[str, Any]:
    return {
        "planned": tally.planned,
        "reviewed": tally.reviewed,
        "refused": tally.refused,
        "failed": tally.failed,
        "inherited": tally.inherited,
        "not_read": tally.left,
        "need_second": tally.need_second,
        "labels": dict(tally.labels.most_common()),
        "reasons": dict(tally.reasons.most_common()),
        "calls": tally.calls,
        "cached": tally.cached,
        "tokens": tally.tokens,
        "cost": tally.cost if tally.calls > tally.unpriced or not tally.calls else None,
        "unpriced": tally.unpriced,
        "lost": json_of_lost(tally.lost),
        "capped": tally.capped or None,
        "stopped": tally.stopped or None,
    }


def json_of_lost(calls: Iterable[Call]) -> list[dict[str, Any]]:
    return [
        {"attempt_id": call.attempt, "reviewer": call.reviewer, "estimate": call.estimate, "why": call.why}
        for call in calls
    ]


def _lost(calls: Iterable[Call]) -> str:
    made = list(calls)
    return f"{plural(len(made), 'call')}, {_cost(total_of(call.estimate.cost for call in made))}"


def _cost(cost: float | None) -> str:
    return "for an unknown price" if cost is None else f"about {money(cost, 2 if cost >= 1 else 4)}"


def _groups(plan: Plan) -> str:
    most = sorted(plan.left_out.items(), key=lambda entry: -entry[1])
    listed = [f"{count:,} of `{one_line(group, LONGEST)}`" for group, count in most[:NAMED]]
    more = [f"{len(most) - NAMED:,} more groups"] if len(most) > NAMED else []
    return ", ".join([*listed, *more])
