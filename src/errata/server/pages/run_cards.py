"""Above the failures of a run: what the checkup found, the score, who has to act, and when it happened."""

from collections.abc import Iterable
from math import ceil

from msgspec.structs import replace

from errata.model import Run, StoredRun
from errata.model.listing import FindingLine, PolicyScore, RunDigest
from errata.model.output.score import SpreadOutput
from errata.render.blocks_html import page_text
from errata.render.charts import bar_chart, histogram, owner_list, owner_strip, score_bars
from errata.render.document import Bar, Chart, OwnerCount, OwnerStrip, Scale, ScoreBar, scale_of
from errata.render.figures import decimal, left_out_reasons, percent, plural
from errata.render.time_lanes import time_lanes
from errata.server.layout import card, link
from errata.server.pages.addresses import attempt_address, compare_page
from errata.server.pages.run_query import RunQuery

CATEGORIES = 12
FIRST = 3
"""Findings that are shown at once."""
_JUDGED = {
    "unavailable": "The model was not available: there is no model failure to explain.",
    "not judged": "Not judged: no attempt has a verdict of its grader, so there is no score.",
    "not fit": "This run is not fit to be scored.",
    "with care": "Read the score with care.",
    "running": "This run has not ended.",
    "stuck": "This run has not ended, and nothing was heard of it for long.",
}
_STATED = {"as_reported": "as reported"}


def banner(digest: RunDigest, run: Run, query: RunQuery) -> str:
    """Only where there is something to warn about; notes alone are folded away."""
    findings = [one for one in digest.findings if one.severity != "info"] or []
    if not findings and digest.health in ("fit", "running"):
        return _notes(digest, run, query)
    shown = "".join(_finding(one, run, query) for one in findings[:FIRST])
    if digest.no_estimate and digest.health != "not fit":
        shown += f"<li><span>{digest.no_estimate.capitalize()}.</span></li>"
    rest = [*findings[FIRST:], *(one for one in digest.findings if one.severity == "info")]
    more = ""
    if rest:
        listed = "".join(_finding(one, run, query) for one in rest)
        more = f"<details><summary>{len(rest)} more</summary><ul>{listed}</ul></details>"
    return (
        f'<section class="alert" aria-label="Checkup"><p><b>{_JUDGED[digest.health]}</b> {_reported(digest)}</p>'
        f"<ul>{shown}</ul>{more}</section>"
    )


def _notes(digest: RunDigest, run: Run, query: RunQuery) -> str:
    if not digest.findings:
        return ""
    listed = "".join(_finding(one, run, query) for one in digest.findings)
    words = plural(len(digest.findings), "note")
    return f'<details class="notes"><summary>{words} of the checkup</summary><ul>{listed}</ul></details>'


def _reported(digest: RunDigest) -> str:
    reported = next((one for one in digest.scores if one.policy == "as_reported"), None)
    clean = next((one for one in digest.scores if one.policy == "clean"), None)
    if reported is None or clean is None or reported.rate is None or digest.health != "not fit" or digest.of_numbers:
        return ""
    left = sum(clean.left_out.values())
    if not left:
        return ""
    return f"The reported {percent(reported.rate)} includes {plural(left, 'failure')} that are not the model's."


def _finding(finding: FindingLine, run: Run, query: RunQuery) -> str:
    count = "" if finding.count is None else f"{finding.count:,}"
    if count and finding.signal:
        count = link(query.address(run.id, signal=finding.signal), count)
    quote = f"<code>{page_text(finding.quote)}</code>" if finding.quote else ""
    if quote and finding.attempt:
        anchor = f"step-{finding.step}" if finding.step is not None else ""
        quote = f'<a href="{page_text(attempt_address(finding.attempt, anchor))}">{quote}</a>'
    words = page_text(finding.text.partition(": ")[0].removeprefix(f"{finding.count} ") if count else finding.text)
    return f'<li><span class="count">{count}</span><span>{words}{": " if quote else ""}{quote}</span></li>'


def cards(digest: RunDigest, stored: StoredRun, query: RunQuery) -> str:
    run, numbers, labels = stored.run, digest.of_numbers, stored.counts.labels
    made = [_score_card(digest, run)]
    if numbers is not None and numbers.spread is not None:
        made += [_spread_card(numbers.spread), _category_card(digest)]
    if labels:
        made.append(card("Labels", bar_chart(Chart("", tuple(map(Bar, labels, labels.values()))), page_text)))
    if digest.owners or not (numbers or labels):
        made.append(_owner_card(digest, run, query))
    if len(digest.dots) > 1:
        made.append(_time_card(digest))
    past = _past(digest, run, query) if digest.owners or not (numbers or labels) else ""
    return f'<div class="cards trio">{"".join(made)}</div>{past}'


def _score_card(digest: RunDigest, run: Run) -> str:
    measured = [one for one in digest.scores if one.total]
    if not measured:
        reason = page_text(next((one.note for one in digest.scores if one.note), "no attempt was scored"))
        return f'<section class="card"><h2>Score</h2><p>No score: {reason}.</p></section>'
    numbers = digest.of_numbers
    if numbers is not None:
        return _mean_card(digest, numbers, run)
    highest = max((one.high if one.high is not None else one.rate or 0) for one in measured)
    end = min(1.0, max(0.2, ceil(highest / 0.2 - 1e-9) * 0.2))
    is_best = not digest.no_estimate
    bars = score_bars([_bar(one, is_best=is_best) for one in measured], page_text, Scale(high=end))
    return (
        f'<section class="card"><h2>Score <span class="note">{digest.unit}, 95 % interval</span></h2>{bars}'
        f"<p>{' '.join(_left_out(digest.scores))}</p></section>"
    )


