"""Facts that every report takes from a view, and what makes a score unusable, which comes first in every report."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from errata.compare.scores import Policy, Score
from errata.model import Action, Attribution, Finding, Run, StoredRun
from errata.model.output.report.batch import BatchReport
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunReport
from errata.model.output.report.shared import DoneAction, FindingFact, ReviewCoverage, ScoreLine, SuspiciousPasses
from errata.model.standing import AttemptReview, are_two
from errata.model.verdict import word_for
from errata.render.document import Card, Line, items, line, marked
from errata.render.figures import plural
from errata.runs.suspicions import SuspiciousPass
from errata.runs.view import RunView
from errata.text.outgoing import short_line
from errata.triage.rulesets import project_in_use
from errata.triage.suspicious import is_strong

CORRECTED = ("clean", "reviewed")
REPORTED = ("error", "warning")
"""Severities of the findings that a report shows."""


def score_lines(scores: Mapping[Policy, Score]) -> tuple[ScoreLine, ...]:
    return tuple(score_line(score, policy) for policy, score in scores.items() if _says_something(policy, score))


def _says_something(policy: Policy, score: Score) -> bool:
    return score.total > 0 or score.mean is not None or policy in ("strict", "clean")


def score_line(score: Score, policy: Policy = "clean") -> ScoreLine:
    low, high = score.interval or (None, None)
    worst, best = score.bounds or (None, None)
    return ScoreLine(
        policy=policy,
        passed=score.passed,
        total=score.total,
        rate=score.rate,
        mean=score.mean,
        low=low,
        high=high,
        if_failed=worst,
        if_passed=best,
        left_out=score.left_out if sum(score.left_out.values()) else {},
        recovered=len(score.recovered),
        beside=_counts_beside(score) if policy in CORRECTED else {},
        stated=score.stated if policy == "as_reported" else None,
        reproduced=score.reproduced if policy == "as_reported" else None,
        note=score.remark,
    )


def _counts_beside(score: Score) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for group in score.beside:
        counts[group.why] += group.count
    return dict(counts.most_common())


def done_action(action: Action, *, most: int | None = None) -> DoneAction:
    """With the report that it was read from; the store has the places of files on this machine."""
    what = short_line(action.what, most) if most is not None else action.what
    report = "" if PurePath(action.report).is_absolute() else action.report
    return DoneAction(date=action.date[:10], path=action.path, what=what, report=report)


def review_coverage(
    failures: Iterable[str], standings: Mapping[str, AttemptReview], *, by_default: int
) -> ReviewCoverage:
    """`failures` are attempt ids; `by_default` of them have no verdict, and no rule names their owner."""
    total = read = final = second = inherited = disputed = 0
    names: dict[str, None] = {}
    for attempt in failures:
        total += 1
        review = standings.get(attempt)
        if review is None:
            continue
        standing = review.standing
        if standing.verdict.inherited_from is not None:
            inherited += 1
            continue
        read += 1
        final += standing.final
        disputed += standing.is_disputed
        reviewers = {word_for(one.reviewer): one for one in review.verdicts if one.inherited_from is None}
        names |= dict.fromkeys(reviewers)
        readers = [one.reviewer for one in reviewers.values() if not one.adjudicates]
        second += any(are_two(one, readers[0]) for one in readers[1:])
    return ReviewCoverage(
        failures=total,
        read=read,
        final=final,
        by=tuple(names),
        second=second,
        inherited=inherited,
        by_default=by_default,
        disputed=disputed,
        project=project_in_use(),
    )


def finding_facts(findings: Iterable[Finding], *, run: str = "") -> Iterator[FindingFact]:
    for finding in findings:
        if finding.severity in REPORTED:
            yield FindingFact(name=finding.name, severity=finding.severity, text=finding.text, run=run)


def day_of(run: Run) -> str:
    return (run.started_at or run.finished_at or "")[:10]


def is_unjudged(stored: StoredRun) -> bool:
    """Attempts completed, but nothing was scored: no attempt has passed or failed."""
    counts = stored.counts
    return set(counts.measurements) <= {"not_run"} and bool(counts.executions.get("completed"))


def native_label(attribution: Attribution | None, run: Run) -> str:
    """The label that triage suggests in the taxonomy of the run's project; else in any taxonomy that fits."""
    if attribution is None:
        return ""
    labels = attribution.suggested_labels
    return labels.get(run.source.name) or next(iter(labels.values()), "")


def in_common(parameters: Mapping[str, str]) -> dict[str, str]:
    """What the members of a bucket share besides their cause; the owner has its own column."""
    return {name: value for name, value in parameters.items() if name != "owner"}


def strong_suspicions(view: RunView, cases: Collection[str] | None = None) -> list[SuspiciousPass]:
    """What is odd about suspicious passes; only about those of `cases`, if given.

    Without passes that only weak signs point to: the summary does not call those suspicious either.
    """
    listed = [one for one in view.suspicious_passes() if cases is None or one.suspicion.case in cases]
    strong = {odd.suspicion.attempt for odd in listed if is_strong(odd.suspicion)}
    return [odd for odd in listed if odd.suspicion.attempt in strong]


def count_passes(listed: Iterable[SuspiciousPass]) -> int:
    return len({odd.suspicion.attempt for odd in listed})


def passes_by_meaning(listed: Iterable[SuspiciousPass]) -> tuple[SuspiciousPasses, ...]:
    cases: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for odd in listed:
        cases.setdefault(odd.means, []).append(odd.case_name)
        names.setdefault(odd.means, odd.suspicion.signal.name)
    return tuple(SuspiciousPasses(name=names[means], means=means, cases=tuple(own)) for means, own in cases.items())


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
    return (
        f"{odd:,} of {plural(passes, 'pass', 'passes')} {are}"
        if odd <= passes
        else f"{plural(odd, 'pass', 'passes')} {are}"
    )


def _meanings(suspicious: Sequence[SuspiciousPasses]) -> str:
    if len(suspicious) == 1:
        return suspicious[0].means
    counts = ((sum(one.by_run.values()) or len(one.cases), one.means) for one in suspicious)
    return "; ".join(f"{count:,} × {means}" for count, means in counts)


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
