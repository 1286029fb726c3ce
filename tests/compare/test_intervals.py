"""Intervals of rates and means, and the effective sample size of repeated cases."""

from math import sqrt
from statistics import stdev

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.compare.intervals import (
    cluster_robust_error,
    clusters_of,
    effective_sample_size,
    merge_clusters,
    standard_error,
    wilson,
)
from errata.compare.significance import mean_interval


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


@given(st.integers(0, 50), st.integers(1, 50), st.integers(2, 20))
def test_more_of_the_same_narrows_the_interval(passed, total, often):
    passed = min(passed, total)
    (low, high), (lower, higher) = wilson(passed * often, total * often), wilson(passed, total)

    assert high - low < higher - lower


def test_a_harness_that_rounds_z_gets_the_interval_it_knows():
    assert tuple(round(bound, 6) for bound in wilson(25, 30, z=1.96)) == (0.664353, 0.926636)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=40))
def test_the_interval_of_a_mean_holds_it(values):
    mean = sum(values) / len(values)
    low, high = mean_interval(mean, standard_error(values), len(values))

    assert low <= mean <= high


graded = st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=60)


def clusters(values):
    return list(clusters_of((str(case), value) for case, value in values).values())


@settings(deadline=None)
@given(graded, graded)
def test_two_runs_together_are_what_all_their_values_give(one, other):
    named = [[(str(case), value) for case, value in values] for values in (one, other)]
    together = merge_clusters(clusters_of(values) for values in named)
    expected = clusters_of([*named[0], *named[1]])

    assert together.keys() == expected.keys()
    for case, (total, count) in expected.items():
        assert together[case] == (pytest.approx(total), count)


@settings(deadline=None)
@given(graded)
def test_the_error_is_the_sandwich_of_a_regression_on_nothing_but_a_constant(values):
    """Computed as textbooks write it: bread, meat of the cluster sums, bread."""
    cases = numpy.array([case for case, _ in values])
    y = numpy.array([value for _, value in values])
    x = numpy.ones((len(y), 1))
    bread = numpy.linalg.inv(x.T @ x)
    residuals = y - y.mean()
    sums = [(x[cases == case].T @ residuals[cases == case]) for case in set(cases.tolist())]
    meat = sum(numpy.outer(one, one) for one in sums)
    count = len(sums)
    found = cluster_robust_error(clusters(values))

    if count < 2:
        assert found is None
    else:
        assert found == pytest.approx(sqrt((bread @ meat @ bread)[0, 0] * count / (count - 1)), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(1, 5))
def test_the_same_run_again_says_nothing_new(values, times):
    repeated = clusters_of((str(case), value) for _ in range(times) for case, value in enumerate(values))

    assert cluster_robust_error(list(repeated.values())) == pytest.approx(stdev(values) / sqrt(len(values)), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 5))
def test_the_same_passes_again_are_worth_as_many_as_there_are_cases(passes, times):
    repeated = clusters_of((str(case), passed) for _ in range(times) for case, passed in enumerate(passes))

    assert effective_sample_size(list(repeated.values())) == pytest.approx(len(passes))


def test_tries_that_differ_within_every_case_are_worth_their_number_from_ten_cases_on():
    assert effective_sample_size([(1.0, 3)] * 10) == 30
    assert effective_sample_size([(1.0, 3)] * 9) == 9
    assert effective_sample_size([(1.0, 2), (1.0, 1), (0.0, 1)]) <= 3


def test_nothing_is_worth_nothing():
    assert effective_sample_size([]) is None
