"""How surprising it is that hardly anybody passes a case."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.compare.passed_by_nobody import (
    CaseCounts,
    at_most,
    binomial_tail,
    is_suspect_by_counts,
    suspect_categories,
)
from errata.model.suspects import allowed_passes

RATES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=7)


@given(RATES, st.integers(0, 3))
def test_the_chance_of_few_passes_is_the_sum_over_all_outcomes(rates, passes):
    every = product((False, True), repeat=len(rates))
    chances = [
        prod(rate if passed else 1 - rate for rate, passed in zip(rates, outcome, strict=True))
        for outcome in every
        if sum(outcome) <= passes
    ]

    assert at_most(rates, passes) == pytest.approx(min(1.0, sum(chances)), abs=1e-9)


@given(st.integers(1, 60), st.floats(0.01, 0.99), st.integers(0, 60))
def test_the_binomial_tail_bounds_that_of_different_rates(n, rate, least):
    """Hoeffding: equal rates have the heavier tail above their mean."""
    uneven = [min(1.0, rate * 1.2)] * (n // 2) + [rate * 0.8] * (n - n // 2)
    mean = sum(uneven) / n
    if mean < 1 and n * mean + 1 <= least <= n:
        assert 1 - at_most(uneven, least - 1) <= binomial_tail(n, mean, least) + 1e-9


@pytest.mark.parametrize(("subjects", "passes"), [(3, 0), (9, 0), (10, 1), (19, 1), (20, 2), (50, 2)])
def test_one_pass_in_ten_is_tolerated_and_never_more_than_two(subjects, passes):
    assert allowed_passes(subjects) == passes


@pytest.mark.parametrize(
    ("passed", "p", "subjects", "is_listed"),
    [
        (0, 0.05, 3, True),
        (0, 0.19, 5, False),  # nobody passes, which at low pass rates is no surprise
        (0, 0.001, 2, False),  # two subjects are too few
        (1, 0.001, 9, False),
        (1, 0.001, 10, True),
        (1, 0.2, 10, False),  # of weak subjects one pass is what one expects
        (2, 0.001, 19, False),
        (2, 0.001, 20, True),
        (3, 0.001, 50, False),
    ],
)
def test_a_pass_is_tolerated_only_where_so_few_are_a_surprise(passed, p, subjects, is_listed):
    assert is_suspect_by_counts(passed, p, subjects) is is_listed


def cases(*outcomes):
    """Each outcome: one letter a subject, `+` passed, `-` failed, a blank not measured."""
    counts = CaseCounts()
    for outcome in outcomes:
        measured = sum(1 << at for at, letter in enumerate(outcome) if letter != " ")
        counts.add(measured, sum(1 << at for at, letter in enumerate(outcome) if letter == "+"))
    return counts


def test_cases_with_fewer_than_three_subjects_are_in_no_count():
    counts = cases("+-", "-- ", "---", "+++")

    assert (counts.cases, counts.failed_by_all) == (2, 1)
    assert counts.rates(0b1) == [(2 + 0.5) / (4 + 1)]


@given(st.lists(st.text("+- ", min_size=4, max_size=4), max_size=30))
def test_no_more_is_expected_than_there_are_cases(outcomes):
    counts = cases(*outcomes)

    assert 0 <= counts.expected <= counts.cases + 1e-9


FAIR = ("+++-", "++-+", "+-++", "-+++", "++++") * 12


def test_a_category_with_more_unpassed_cases_than_its_pass_rates_explain_is_named():
    broken = cases(*FAIR[:30], *["----"] * 15)

    (named,) = suspect_categories({"legacy": broken, "ports": cases(*FAIR), "tides": cases(*FAIR)})

    assert (named.name, named.cases, named.failed_by_all) == ("legacy", 45, 15)
    assert named.expected < 5
    assert named.adjusted < 0.001
