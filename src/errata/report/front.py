"""The first screen of every report: the score, whose failures these are, the top causes, what to do, any doubt."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from errata.model.output.report.run import RunReport
from errata.model.output.report.shared import FindingFact, ScoreLine, SuspiciousPasses
from errata.render.document import (
    Block,
    Card,
    Items,
    Line,
    LineContent,
    Link,
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
from errata.render.proof import SHOWN_OR_PRESUMED
from errata.report.parts import score_table
from errata.report.run_advice import HEADINGS, advice_line, heading_of
from errata.report.run_groups import CauseGroup, ranked_causes
from errata.report.run_prose import answer_of, bounds_words, owner_notes, regressed_words

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
        count=_count(first),
        is_hollow=all(one.policy in AS_MEASURED for one in same),
        is_best=any(one.policy == best for one in same),
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


# --- the first screen of a report about one run: the answer, score, owners, top causes and what to do


CASES = 2
"""Cases in a recommendation."""


def run_front(report: RunReport, groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[Block]:
    """The answer and the cards of the first screen."""
    yield paragraph(answer_of(report))
    if report.since is not None and (regressed := regressed_words(report.since)):
        yield paragraph(regressed)
    yield from findings_card(report.findings)
    yield from suspicious_card(report.suspicious)
    between = _between(report)
    yield score_card(report.scores, between)
    if not report.failures:
        return
    owners: dict[str, int] = {}
    for failure in report.failures:
        owners[failure.owner] = owners.get(failure.owner, 0) + 1
    has_proofs = any(failure.proof for failure in report.failures)
    yield owner_card(owners, owner_notes(report.failures), below=SHOWN_OR_PRESUMED if has_proofs else ())
    yield causes_card(list(islice(ranked_causes(groups, keys), SHOWN)), total=len(report.failures))
    fresh = [one for title in HEADINGS for one in report.advice if heading_of(one) == title and one.done is None]
    more = line("All of them: ", Link("Recommendations", "#recommendations")) if len(fresh) > SHOWN else ()
    yield advice_card([advice_line(one, CASES) for one in fresh], more)


def _between(report: RunReport) -> str:
    """The bounds of the score, in half a line."""
    return bounds_words(report.bounds, report.subject.unit) if report.bounds is not None else ""
