"""What is said of a run in which nothing failed: C-07's sentence is said of what was measured and passed alone."""

import pytest

from errata.compare.scores import Score
from errata.model import Counts, Finding, Reported, StoredRun
from errata.runs.first_page import (
    ALL_PASSED,
    all_passed,
    doubts_of,
    why_no_estimate,
    without_failures,
    words_without_failures,
)
from errata.testing import a_run

PASSED = {"attempts": 4, "counted": 4, "cases": 4, "outcomes": {"pass": 4}, "measurements": {"scored": 4}}
RATE = Reported(name="pass_rate_2", metric="pass_rate", value=0.616, n=224, headline=True)
ACCURACY = Reported(name="scorer", metric="accuracy", value=0.431, n=1000, headline=True)


def stored(run=None, **counts):
    given = {"executions": {"completed": 4}, **counts}
    return StoredRun(run=run or a_run(), counts=Counts(**given), pk=1, imported_at="2026-01-01T00:00:00Z", digest="d")


def describe(run):
    return words_without_failures(without_failures(run))


@pytest.mark.req("C-07")
def test_where_every_expected_case_was_measured_and_passed_all_passed():
    run = stored(a_run(expected_cases=4, measured_attempts=4), **PASSED)

    assert (all_passed(run), describe(run)) == (True, ALL_PASSED)


@pytest.mark.req("C-07")
@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"expected_cases": 5}, "4 passed, 1 missing"),
        ({"expected_cases": 9, "measured_attempts": 9}, "4 passed, 5 measured, but not in the log"),
        ({"expected_cases": 9, "measured_attempts": 7}, "4 passed, 3 measured, but not in the log, 2 missing"),
    ],
)
def test_what_the_log_does_not_hold_has_not_passed(run, told):
    assert describe(stored(a_run(**run), **PASSED)) == f"Nothing failed, but not all passed: {told}"


@pytest.mark.req("C-07")
@pytest.mark.parametrize(
    ("reported", "told"),
    [
        (RATE, "by the harness's own count 138 of 224 passed and 86 failed"),
        (ACCURACY, "the harness reports scorer accuracy 0.431 over 1,000"),
        (None, "the harness measured 224"),
    ],
)
def test_a_log_without_rows_is_told_by_the_harnesss_own_count(reported, told):
    run = a_run(expected_cases=224, measured_attempts=224, reported=(reported,) if reported else ())

    sentence = describe(stored(run, executions={}))

    assert sentence == f"No rows to analyse: {told}, but the log does not contain them"


@pytest.mark.req("C-07")
def test_what_has_no_verdict_has_not_passed():
    unjudged = stored(attempts=4, counted=4, cases=4, outcomes={"none": 4}, measurements={"not_run": 4})

    assert describe(unjudged) == "Nothing was measured: 4 attempts, and not one verdict"


@pytest.mark.req("C-07")
def test_a_run_of_which_nothing_was_made_is_told_as_such():
    missing = {"attempts": 4, "counted": 4, "cases": 4, "outcomes": {"none": 4}, "executions": {"missing": 4}}

    assert describe(stored(**missing)) == "Nothing was measured: 4 planned and missing"
    assert describe(stored(executions={})) == "Nothing was measured: the log has no attempts"


def test_each_kind_of_what_did_not_pass_is_counted_once():
    mixed = {
        "attempts": 9,
        "counted": 9,
        "cases": 9,
        "outcomes": {"pass": 3, "partial": 1, "none": 5},
        "executions": {"completed": 5, "missing": 1, "unfinished": 2, "skipped": 1},
        "measurements": {"scored": 4, "not_run": 5},
    }

    assert describe(stored(**mixed)) == (
        "Nothing failed, but not all passed: 3 passed, 1 missing, 2 not finished, 1 skipped, 1 in part, 1 not scored"
    )


@pytest.mark.parametrize(
    ("disputed", "severity", "why"), [(4, "warning", "disputed"), (3, "warning", "results"), (3, "info", None)]
)
def test_a_score_whose_passes_are_disputed_is_no_best_estimate(disputed, severity, why):
    finding = Finding(
        run="run",
        name="judge_contradicts_program",
        severity=severity,
        text="judge and program disagree",
        numbers={"disputed_passes": disputed},
    )

    ten = Score(policy="clean", passed=4, total=10)
    assert why_no_estimate(stored(**PASSED), ten, findings=[finding], doubts=doubts_of([finding])) == why
