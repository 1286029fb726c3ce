"""What makes a score unusable: it comes before the score, and is the first thing to do, in every report."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from errata.model.output.report.batch import BatchReport
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunReport
from errata.model.output.report.shared import FindingFact, ScoreLine, SuspiciousPasses
from errata.render.document import Card, Line, items, line, marked
from errata.render.figures import plural

FINDINGS = 3
"""Findings on the first screen."""
NOT_JUDGED = "not_judged"
"""The finding about a run without any verdict."""


class ScoreDoubts(NamedTuple):
    """Suspicious passes and errors of the checkup, of one run or of several."""

    suspicious: Sequence[SuspiciousPasses] = ()
    odd: int = 0
    """Suspicious passes; one may be so in several ways."""
    passes: int = 0
    findings: Sequence[FindingFact] = ()
    runs: int = 1

    @property
    def errors(self) -> list[FindingFact]:
        return [one for one in self.findings if one.severity == "error"]

    @property
    def not_judged(self) -> int:
        """Runs without any verdict."""
        return sum(one.name == NOT_JUDGED for one in self.findings)

    @property
    def is_grave(self) -> bool:
        """Whether the score is useless as it is: the run is broken, or most passes may be worth nothing."""
        return bool(self.errors) or 2 * self.odd > self.passes

    @property
    def score(self) -> str:
        return "these scores" if self.runs > 1 else "this score"


def doubts_of_run(report: RunReport) -> ScoreDoubts:
    return ScoreDoubts(report.suspicious, report.suspicious_passes, _passes_of(report.scores), report.findings)


def doubts_of_batch(report: BatchReport) -> ScoreDoubts:
    return ScoreDoubts(report.suspicious, report.suspicious_passes, report.passed, report.findings)


def doubts_of_comparison(report: ComparisonReport) -> ScoreDoubts:
    odd, passes = sum(run.suspicious for run in report.runs), sum(_passes_of(run.scores) for run in report.runs)
    return ScoreDoubts(report.suspicious, odd, passes, report.findings, len(report.runs))


def _passes_of(scores: Iterable[ScoreLine]) -> int:
    return next((one.passed for one in scores if one.policy == "strict"), 0)


def doubt_card(doubts: ScoreDoubts) -> tuple[Card, ...]:
    """Above everything else; none where nothing speaks against the score."""
    lines = list(_reasons(doubts))
    if not lines:
        return ()
    return (Card(_title(doubts), (items(lines),), is_warning=True, is_blocking=True),)


def _title(doubts: ScoreDoubts) -> str:
    if doubts.not_judged == doubts.runs == 1:
        return "No score yet"
    if doubts.is_grave:
        return f"Do not publish {doubts.score} yet"
    return f"Check this before you publish {doubts.score}"


def doubt_words(doubts: ScoreDoubts) -> str:
    """The same in two sentences; empty where nothing speaks against the score."""
    reasons = "; ".join("".join(part.text for part in one).removesuffix(".") for one in _reasons(doubts))
    return f"{_title(doubts)}. {reasons}." if reasons else ""


def _reasons(doubts: ScoreDoubts) -> Iterator[Line]:
    if doubts.suspicious:
        yield line(f"{_odd_of_all(doubts)} suspicious: ", marked(_meanings(doubts.suspicious)))
    yield from _finding_lines(doubts.errors)


def _odd_of_all(doubts: ScoreDoubts) -> str:
    odd, passes = doubts.odd, doubts.passes
    if 1 < odd == passes:
        return f"All {odd:,} passes are"
    are = "is" if odd == 1 else "are"
    return f"{odd:,} of {plural(passes, 'pass', 'passes')} {are}" if odd <= passes else f"{_odd_passes(odd)} {are}"


def _meanings(suspicious: Sequence[SuspiciousPasses]) -> str:
    if len(suspicious) == 1:
        return suspicious[0].means
    counts = ((sum(one.by_run.values()) or len(one.cases), one.means) for one in suspicious)
    return "; ".join(f"{count:,} × {means}" for count, means in counts)


def _odd_passes(odd: int) -> str:
    return plural(odd, "pass", "passes")


def findings_card(doubts: ScoreDoubts) -> tuple[Card, ...]:
    """What the checkup has against the runs besides errors; none where it has nothing."""
    lines = list(_finding_lines([one for one in doubts.findings if one.severity != "error"]))
    return (Card("Findings about the measurement", (items(lines),), is_warning=True),) if lines else ()


def _finding_lines(findings: Sequence[FindingFact]) -> Iterator[Line]:
    for finding in findings[:FINDINGS]:
        yield line(f"{finding.run}: " if finding.run else "", marked(finding.text))
    if (more := len(findings) - FINDINGS) > 0:
        yield line(f"{plural(more, 'more finding')} below")


def doubts_to_do(doubts: ScoreDoubts) -> Iterator[Line]:
    """What has to be done before the score is used."""
    if doubts.not_judged:
        which = "the run" if doubts.runs == 1 else "the runs without verdicts"
        yield marked(f"Judge {which} first (`errata rerun` shows how)")
    if len(doubts.errors) > doubts.not_judged:
        what = "makes runs unfit" if doubts.runs > 1 else "makes the run unfit"
        yield marked(f"Resolve what {what} for comparison before you publish {doubts.score} (`errata check`)")
    if doubts.odd:
        of_all = f" (of {doubts.passes:,})" if doubts.odd <= doubts.passes else ""
        passes = plural(doubts.odd, "suspicious pass", "suspicious passes")
        yield line(f"Look at {passes}{of_all} before you publish {doubts.score}")
