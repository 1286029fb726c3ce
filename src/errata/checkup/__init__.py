"""Run health: is this run fit to be analysed at all? Pure functions over a run's records."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from errata.checkup import aggregates, breakage, coverage, delivery, hindrances, impossible, judging, outputs
from errata.checkup.survey import IdenticalAnswers, RunSurvey
from errata.model import Attempt, Case, Finding, Run, Unreadable

Rule = Callable[[RunSurvey], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    breakage.unavailable,
    hindrances.agent_not_installed,
    hindrances.agent_crashed,
    hindrances.setup_failed,
    hindrances.tool_channel_broken,
    hindrances.empty_final_turns,
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
    aggregates.aggregate_mismatch,
    aggregates.reports_disagree,
    impossible.files_disagree,
    impossible.impossible_costs,
    impossible.impossible_times,
    breakage.run_not_completed,
    breakage.unknown_statuses,
    breakage.dead_process,
    breakage.several_sessions,
    breakage.unreadable_items,
    coverage.cases_not_in_the_log,
    breakage.errors_by_phase,
    judging.nothing_asserted,
    judging.nothing_changed,
    judging.valueless_checks,
    outputs.identical_outputs,
    outputs.empty_outputs,
    outputs.truncated_outputs,
    outputs.unknown_costs,
    coverage.judges_in_conflict,
    judging.judges_hardly_agree,
    judging.judge_contradicts_program,
    judging.values_not_understood,
    judging.ambiguous_columns,
    breakage.row_order,
)

_ORDER = {"error": 0, "warning": 1, "info": 2}


def examine(
    run: Run, attempts: Iterable[Attempt], unreadables: Iterable[Unreadable], *, now: datetime
) -> tuple[Finding, ...]:
    """Every finding, the gravest first. `attempts` must be iterable more than once."""
    survey = RunSurvey(run=run, unreadables=tuple(unreadables), now=now)
    for attempt in attempts:
        survey.add(attempt)
    survey.find_originals(attempts)
    return findings_in(survey)


def look_up_identical(survey: RunSurvey, case_of: Callable[[str], Case | None]) -> None:
    """Look up the expected answers of the cases that got the commonest answer; only those few cases are read."""
    key = survey.commonest
    if key is None or not outputs.is_common(survey, key):
        return
    cases = [case for name in survey.cases_of_text.get(key, ()) if (case := case_of(name)) is not None]
    expected = dict.fromkeys(repr(case.expected) for case in cases if case.expected is not None)
    survey.identical = IdenticalAnswers(tuple(expected), is_closed=any(case.choices for case in cases))


def findings_in(survey: RunSurvey) -> tuple[Finding, ...]:
    """Every finding, the gravest first."""
    findings = [finding for rule in RULES for finding in rule(survey)]
    return tuple(sorted(findings, key=lambda finding: _ORDER[finding.severity]))


def is_fit(findings: Iterable[Finding]) -> bool:
    return not any(finding.breaks for finding in findings)
