"""Passes that a harness states and the log has no row of: they count in every policy that can know them."""

from hypothesis import given
from hypothesis import strategies as st
from tries import CRASHED, trials, tried

from errata.compare.as_reported import as_reported
from errata.compare.policies import clean, strict
from errata.model import Reported

ACCURACY = Reported(name="accuracy", metric="accuracy", headline=True)


def failing(number, **changes):
    return tried(number, "fail", reported=0.0, reported_counted=True, **changes)


def passing(number):
    return tried(number, reported=1.0, reported_counted=True)


def a_log(*attempts, total, passed, value=None, **more):
    headline = Reported(name="accuracy", metric="accuracy", value=value, n=total, headline=True)
    counted = {"expected_cases": total, "measured_attempts": total, "measured_passes": passed}
    return trials(*attempts, **counted, reported=(headline,), **more)


@given(passed=st.integers(0, 9), failed=st.integers(0, 9), kept=st.integers(0, 9), lost=st.integers(0, 9))
def test_rows_may_be_lost_and_the_counts_stay(passed, failed, kept, lost):
    """`kept` of the passes and all but `lost` of the failures have a row."""
    kept, lost = min(kept, passed), min(lost, failed)
    total = passed + failed
    there = [*map(passing, range(kept)), *(failing(passed + at) for at in range(failed - lost))]
    if not total:
        return
    log = a_log(*there, total=total, passed=passed)

    for score in (strict(log), clean(log)):
        assert (score.passed, score.total) == (passed, total)
    assert strict(log).rate == passed / total


def test_a_log_of_failures_alone_is_not_0_percent():
    log = a_log(failing(1), failing(2), total=10, passed=8, value=0.8)

    assert [(one.passed, one.total) for one in (strict(log), as_reported(log), clean(log))] == [(8, 10)] * 3
    assert strict(log).note == "8 passes without a row, by the harness's count"


def test_a_number_that_the_harness_supplied_itself_is_not_called_reproduced():
    log = a_log(failing(1), failing(2), total=10, passed=8, value=0.8)

    assert as_reported(log).reproduced is None


def test_a_rate_that_contradicts_the_stated_passes_is_another_number():
    log = a_log(failing(1), failing(2), total=10, passed=8, value=0.7)

    assert (as_reported(log).rate, as_reported(log).reproduced) == (0.8, False)


def test_infrastructure_failures_leave_clean_and_the_stated_passes_stay():
    crashed = tried(1, **CRASHED, reported=0.0, reported_counted=True)
    log = a_log(crashed, failing(2), total=10, passed=8, owners=[(crashed, "provider")])

    assert (clean(log).passed, clean(log).total, clean(log).left_out) == (8, 9, {"provider": 1})


def test_failures_without_a_row_count_as_failures():
    log = a_log(failing(1), total=10, passed=8)

    assert (clean(log).passed, clean(log).total) == (8, 10)
    assert clean(log).note == "8 passes and 1 failure without a row, by the harness's count"


def test_without_a_stated_count_nothing_is_assumed():
    log = trials(failing(1), expected_cases=10, measured_attempts=10, reported=(ACCURACY,))

    assert (strict(log).rate, clean(log).left_out) == (None, {"not in the log": 9})


def test_passes_among_rows_without_a_verdict_count_strictly_and_are_assigned_to_none():
    """The harness states 2 of 3 passes, but the log does not show which rows passed."""
    rows = [tried(at, "none", measurement="unscored", reported_counted=False) for at in range(2)]
    log = a_log(failing(2), *rows, total=3, passed=2, value=2 / 3)

    assert (strict(log).passed, strict(log).total) == (2, 3)
    assert clean(log).rate is None
    assert (as_reported(log).rate, as_reported(log).stated) == (None, 2 / 3)
    assert "does not show which rows passed" in clean(log).note


def test_a_category_has_no_share_in_passes_without_a_row():
    log = a_log(passing(1), failing(2), total=10, passed=9)

    assert (strict(log.only([failing(2).case])).passed, strict(log.only([failing(2).case])).total) == (0, 1)


def test_a_count_of_passed_rows_that_the_harness_reports_is_enough():
    """As in the reports of SWE-bench, promptfoo and pytest, where the count is one of its numbers."""
    reported = (Reported(name="resolved_instances", metric="passed", value=8),)
    log = trials(failing(1), failing(2), expected_cases=10, measured_attempts=10, reported=reported)

    assert (strict(log).passed, strict(log).total) == (8, 10)


def test_a_log_without_any_row_has_the_number_of_its_harness():
    score = as_reported(a_log(total=225, passed=8, value=0.036))

    assert (score.passed, score.total, score.reproduced) == (8, 225, None)
    assert score.note == "8 passes and 217 failures without a row, by the harness's count"
