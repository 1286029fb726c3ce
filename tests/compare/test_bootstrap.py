"""Bootstrap intervals of means, differences and quantiles."""

from itertools import product
from statistics import fmean, quantiles

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import bootstrap as scipy_bootstrap

from errata.compare import bootstrap
from errata.compare.bootstrap import bootstrap_mean, paired_bootstrap, quantile, quantile_interval

RANGE = 0.012
"""How far the tail of 2,000 draws may be from 2.5 %: some three and a half standard deviations."""

values = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=5)


def every_mean(given_values):
    return sorted(fmean(drawn) for drawn in product(given_values, repeat=len(given_values)))


def around(means, share):
    return means[max(0, int(share * len(means)) - 1)], means[min(len(means) - 1, int(share * len(means)) + 1)]


@given(values, st.booleans())
def test_the_interval_is_that_of_every_possible_draw(given_values, by_counts):
    means = every_mean(given_values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "WORTH_COUNTING", 0 if by_counts else 1_000)
        low, high = bootstrap_mean(given_values).interval

    assert around(means, 0.025 - RANGE)[0] - 1e-9 <= low <= around(means, 0.025 + RANGE)[1] + 1e-9
    assert around(means, 0.975 - RANGE)[0] - 1e-9 <= high <= around(means, 0.975 + RANGE)[1] + 1e-9


@settings(deadline=None)
@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 30), st.integers(0, 2**32))
def test_counts_are_drawn_within_what_there_is(tries, count, others, seed):
    drawn = bootstrap._binomial(tries, count, count + others, bootstrap.Random(seed))

    assert 0 <= drawn <= tries
    assert drawn == tries or others


@pytest.mark.parametrize("tries, count, among", [(7, 1, 3), (40, 5, 8), (12, 1, 2), (9, 99, 100)])
def test_counts_are_binomial(tries, count, among):
    chance = bootstrap.Random(7)
    drawn = [bootstrap._binomial(tries, count, among, chance) for _ in range(20_000)]

    for hits in range(tries + 1):
        assert drawn.count(hits) / len(drawn) == pytest.approx(binom.pmf(hits, tries, count / among), abs=0.015)


def test_graded_values_have_the_interval_that_scipy_gives_them():
    chance = numpy.random.default_rng(3)
    first, second = chance.beta(4, 2, size=300), chance.beta(3, 2, size=300)
    expected = scipy_bootstrap(
        (first - second,), numpy.mean, n_resamples=9_999, method="percentile", rng=numpy.random.default_rng(4)
    ).confidence_interval

    found = paired_bootstrap(first.tolist(), second.tolist())

    assert found.mean == pytest.approx(float((first - second).mean()))
    assert found.interval == pytest.approx((expected.low, expected.high), abs=0.005)


def test_many_equal_values_have_the_interval_that_scipy_gives_them():
    differences = [1.0] * 60 + [0.0] * 300 + [-1.0] * 40
    expected = scipy_bootstrap(
        (differences,), numpy.mean, n_resamples=9_999, method="percentile", rng=numpy.random.default_rng(5)
    ).confidence_interval

    assert bootstrap_mean(differences).interval == pytest.approx((expected.low, expected.high), abs=0.006)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_same_cases_give_the_same_interval(pairs):
    first, second = zip(*pairs, strict=True)

    assert paired_bootstrap(first, second, resamples=50) == paired_bootstrap(first, second, resamples=50)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_no_mean_is_beyond_the_smallest_and_the_largest_value(given_values):
    low, high = bootstrap_mean(given_values, resamples=50).interval

    assert min(given_values) - 1e-9 <= low <= high <= max(given_values) + 1e-9


def test_one_case_alone_has_no_interval():
    assert bootstrap_mean([0.5]).interval is None


def test_nothing_has_no_mean():
    assert paired_bootstrap([], []) is None


def test_a_case_that_only_one_of_two_has_is_no_pair():
    with pytest.raises(ValueError, match="zip"):
        paired_bootstrap([1.0, 0.0], [1.0])


milliseconds = st.lists(st.integers(-200, 9_000).map(float), min_size=1, max_size=60)
shares = st.sampled_from([0.5, 0.9, 0.95, 0.99])


@given(milliseconds, st.floats(0, 1))
def test_a_quantile_is_interpolated_as_numpy_does(values, share):
    assert quantile(sorted(values), share) == pytest.approx(float(numpy.quantile(values, share)), abs=1e-6)


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


def test_many_latencies_have_the_interval_that_drawing_them_all_gives():
    chance = numpy.random.default_rng(11)
    values = chance.gamma(9, 300, size=400)
    drawn = numpy.quantile(chance.choice(values, size=(20_000, len(values))), 0.95, axis=1)
    expected = numpy.quantile(drawn, [0.025, 0.975])

    assert quantile_interval(values.tolist(), 0.95, seed=1) == pytest.approx(tuple(expected), rel=0.02)


@given(milliseconds, shares, st.integers(1, 9))
def test_an_interval_stays_within_what_was_measured_and_comes_out_the_same_again(values, share, seed):
    low, high = quantile_interval(values, share, seed=seed, resamples=50)

    assert min(values) - 1e-6 <= low <= high <= max(values) + 1e-6
    assert (low, high) == quantile_interval(values[::-1], share, seed=seed, resamples=50)


def test_one_value_is_its_own_interval():
    assert quantile_interval([420.0], 0.95, seed=1) == (420.0, 420.0)


def test_nothing_has_no_interval_of_a_quantile():
    assert quantile_interval([], 0.95, seed=1) is None
