"""Drawing cases again and again."""

from itertools import product
from statistics import fmean

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import bootstrap as scipy_bootstrap

from errata.compare import bootstrap
from errata.compare.bootstrap import paired_bootstrap, resampled

RANGE = 0.012
"""How far the tail of 2,000 draws may be from 2.5 %: some three and a half standard deviations."""

values = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=5)


def every_mean(given_values):
    return sorted(fmean(drawn) for drawn in product(given_values, repeat=len(given_values)))


def quantiles(means, share):
    return means[max(0, int(share * len(means)) - 1)], means[min(len(means) - 1, int(share * len(means)) + 1)]


@given(values, st.booleans())
def test_the_interval_is_that_of_every_possible_draw(given_values, by_counts):
    means = every_mean(given_values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "WORTH_COUNTING", 0 if by_counts else 1_000)
        low, high = resampled(given_values).interval

    assert quantiles(means, 0.025 - RANGE)[0] - 1e-9 <= low <= quantiles(means, 0.025 + RANGE)[1] + 1e-9
    assert quantiles(means, 0.975 - RANGE)[0] - 1e-9 <= high <= quantiles(means, 0.975 + RANGE)[1] + 1e-9


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

    assert resampled(differences).interval == pytest.approx((expected.low, expected.high), abs=0.006)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_same_cases_give_the_same_interval(pairs):
    first, second = zip(*pairs, strict=True)

    assert paired_bootstrap(first, second, resamples=50) == paired_bootstrap(first, second, resamples=50)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_no_mean_is_beyond_the_smallest_and_the_largest_value(given_values):
    low, high = resampled(given_values, resamples=50).interval

    assert min(given_values) - 1e-9 <= low <= high <= max(given_values) + 1e-9


def test_one_case_alone_has_no_interval():
    assert resampled([0.5]).interval is None


def test_nothing_has_no_mean():
    assert paired_bootstrap([], []) is None


def test_a_case_that_only_one_of_two_has_is_no_pair():
    with pytest.raises(ValueError, match="zip"):
        paired_bootstrap([1.0, 0.0], [1.0])
