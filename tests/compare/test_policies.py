"""What each policy counts, and what it leaves out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.compare.intervals import wilson
from errata.compare.policies import Trials, as_reported, clean, strict
from errata.model import Attribution, FailureKey, Reported
from errata.testing import a_run, an_attempt


def said(attempt, owner):
    key = FailureKey(exact="x", coarse="x")
    return attempt.id, Attribution(attempt=attempt.id, owner=owner, confidence="certain", failure_key=key)


def trials(*attempts, owners=(), broken=(), **run):
    return Trials(a_run(**run), attempts, dict(owners), set(broken))


def tried(number, outcome="pass", **changes):
    return an_attempt(case=f"suite/case-{number}", outcome=outcome, **changes)


MISSING = {"execution": "missing", "measurement": "not_run", "outcome": "none"}


def test_strict_counts_every_expected_case():
    found = strict(trials(tried(1), tried(2, "fail"), expected_cases=4))

    assert (found.passed, found.total) == (1, 4)


def test_a_case_that_contradicts_itself_is_not_passed_strictly_and_left_out_cleanly():
    first = tried(1)
    again = tried(1, "fail", index=2, duplicate_of=first.id)

    assert (strict(trials(first, again)).passed, strict(trials(first, again)).total) == (0, 1)
    assert clean(trials(first, again)).left_out == {"contradictory": 1}


@pytest.mark.parametrize("owner", ["provider", "environment", "harness", "simulator", "collateral"])
def test_clean_leaves_out_what_is_not_the_subjects(owner):
    failed = tried(2, "none", execution="error", measurement="not_run")

    found = clean(trials(tried(1), failed, owners=[said(failed, owner)]))

    assert (found.passed, found.total, found.left_out) == (1, 1, {owner: 1})


@pytest.mark.parametrize("owner", ["model", "budget", "grader", "task"])
def test_clean_counts_what_was_measured_and_failed(owner):
    failed = tried(2, "fail")

    assert clean(trials(tried(1), failed, owners=[said(failed, owner)])).total == 2


def test_clean_leaves_out_a_broken_measurement():
    failed = tried(2, "fail")

    assert clean(trials(tried(1), failed, broken=[failed.id])).left_out == {"not measured": 1}


@pytest.mark.req("S-16", "S-42")
def test_an_earlier_measured_session_stands_in_for_one_that_measured_nothing():
    latest = tried(1, "none", session=3, execution="error", measurement="not_run")
    first = tried(1, session=1, superseded_by=latest.id)

    found = clean(trials(first, latest, owners=[said(latest, "harness")]))

    assert (found.passed, found.total, found.recovered) == (1, 1, ("suite/case-1",))


def test_as_reported_counts_as_the_harness_counts():
    headline = Reported(name="rate", metric="pass_rate", headline=True)
    attempts = [
        tried(1, reported_counted=True),
        tried(2, "fail", reported_counted=True),
        tried(3, "fail", reported_counted=False),
    ]

    found = as_reported(trials(*attempts, reported=(headline,)))

    assert (found.passed, found.total) == (1, 2)


def test_a_headline_that_does_not_follow_from_the_rows_is_told():
    headline = Reported(name="rate", metric="pass_rate", headline=True, value=0.9)

    found = as_reported(trials(tried(1, "fail", reported_counted=True), reported=(headline,)))

    assert found.note == "the harness itself says 0.9"


def test_an_unavailable_run_has_no_clean_score():
    from errata.model import ErrorInfo

    error = ErrorInfo(type="", message="No endpoints found", phase="subject")
    down = [tried(n, "none", execution="error", measurement="not_run", errors=(error,)) for n in range(4)]

    assert clean(trials(*down)).total == 0
    assert strict(trials(*down)).total == 4


def test_where_a_case_was_tried_several_times_attempts_are_counted():
    assert strict(trials(tried(1), tried(1, "fail", index=2))).total == 2


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [(16, 25, 44.5, 79.8), (29, 45, 49.8, 76.8), (0, 45, 0.0, 7.9), (25, 25, 86.7, 100.0), (24, 47, 37.2, 64.7)],
)
def test_the_wilson_interval_is_the_one_in_the_books(passed, total, low, high):
    assert tuple(round(100 * bound, 1) for bound in wilson(passed, total)) == (low, high)


@given(st.integers(0, 500), st.integers(1, 500))
def test_an_interval_holds_its_rate(passed, total):
    passed = min(passed, total)
    low, high = wilson(passed, total)

    assert 0 <= low <= passed / total <= high <= 1
