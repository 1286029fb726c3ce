"""Two columns over the same cases."""

from itertools import product

import pytest
import scipy  # its parts are imported when they are used, not while tests are collected
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.compare.significance import (
    benjamini_hochberg,
    binomial_p,
    holm,
    mcnemar,
    paired_difference,
    paired_t,
    paired_t_interval,
    student_p,
)

counts = st.integers(0, 400)
ps = st.lists(st.floats(0, 1), max_size=12)


@settings(deadline=None)
@given(counts, counts)
def test_mcnemar_is_the_exact_two_sided_binomial_test(only_first, only_second):
    n = only_first + only_second
    expected = scipy.stats.binomtest(only_first, n).pvalue if n else 1.0

    assert mcnemar(only_first, only_second) == pytest.approx(expected, rel=1e-11)


@settings(deadline=None)
@given(st.integers(0, 7), st.integers(0, 7))
def test_mcnemar_counts_every_way_the_discordant_cases_could_have_fallen(only_first, only_second):
    n, lead = only_first + only_second, abs(only_first - only_second)
    falls = [abs(2 * sum(coins) - n) for coins in product((0, 1), repeat=n)]

    assert mcnemar(only_first, only_second) == pytest.approx(sum(fall >= lead for fall in falls) / len(falls))


@pytest.mark.parametrize("only_first, only_second, p", [(2, 8, 0.109375), (1, 3, 0.625), (0, 0, 1.0), (5, 5, 1.0)])
def test_the_pairs_of_the_harbour_bench(only_first, only_second, p):
    assert mcnemar(only_first, only_second) == pytest.approx(p)


@pytest.mark.parametrize(
    "table, low, high",
    [((14, 5, 0, 22), 0.011, 0.226), ((1, 1, 7, 12), -0.507, -0.026)],
    ids=["Altman et al. 2000, table 6.2", "Bentur et al. 2009, by Fagerland et al."],
)
def test_the_interval_is_the_published_one(table, low, high):
    found = paired_difference(*table)

    assert [round(bound, 3) for bound in found.interval] == [low, high]


cells = st.integers(0, 60)


@settings(deadline=None)
@given(cells, cells, cells, cells)
def test_the_interval_holds_the_difference(both, only_first, only_second, neither):
    found = paired_difference(both, only_first, only_second, neither)

    if found is None:
        assert both + only_first + only_second + neither == 0
    else:
        low, high = found.interval
        assert -1 - 1e-9 <= low <= found.value <= high <= 1 + 1e-9
        assert found.value == (only_first - only_second) / found.cases


@settings(deadline=None)
@given(cells, cells, cells, cells)
def test_the_other_way_round_the_interval_is_mirrored(both, only_first, only_second, neither):
    one = paired_difference(both, only_first, only_second, neither)
    other = paired_difference(both, only_second, only_first, neither)

    if one is not None:
        assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))


@settings(deadline=None)
@given(st.integers(1, 200))
def test_columns_that_agree_everywhere_are_still_not_known_to_be_equal(size):
    low, high = paired_difference(size, 0, 0, 0).interval

    assert low < 0 < high


@settings(deadline=None)
@given(ps)
def test_holm_refuses_what_the_steps_of_holm_refuse(given_ps):
    adjusted = holm(given_ps)

    for level in (0.01, 0.05, 0.5):
        refused = set()
        for rank, at in enumerate(sorted(range(len(given_ps)), key=lambda at: given_ps[at])):
            if given_ps[at] * (len(given_ps) - rank) > level:
                break
            refused.add(at)
        assert {at for at, p in enumerate(adjusted) if p <= level} == refused


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_and_hochberg_agree_with_scipy(values):
    assert benjamini_hochberg(values) == pytest.approx(list(scipy.stats.false_discovery_control(values)))


@given(st.integers(1, 400), st.data(), st.floats(0.01, 0.99))
def test_the_binomial_test_is_the_mid_p_of_the_smaller_tail_twice(tries, data, rate):
    passed = data.draw(st.integers(0, tries))
    half = scipy.stats.binom.pmf(passed, tries, rate) / 2
    expected = 2 * min(
        scipy.stats.binom.cdf(passed, tries, rate) - half, scipy.stats.binom.sf(passed - 1, tries, rate) - half
    )

    assert binomial_p(passed, tries, rate) == pytest.approx(min(expected, 1), rel=1e-6, abs=1e-12)


@given(st.floats(0.5, 4_000), st.floats(-30, 30))
def test_students_t_agrees_with_scipy(freedom, t):
    assert student_p(t, freedom) == pytest.approx(2 * scipy.stats.t.sf(abs(t), freedom), rel=1e-6, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=3))
def test_the_paired_t_test_agrees_with_scipy(pairs):
    apart = [one - other for one, other in pairs]
    if len(set(apart)) > 1:
        expected = scipy.stats.ttest_rel(*zip(*pairs, strict=True))
        sums = (len(apart), sum(apart), sum(value * value for value in apart))
        assert paired_t(*sums) == pytest.approx(expected.pvalue)
        assert paired_t_interval(*sums) == pytest.approx(tuple(expected.confidence_interval()), abs=1e-6)


def test_pairs_that_all_differ_alike_leave_no_doubt_and_equal_ones_leave_nothing_else():
    assert paired_t(10, 5.0, 2.5) == 0.0
    assert paired_t(10, 0.0, 0.0) == 1.0
    assert paired_t(1, 1.0, 1.0) == 1.0
    assert paired_t_interval(1, 1.0, 1.0) is None
