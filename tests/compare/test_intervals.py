"""How far a rate can be trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.compare.intervals import around, standard_error, wilson


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


def test_nothing_has_no_interval():
    assert wilson(0, 0) is None


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=40))
def test_the_interval_of_a_mean_holds_it(values):
    mean = sum(values) / len(values)
    low, high = around(mean, standard_error(values))

    assert low <= mean <= high


def test_one_value_says_nothing_about_its_spread():
    assert around(0.5, standard_error([0.5])) is None
