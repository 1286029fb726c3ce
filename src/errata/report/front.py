"""The first screen of every report: the score, whose failures these are, the top causes, what to do, any doubt."""

from collections.abc import Iterable, Mapping, Sequence

from errata.model.output.report.shared import FindingFact, ScoreLine, SuspiciousPasses
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
    marked,
    paragraph,
)
from errata.render.figures import plural
from errata.report.parts import score_table

AS_MEASURED = ("strict", "as_reported")
"""Policies that count every failure, whoever owns it."""
SHOWN, FINDINGS = 5, 3
CORRECTED = ("reviewed", "clean")


def score_card(scores: Sequence[ScoreLine], below: LineContent = ()) -> Card:
    """A bar for each figure; `below` explains them."""
    best = best_policy(scores)
    by_figure: dict[tuple[int, int, float | None], list[ScoreLine]] = {}
    for score in scores:
        by_figure.setdefault((score.passed, score.total, score.rate), []).append(score)
    bars = tuple(_bar(same, best) for same in by_figure.values())
    return Card("Score", (ScoreChart(bars, score_table(scores)), *_below(below)), note=line("95 % interval"))


def best_policy(scores: Iterable[ScoreLine]) -> str:
    """The policy with the best single figure: reviewed, else clean."""
    measured = {one.policy for one in scores if one.total}
    return next((name for name in CORRECTED if name in measured), "")


def _bar(same: Sequence[ScoreLine], best: str) -> ScoreBar:
    first = same[0]
    return ScoreBar(
        label=" = ".join(one.policy.replace("_", " ") for one in same),
        rate=first.rate,
        low=first.low,
        high=first.high,
        count=f"{first.passed}/{first.total}" if first.total else "",
        is_hollow=all(one.policy in AS_MEASURED for one in same),
        is_best=any(one.policy == best for one in same),
    )


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
    return sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))


def strip_of(label: str, owners: Mapping[str, int]) -> OwnerStrip:
    return OwnerStrip(tuple(OwnerCount(owner, count) for owner, count in by_count(owners)), label)


def causes_card(causes: Sequence[RankedCause], *, total: int, unit: str = "failure") -> Card:
    shown = tuple(causes[:SHOWN])
    covered = sum(one.count for one in shown)
    note = line(f"{covered:,} of {plural(total, unit)}") if covered < total else ()
    return Card("Top causes", (Ranking(shown),), note=note)


def advice_card(lines: Sequence[Line], more: LineContent = ()) -> Card:
    shown: Items = items(lines[:SHOWN], kind="numbers")
    return Card("What to do", (shown if lines else paragraph("Nothing."), *_below(more)))


def suspicious_card(suspicious: Sequence[SuspiciousPasses]) -> tuple[Card, ...]:
    """Passes to look at; on a page only, Markdown has them among the doubts."""
    counts = [(sum(one.by_run.values()) or len(one.cases), one.means) for one in suspicious]
    if not counts:
        return ()
    lines = [line(f"{count:,}: " if len(counts) > 1 else "", marked(means)) for count, means in counts]
    title = plural(sum(count for count, _ in counts), "suspicious pass", "suspicious passes")
    return (Card(title, (items(lines),), is_warning=True, in_markdown=False),)


def findings_card(findings: Sequence[FindingFact]) -> tuple[Card, ...]:
    """What the checkup has against the run; none where it has nothing."""
    if not findings:
        return ()
    lines = [line(f"{one.run}: " if one.run else "", marked(one.text)) for one in findings[:FINDINGS]]
    more = len(findings) - len(lines)
    if more:
        lines.append(line(f"{plural(more, 'more finding')} below"))
    is_grave = any(one.severity == "error" for one in findings)
    title = "Check this before you use the score" if is_grave else "Findings about the measurement"
    return (Card(title, (items(lines),), is_warning=True),)
