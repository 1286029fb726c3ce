"""Facts that every report takes from a view: scores, review coverage, findings, suspicious passes."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePath

from errata.compare.scores import Policy, Score
from errata.model import Action, Attribution, Finding, Run, StoredRun
from errata.model.output.report.shared import DoneAction, FindingFact, ReviewCoverage, ScoreLine, SuspiciousPasses
from errata.model.standing import AttemptReview, are_two
from errata.model.verdict import word_for
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
    """A pass may be odd in several ways."""
    return len({odd.suspicion.attempt for odd in listed})


def passes_by_meaning(listed: Iterable[SuspiciousPass]) -> tuple[SuspiciousPasses, ...]:
    cases: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for odd in listed:
        cases.setdefault(odd.means, []).append(odd.case_name)
        names.setdefault(odd.means, odd.suspicion.signal.name)
    return tuple(SuspiciousPasses(name=names[means], means=means, cases=tuple(own)) for means, own in cases.items())
