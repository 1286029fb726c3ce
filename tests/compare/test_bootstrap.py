"""Bootstrap intervals of quantiles."""

from itertools import product
from statistics import quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.compare.intervals import quantile, quantile_interval

RANGE = 0.012
"""How far the tail of 2,000 draws may be from 2.5 %: some three and a half standard deviations."""

milliseconds = st.lists(st.integers(-200, 9_000).map(float), min_size=1, max_size=60)
shares = st.sampled_from([0.5, 0.9, 0.95, 0.99])


@given(st.lists(st.integers(0, 9_000).map(float), min_size=2, max_size=60))
def test_percentiles_are_those_of_the_standard_library(values):
    expected = quantiles(values, n=100, method="inclusive")

    assert [quantile(sorted(values), at / 100) for at in range(1, 100)] == pytest.approx(expected)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5, 10.0, 100.0]), min_size=2, max_size=5), shares, st.integers(1, 5))
def test_the_interval_of_a_quantile_is_that_of_every_possible_draw(values, share, seed):
    every = sorted(quantile(sorted(drawn), share) for drawn in product(values, repeat=len(values)))
    low, high = quantile_interval(values, share, seed=seed)

    assert _at(every, 0.025 - RANGE) - 1e-9 <= low <= _at(every, 0.025 + RANGE) + 1e-9
    assert _at(every, 0.975 - RANGE) - 1e-9 <= high <= _at(every, 0.975 + RANGE) + 1e-9


def _at(every, share):
    nearest = int(share * len(every)) + (1 if share > 0.5 else 0)
    return every[max(0, min(len(every) - 1, nearest))]


@given(milliseconds, shares, st.integers(1, 9))
def test_an_interval_stays_within_what_was_measured_and_comes_out_the_same_again(values, share, seed):
    low, high = quantile_interval(values, share, seed=seed, resamples=50)

    assert min(values) - 1e-6 <= low <= high <= max(values) + 1e-6
    assert (low, high) == quantile_interval(values[::-1], share, seed=seed, resamples=50)


def test_one_value_is_its_own_interval():
    assert quantile_interval([420.0], 0.95, seed=1) == (420.0, 420.0)


def test_nothing_has_no_interval_of_a_quantile():
    assert quantile_interval([], 0.95, seed=1) is None
