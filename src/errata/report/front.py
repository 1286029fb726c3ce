"""The cards of every first screen: the score, whose failures these are, the top causes, what to do."""

from collections.abc import Iterable, Mapping, Sequence

from errata.model.output.report.shared import ScoreLine
from errata.render.document import (
    Card,
    Items,
    Line,
    LineContent,
    OwnerCount,
    OwnerStrip,
    Paragraph,
    RankedCause,
    Ranking,
    ScoreBar,
    ScoreChart,
    items,
    line,
    paragraph,
)
from errata.render.figures import percent, plural
from errata.render.palette import OWNERS
from errata.report.parts import score_table
from errata.runs.first_page import BEST_ESTIMATE

AS_MEASURED = ("strict", "as_reported")
"""Policies that count every failure, whoever owns it."""
SHOWN = 5
CORRECTED = ("reviewed", "clean")
CLEAN = "clean: without infrastructure and knock-on failures, missing cases and broken measurements"


def score_card(scores: Sequence[ScoreLine], below: Sequence[str] = (), *, doubt: str = "") -> Card:
    """A bar for each figure; `below` explains them; `doubt` is why none of them is the best estimate."""
    best = "" if doubt else best_policy(scores)
    if any(one.mean is not None for one in scores):
        return Card(
            "Score", (score_table(scores), *map(paragraph, filter(None, below))), note=line(interval_note("", doubt))
        )
    by_figure: dict[tuple[int, int, float | None], list[ScoreLine]] = {}
    for score in scores:
        by_figure.setdefault((score.passed, score.total, score.rate), []).append(score)
    bars = tuple(_bar(same, best, doubt) for same in by_figure.values())
    explains = len(bars) > 1 and any("clean" in bar.label for bar in bars)
    notes = filter(None, (CLEAN if explains else "", *below, beside_words(scores)))
    chart = ScoreChart(bars, score_table(scores), doubt)
    return Card("Score", (chart, *map(paragraph, notes)), note=line(interval_note("", doubt)))


def interval_note(policies: str, doubt: str) -> str:
    """What the figures of a score card are."""
    estimate = f"no {BEST_ESTIMATE}: {doubt}" if doubt else ""
    return "; ".join(filter(None, (f"{policies}, 95 % interval" if policies else "95 % interval", estimate)))


def best_policy(scores: Iterable[ScoreLine]) -> str:
    """The policy with the best single figure: reviewed, else clean."""
    measured = {one.policy for one in scores if one.total}
    return next((name for name in CORRECTED if name in measured), "")


def beside_words(scores: Sequence[ScoreLine]) -> str:
    """What the best policy counts as failed although it is not the model's, and the rate without it."""
    score = next((one for one in scores if one.policy == best_policy(scores)), None)
    if score is None or not score.beside or score.rate is None or score.mean is not None:
        return ""
    listed = ", ".join(f"{count:,} {'time limit' if why == 'model' else why}" for why, count in score.beside.items())
    total = score.total - sum(score.beside.values())
    rest = f"; without them {score.passed:,}/{total:,} ({percent(score.passed / total)})" if total else ""
    return f"Still counted as failed in {score.policy}: {listed}{rest}"


def _bar(same: Sequence[ScoreLine], best: str, doubt: str) -> ScoreBar:
    first = same[0]
    return ScoreBar(
        label=" = ".join(one.policy.replace("_", " ") for one in same),
        rate=first.rate,
        low=first.low,
        high=first.high,
        count=_count(first),
        is_hollow=all(one.policy in AS_MEASURED for one in same),
        is_best=any(one.policy == best for one in same) and not doubt,
    )


def _count(score: ScoreLine) -> str:
    """In words where no rate is stated."""
    if not score.total:
        return ""
    return f"{score.passed}/{score.total}" if score.rate is not None else f"{score.passed} of {score.total} measured"


def _below(content: LineContent) -> tuple[Paragraph, ...]:
    words = line(content)
    return (Paragraph(words),) if words else ()


def owner_card(
    owners: Mapping[str, int],
    notes: Mapping[str, str],
    *,
    strips: Sequence[OwnerStrip] = (),
    unit: str = "failure",
    below: LineContent = (),
) -> Card:
    """`notes` are what the failures of an owner show; `strips` are those of single runs; `unit` is what is counted."""
    counts = tuple(OwnerCount(owner, count, notes.get(owner, "")) for owner, count in by_count(owners))
    whole = OwnerStrip(counts)
    return Card("Who has to act", (whole, *strips, *_below(below)), note=line(plural(whole.total, unit)))


def by_count(owners: Mapping[str, int]) -> list[tuple[str, int]]:
    """Of the same count in the order of legends."""
    order = list(OWNERS)
    return sorted(owners.items(), key=lambda pair: (-pair[1], order.index(pair[0]) if pair[0] in order else len(order)))


def strips_of(owners_by_label: Iterable[tuple[str, Mapping[str, int]]]) -> list[OwnerStrip]:
    """As long as their failures are many."""
    owners = [(label, by_count(owners)) for label, owners in owners_by_label if owners]
    most = max((sum(count for _, count in counts) for _, counts in owners), default=0)
    return [OwnerStrip(tuple(OwnerCount(*one) for one in counts), label, most) for label, counts in owners]


def causes_card(
    causes: Sequence[RankedCause], owners: Mapping[str, int], *, unit: str = "failure", again: int = 0
) -> Card:
    """`owners` are those of all failures; `again` of them failed before."""
    shown = tuple(causes[:SHOWN])
    covered, total = sum(one.count for one in shown), sum(owners.values())
    covered += sum(one.followers for one in shown)
    words = [f"{covered:,} of {plural(total, unit)} shown"] if covered < total else []
    if len(causes) > 1 and all(one.count == 1 and not one.followers for one in causes):
        words.append("each cause occurs once")
    words += [f"{again:,} failed before"] if again else []
    note = line("; ".join(words)) if words else ()
    return Card("Top causes", (Ranking(shown),), note=note)


def advice_card(lines: Sequence[Line], more: LineContent = ()) -> Card:
    shown: Items = items(lines[:SHOWN], kind="numbers")
    return Card("What to do", (shown if lines else paragraph("Nothing."), *_below(more)))


def with_last(advice: Sequence[Line], entries: Sequence[Line], room: int = SHOWN) -> list[Line]:
    """With entries that must not be cut off, as the last ones that there is room for."""
    at = max(0, room - len(entries))
    return [*advice[:at], *entries, *advice[at:]]
