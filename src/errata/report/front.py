"""The first screen of every report: the score, whose failures these are, the top causes, what to do, any doubt."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from errata.model.output.report.run import RunReport
from errata.model.output.report.shared import FindingFact, ScoreLine, SuspiciousPasses
from errata.model.words import NOT_THE_SUBJECTS
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
    fields,
    items,
    line,
    marked,
    paragraph,
)
from errata.render.figures import hundredths, percent, plural
from errata.render.proof import PROOF_LEGEND
from errata.report.parts import score_table
from errata.report.run_advice import HEADINGS, advice_line, heading_of
from errata.report.run_groups import CauseGroup, ranked_causes
from errata.report.run_prose import answer_of, bounds_words, owner_notes, regressed_words
from errata.runs.without_failures import NO_ESTIMATE

AS_MEASURED = ("strict", "as_reported")
"""Policies that count every failure, whoever owns it."""
SHOWN, FINDINGS = 5, 3
CORRECTED = ("reviewed", "clean")
CLEAN = "clean: without infrastructure and knock-on failures, missing cases and broken measurements"
INFRASTRUCTURE = NOT_THE_SUBJECTS - {"collateral"}
"""Knock-on failures are shown with the cause that they follow from."""


def score_card(scores: Sequence[ScoreLine], below: LineContent = (), *, doubt: str = "") -> Card:
    """A bar for each figure; `below` explains them; `doubt` is why none of them is the best estimate."""
    best = "" if doubt else best_policy(scores)
    by_figure: dict[tuple[int, int, float | None], list[ScoreLine]] = {}
    for score in scores:
        by_figure.setdefault((score.passed, score.total, score.rate), []).append(score)
    bars = tuple(_bar(same, best) for same in by_figure.values())
    note = f"95 % interval; no best estimate: {doubt}" if doubt else "95 % interval"
    explains = len(bars) > 1 and any("clean" in bar.label for bar in bars)
    legend = _below(CLEAN if explains else ())
    return Card("Score", (ScoreChart(bars, score_table(scores)), *legend, *_below(below)), note=line(note))


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


def strips_of(owners_by_label: Iterable[tuple[str, Mapping[str, int]]]) -> list[OwnerStrip]:
    """As long as their failures are many."""
    owners = [(label, by_count(owners)) for label, owners in owners_by_label if owners]
    most = max((sum(count for _, count in counts) for _, counts in owners), default=0)
    return [OwnerStrip(tuple(OwnerCount(*one) for one in counts), label, most) for label, counts in owners]


def causes_card(causes: Sequence[RankedCause], owners: Mapping[str, int], *, unit: str = "failure") -> Card:
    """`owners` are those of all failures."""
    shown = tuple(causes[:SHOWN])
    covered, total = sum(one.count for one in shown), sum(owners.values())
    words = [f"{covered:,} of {plural(total, unit)}"] if covered < total else []
    lost = sum(owners.get(owner, 0) for owner in INFRASTRUCTURE)
    lost -= sum(one.count for one in shown if one.owner in INFRASTRUCTURE)
    words += [f"{lost:,} of the others {'is' if lost == 1 else 'are'} infrastructure"] if lost > 0 else []
    words += ["no cause repeats"] if len(causes) > 1 and all(one.count == 1 for one in causes) else []
    note = line("; ".join(words)) if words else ()
    return Card("Top causes", (Ranking(shown),), note=note)


def advice_card(lines: Sequence[Line], more: LineContent = ()) -> Card:
    shown: Items = items(lines[:SHOWN], kind="numbers")
    return Card("What to do", (shown if lines else paragraph("Nothing."), *_below(more)))


def suspicious_card(suspicious: Sequence[SuspiciousPasses], passes: int) -> tuple[Card, ...]:
    """Which of the passes to look at; on a page only, Markdown has them among the doubts."""
    if not suspicious:
        return ()
    several = len(suspicious) > 1
    lines = [line(f"{_passes(one):,}: " if several else "", marked(one.means)) for one in suspicious]
    odd = sum(map(_passes, suspicious))
    title = f"{odd:,} of {plural(passes, 'pass is', 'passes are')} suspicious" if odd <= passes else _odd_words(odd)
    return (Card(title, (items(lines),), is_warning=True, in_markdown=False),)


def _passes(suspicious: SuspiciousPasses) -> int:
    return sum(suspicious.by_run.values()) or len(suspicious.cases)


def _odd_words(odd: int) -> str:
    return plural(odd, "suspicious pass", "suspicious passes")


def passes_of(scores: Iterable[ScoreLine]) -> int:
    return next((one.passed for one in scores if one.policy == "strict"), 0)


def with_suspicious(advice: Sequence[Line], suspicious: Sequence[SuspiciousPasses], passes: int = 0) -> list[Line]:
    """What to do on the first screen, with the passes to look at as the last entry that is shown."""
    if not suspicious:
        return list(advice)
    odd = sum(map(_passes, suspicious))
    of_all = f" (of {passes:,})" if odd <= passes else ""
    return with_last(advice, line(f"Look at {_odd_words(odd)}{of_all} before you publish the score"))


def with_last(advice: Sequence[Line], entry: Line) -> list[Line]:
    """With an entry that must not be cut off, as the last one that is shown."""
    return [*advice[: SHOWN - 1], entry, *advice[SHOWN - 1 :]]


NAMED_CAUSES, NAMED_RUNS = 3, 4


def with_short_card(blocks: Sequence[Block]) -> Iterator[Block]:
    """The cards behind their answers in a few lines, for a screen that has no room for them; the words come first."""
    inner = [block for card in blocks if isinstance(card, Card) and not card.is_warning for block in card.blocks]
    rows = [row for block in inner if (row := _in_short(block)) is not None]
    for at, block in enumerate(blocks):
        if at == 1 and rows:
            yield Card("In short", (fields(rows),), is_short=True, in_markdown=False)
        yield block


def _in_short(block: Block) -> tuple[str, Line] | None:
    match block:
        case ScoreChart(bars) if bars:
            best = [bar for bar in bars if bar.is_best] or list(bars)
            more = [f"and {len(best) - NAMED_RUNS} more"] if len(best) > NAMED_RUNS else []
            policies = "/".join(dict.fromkeys(bar.policy for bar in best if bar.policy))
            words = [*map(_bar_in_short, best[:NAMED_RUNS]), *more]
            return "Score", line(f"{policies}: " if policies else "", ", ".join(words))
        case OwnerStrip(counts, "") if counts:
            return "Owners", line(", ".join(map(_owner_in_short, counts)))
        case Ranking(causes) if causes:
            parts = [
                (f"{'; ' if at else ''}{cause.count:,} × ", *cause.title)
                for at, cause in enumerate(causes[:NAMED_CAUSES])
            ]
            return "Causes", line(*parts)
        case Items(lines) if lines and block.kind == "numbers":
            others = len(lines) - 1
            return "To do", line(lines[0], f" ({others:,} more below)" if others else "")
        case _:
            return None


def _owner_in_short(owner: OwnerCount) -> str:
    """The count, with how sure it is where the owner is the model."""
    note = f" ({owner.note})" if owner.note and owner.owner == "model" else ""
    return f"{owner.count:,} {owner.owner}{note}"


def _bar_in_short(bar: ScoreBar) -> str:
    interval = (
        f" (95 %: {hundredths(bar.low)}–{hundredths(bar.high)})" if bar.low is not None and bar.high is not None else ""
    )
    return f"{percent(bar.rate)} {bar.label}{interval}"


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
    return with_short_card(list(_run_cards(report, groups, keys)))


def _run_cards(report: RunReport, groups: Sequence[CauseGroup], keys: Mapping[int, str]) -> Iterator[Block]:
    yield paragraph(answer_of(report))
    if report.since is not None and (regressed := regressed_words(report.since)):
        yield paragraph(regressed)
    yield from findings_card(report.findings)
    passes = passes_of(report.scores)
    yield from suspicious_card(report.suspicious, passes)
    between = _between(report)
    yield score_card(report.scores, between, doubt=_doubt(report))
    if not report.failures:
        if report.suspicious:
            yield advice_card(with_suspicious((), report.suspicious, passes))
        return
    owners: dict[str, int] = {}
    for failure in report.failures:
        owners[failure.owner] = owners.get(failure.owner, 0) + 1
    has_proofs = any(failure.proof for failure in report.failures)
    yield owner_card(owners, owner_notes(report.failures), below=PROOF_LEGEND if has_proofs else ())
    yield causes_card(list(islice(ranked_causes(groups, keys), SHOWN)), owners)
    fresh = [one for title in HEADINGS for one in report.advice if heading_of(one) == title and one.done is None]
    more = line("All of them: ", Link("Recommendations", "#recommendations")) if len(fresh) > SHOWN else ()
    yield advice_card(with_suspicious([advice_line(one, CASES) for one in fresh], report.suspicious, passes), more)


def _doubt(report: RunReport) -> str:
    """Why no figure is the best estimate."""
    return NO_ESTIMATE[report.no_estimate] if report.no_estimate else ""


def _between(report: RunReport) -> str:
    """The bounds of the score, in half a line."""
    return bounds_words(report.bounds, report.subject.unit) if report.bounds is not None else ""