def _mean_card(digest: RunDigest, numbers: PolicyScore, run: Run) -> str:
    """Policies that count the same are one line."""
    same: dict[tuple[float | None, int], list[PolicyScore]] = {}
    for score in digest.scores:
        if score.is_mean:
            same.setdefault((score.rate, score.total), []).append(score)
    names = [" = ".join(_STATED.get(one.policy, one.policy) for one in those) for those in same.values()]
    named = zip(names if len(same) > 1 else ["mean"], same.values(), strict=True)
    bars = [
        replace(_bar(those[0]), label=name, is_best=not digest.no_estimate and numbers in those)
        for name, those in named
    ]
    interval = "" if numbers.low is None else f"95 % interval {decimal(numbers.low)} to {decimal(numbers.high)}, "
    words = f"<b>{decimal(numbers.rate)}</b>, {interval}{numbers.total:,} {digest.unit}."
    words += "".join(
        f" {_STATED.get(score.policy, score.policy).capitalize()}: {score.passed:,} of {score.total:,} passed."
        for score in digest.scores
        if score.total and not score.is_mean
    )
    notes = [scorer.name for scorer in run.scorers[:1]] + ["lower is better"] * digest.lower_is_better
    below = " ".join((words, *_left_out(digest.scores)))
    return card(
        "Mean",
        f"{score_bars(bars, page_text, scale_of([numbers.spread]))}<p>{below}</p>",
        note=", ".join(notes),
    )


def _spread_card(spread: SpreadOutput) -> str:
    middle = f"half of the results lie between {decimal(spread.quarter)} and {decimal(spread.three_quarters)}"
    words = f"Median {decimal(spread.median)}; {middle}."
    return card("Distribution", f"{histogram(spread, page_text)}<p>{words}</p>", note="results, lowest to highest")


def _category_card(digest: RunDigest) -> str:
    known = sorted((one for one in digest.by_category if one.rate is not None), key=lambda one: one.rate or 0.0)
    if not known:
        return ""
    if digest.lower_is_better:
        known.reverse()
    numbers = digest.of_numbers
    bars = [replace(_bar(one), label=one.policy) for one in known[:CATEGORIES]]
    left = f"<p>{len(known) - CATEGORIES:,} more are not shown.</p>" if len(known) > CATEGORIES else ""
    scale = scale_of([numbers.spread if numbers is not None else None])
    return card("Mean by category", f"{score_bars(bars, page_text, scale)}{left}", note="95 % interval")


def _bar(score: PolicyScore, *, is_best: bool = False) -> ScoreBar:
    return ScoreBar(
        label=_STATED.get(score.policy, score.policy),
        rate=score.rate,
        low=score.low,
        high=score.high,
        count=f"{score.total:,}" if score.spread is not None else f"{score.passed:,}/{score.total:,}",
        is_best=is_best and score.policy == "clean",
        is_hollow=score.policy == "as_reported",
    )


def _left_out(scores: Iterable[PolicyScore]) -> Iterable[str]:
    for score in scores:
        name = _STATED.get(score.policy, score.policy).capitalize()
        if score.left_out:
            yield f"{name} leaves out {page_text(left_out_reasons(score.left_out))}."
        if not score.total and score.note:
            yield f"{name}: {page_text(score.note)}."


def _owner_card(digest: RunDigest, run: Run, query: RunQuery) -> str:
    total = sum(digest.owners.values())
    if not total:
        words = page_text(digest.without_failures or "No failures")
        return f'<section class="card"><h2>Who has to act</h2><p>{words}.</p></section>'
    counts = tuple(
        OwnerCount(owner=owner, count=count, note=digest.notes.get(owner, "")) for owner, count in digest.owners.items()
    )
    strip = OwnerStrip(counts=counts)

    def target(owner: str) -> str:
        return query.toggled(run.id, "owner", owner)

    backed = digest.reviewed + digest.inherited
    states = (
        f"{backed:,} of {total:,} owners are backed by a verdict; the others are automatic."
        if backed
        else f"Automatic; none of the {total:,} reviewed yet."
    )
    return (
        f'<section class="card"><h2>Who has to act <span class="note">{plural(total, "failure")}</span></h2>'
        f"{owner_strip(strip, page_text, target=target)}{owner_list(strip, page_text, target=target)}"
        f"<p>{states}</p></section>"
    )


def _time_card(digest: RunDigest) -> str:
    lanes = time_lanes([(dot.owner, dot.at) for dot in digest.dots], page_text)
    sessions = f"{plural(digest.sessions, 'session')}, " if digest.sessions > 1 else ""
    note = f'<span class="note">{sessions}end of each failed attempt</span>'
    return f'<section class="card"><h2>When {note}</h2>{lanes}</section>'


def _past(digest: RunDigest, run: Run, query: RunQuery) -> str:
    past = digest.past
    if not past.runs:
        return ""
    parts = [
        link(query.address(run.id, past=word), f"{count:,} {word}") if count else f"0 {word}"
        for word, count in (("new", past.new), ("repeated", past.repeated), ("flaky", past.flaky))
    ]
    fixed = f"{past.fixed:,} fixed"
    parts.insert(2, link(compare_page(past.previous, run.id), fixed) if past.fixed and past.previous else fixed)
    earlier = plural(past.runs, "earlier run")
    return f'<p class="past">Against {earlier} of this model: {", ".join(parts)}.</p>'
