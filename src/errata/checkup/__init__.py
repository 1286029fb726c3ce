"""Run health: is this run fit to be analysed at all? Pure functions over a run's records."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from errata.checkup import aggregates, breakage, coverage, delivery, impossible, judging, rows
from errata.checkup.rows import look_up_mentions, look_up_versions
from errata.checkup.survey import CASES_OF_A_TEXT, IdenticalAnswers, RunSurvey, text_key
from errata.model import Attempt, Case, Finding, Run, Unreadable

__all__ = ["RULES", "examine", "findings_in", "is_fit", "look_up_identical", "look_up_mentions", "look_up_versions"]

Rule = Callable[[RunSurvey], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    breakage.unavailable,
    breakage.hindered_subject,
    delivery.prompt_not_delivered,
    delivery.error_bodies,
    delivery.not_measured,
    coverage.nothing_there,
    coverage.missing_cases,
    coverage.unnamed_cases,
    coverage.unfinished_cases,
    coverage.unjudged,
    coverage.duplicate_cases,
    impossible.impossible_counts,
    rows.rows_differ,
    rows.foreign_checks,
    aggregates.aggregate_mismatch,
    impossible.files_disagree,
    impossible.impossible_costs,
    impossible.impossible_scores,
    impossible.impossible_times,
    breakage.run_not_completed,
    breakage.unknown_statuses,
    breakage.dead_process,
    breakage.several_sessions,
    breakage.unreadable_items,
    breakage.damaged_values,
    coverage.cases_not_in_the_log,
    breakage.errors_by_phase,
    judging.nothing_asserted,
    judging.nothing_changed,
    judging.valueless_checks,
    delivery.identical_outputs,
    delivery.empty_outputs,
    delivery.truncated_outputs,
    delivery.unknown_costs,
    coverage.judges_in_conflict,
    judging.judges_hardly_agree,
    judging.judge_contradicts_program,
    judging.values_not_understood,
    judging.ambiguous_columns,
    breakage.row_order,
    breakage.thinned_transcripts,
)

_ORDER = {"error": 0, "warning": 1, "info": 2}


def examine(
    run: Run,
    attempts: Iterable[Attempt],
    unreadables: Iterable[Unreadable],
    *,
    now: datetime,
    descriptions: Iterable[Case] = (),
) -> tuple[Finding, ...]:
    """Every finding, the gravest first. `attempts` must be iterable more than once.

    `descriptions` of cases: several of one case where its rows differ.
    """
    survey = RunSurvey(run=run, unreadables=tuple(unreadables), now=now)
    for attempt in attempts:
        survey.add(attempt)
    survey.find_originals(attempts)
    look_up_versions(survey, descriptions)
    return findings_in(survey)


def look_up_identical(
    survey: RunSurvey, attempts: Iterable[Attempt], case_of: Callable[[str, str], Case | None]
) -> None:
    """Look up what the rows with the commonest answer expect; only a few cases are read, whatever the order of rows."""
    key = survey.commonest
    if key is None or not delivery.is_common(survey, key):
        return
    tried: list[tuple[str, str]] = []
    for attempt in attempts:
        pair = (attempt.case, attempt.case_version)
        if attempt.counted and text_key(attempt) == key and pair not in tried:
            tried = sorted([*tried, pair])[:CASES_OF_A_TEXT]
    cases = [case for pair in tried if (case := case_of(*pair)) is not None]
    expected = sorted({repr(case.expected) for case in cases if case.expected is not None})
    survey.identical = IdenticalAnswers(tuple(expected), is_closed=any(case.choices for case in cases))


def findings_in(survey: RunSurvey) -> tuple[Finding, ...]:
    """Every finding, the gravest first."""
    findings = [finding for rule in RULES for finding in rule(survey)]
    return tuple(sorted(findings, key=lambda finding: _ORDER[finding.severity]))


def is_fit(findings: Iterable[Finding]) -> bool:
    return not any(finding.breaks for finding in findings)
