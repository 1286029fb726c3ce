"""Tries at the same case hang together."""

from math import sqrt
from statistics import stdev

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.compare.clusters import clustered_error, clusters_of, effective_size, merged

binary = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=60)
graded = st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1)), min_size=1, max_size=60)


def clusters(values):
    return list(clusters_of((str(case), value) for case, value in values).values())


@settings(deadline=None)
@given(graded, graded)
def test_two_runs_together_are_what_all_their_values_give(one, other):
    named = [[(str(case), value) for case, value in values] for values in (one, other)]
    together = merged(clusters_of(values) for values in named)
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
    found = clustered_error(clusters(values))

    if count < 2:
        assert found is None
    else:
        assert found == pytest.approx(sqrt((bread @ meat @ bread)[0, 0] * count / (count - 1)), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(1, 5))
def test_the_same_run_again_says_nothing_new(values, times):
    repeated = clusters_of((str(case), value) for _ in range(times) for case, value in enumerate(values))

    assert clustered_error(list(repeated.values())) == pytest.approx(stdev(values) / sqrt(len(values)), abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 5))
def test_the_same_passes_again_are_worth_as_many_as_there_are_cases(passes, times):
    repeated = clusters_of((str(case), passed) for _ in range(times) for case, passed in enumerate(passes))

    assert effective_size(list(repeated.values())) == pytest.approx(len(passes))


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_cases_that_were_tried_once_are_worth_their_number(passes):
    assert effective_size([(float(passed), 1) for passed in passes]) == pytest.approx(len(passes))


@settings(deadline=None)
@given(binary)
def test_no_try_is_worth_more_than_one(values):
    assert 0 < effective_size(clusters(values)) <= len(values)


def test_tries_that_differ_within_every_case_are_worth_their_number():
    assert effective_size([(1.0, 3)] * 10) == 30


def test_nothing_is_worth_nothing():
    assert effective_size([]) is None
