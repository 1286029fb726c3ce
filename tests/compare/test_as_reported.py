"""The harness's own number, recomputed its own way."""

import pytest
from tries import CRASHED, NOT_MADE, trials, tried

from errata.compare.as_reported import as_reported
from errata.model import ErrorInfo, Reported


def headline(metric="pass_rate", **changes):
    return (Reported(name="headline", metric=metric, headline=True, **changes),)


def row(number, value, **changes):
    return tried(number, "pass" if value >= 1 else "fail", reported=value, reported_counted=True, **changes)


def epochs(*cases):
    return [row(number, value, index=at) for number, values in enumerate(cases) for at, value in enumerate(values, 1)]


def test_a_pass_rate_counts_what_the_harness_counts():
    attempts = [row(1, 1.0), row(2, 0.0), tried(3, "fail", reported_counted=False)]

    found = as_reported(trials(*attempts, reported=headline()))

    assert (found.passed, found.total, found.reproduced) == (1, 2, None)


def test_what_the_harness_leaves_out_is_told_by_its_error():
    error = ErrorInfo(type="AgentTimeoutError", message="timed out", phase="subject")
    left = [tried(number, "fail", reported_counted=False, errors=(error,)) for number in (2, 3)]

    found = as_reported(trials(row(1, 1.0), *left, tried(4, **NOT_MADE), reported=headline()))

    assert found.left_out == {"AgentTimeoutError": 2, "missing": 1}


def test_a_headline_that_does_not_follow_from_the_rows_is_told():
    found = as_reported(trials(row(1, 0.0), reported=headline(value=0.9)))

    assert (found.rate, found.stated, found.reproduced) == (0.0, 0.9, False)


@pytest.mark.req("reproduced")
@pytest.mark.parametrize(("stated", "is_it"), [(0.666667, True), (0.67, True), (0.6666, False), (0.66, False)])
def test_a_number_that_was_rounded_is_the_same_number(stated, is_it):
    found = as_reported(trials(row(1, 1.0), row(2, 1.0), row(3, 0.0), reported=headline(value=stated)))

    assert found.reproduced is is_it


def test_a_mean_of_graded_values_is_a_mean_of_so_many():
    found = as_reported(trials(row(1, 1.0), row(2, 0.5), row(3, 0.25), reported=headline("mean", value=0.5833333)))

    assert (found.mean, found.total, found.reproduced) == (pytest.approx(1.75 / 3), 3, True)
    low, high = found.interval
    assert low < found.mean < high


def test_a_mean_of_ones_and_noughts_is_a_count_of_passes():
    found = as_reported(trials(row(1, 1.0), row(2, 0.0), reported=headline("accuracy", value=0.5)))

    assert (found.passed, found.total, found.mean) == (1, 2, None)


def test_of_equally_many_epochs_the_attempts_are_counted():
    found = as_reported(trials(*epochs((1, 0), (1, 1), (0, 0)), reported=headline("accuracy", n=3, value=0.5)))

    assert (found.passed, found.total, found.reproduced) == (3, 6, True)


def test_of_unequally_many_epochs_every_case_weighs_the_same():
    found = as_reported(trials(*epochs((1, 1, 1), (0,)), reported=headline("accuracy", n=2, value=0.5)))

    assert (found.rate, found.total, found.reproduced) == (0.5, 2, True)


@pytest.mark.parametrize(
    ("reducer", "value"),
    [
        ("mean", 2 / 3),
        ("median", 1.0),
        ("mode", 1.0),
        ("max", 1.0),
        ("at_least_2", 1.0),
        ("at_least_3", 0.0),
        ("pass_at_1", 2 / 3),
        ("pass_at_2", 1.0),
        ("pass_k_2", 1 / 3),
    ],
)
def test_epochs_are_reduced_as_the_log_says(reducer, value):
    found = as_reported(trials(*epochs((1, 1, 0)), reported=headline("accuracy", reducer=reducer, n=1)))

    assert found.rate == pytest.approx(value)


def test_a_case_with_too_few_epochs_is_not_averaged():
    found = as_reported(trials(*epochs((1, 1), (0,)), reported=headline("accuracy", reducer="pass_at_2", n=1)))

    assert (found.rate, found.total) == (1.0, 1)


@pytest.mark.parametrize("rule", [{"metric": "f1"}, {"metric": "accuracy", "reducer": "majority"}])
def test_a_number_that_can_not_be_recomputed_is_not_claimed(rule):
    found = as_reported(trials(row(1, 1.0), reported=headline(value=0.7, **rule)))

    assert (found.total, found.reproduced) == (0, None)
    assert "the harness reports 0.7" in found.note


def test_a_harness_that_averages_what_has_no_value_as_nothing_is_found_out():
    crashed = tried(4, **CRASHED, reported_counted=False)

    found = as_reported(
        trials(row(1, 1.0), row(2, 1.0), row(3, 0.0), crashed, reported=headline("mean", n=3, value=0.5))
    )

    assert (found.passed, found.total, found.reproduced) == (2, 4, True)
    assert (found.left_out, found.note) == ({}, "1 without a value count as 0")


def test_a_category_is_averaged_by_the_rule_of_the_run():
    rows = epochs((1, 1, 1), (0,), (1, 0))
    found = trials(*rows, reported=headline("mean", n=6))

    part = as_reported(found.only(["suite/case-0", "suite/case-1"]))

    assert (part.passed, part.total) == (3, 4)


def test_a_few_rows_of_what_was_measured_do_not_stand_for_the_whole():
    found = as_reported(trials(row(1, 0.0), reported=headline(value=0.35), expected_cases=79, measured_attempts=79))

    assert (found.total, found.stated, found.reproduced) == (0, 0.35, None)
    assert found.note == "the harness reports 0.35; 78 of the rows it counts are not in the log"
