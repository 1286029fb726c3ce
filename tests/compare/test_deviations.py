"""Where a model does better or worse in a category than its other categories and the other models lead to expect."""

import random

import pytest
from bench.differences.__main__ import measure
from bench.differences.suites import KINDS
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.compare.deviations import deviations

A_FEW = range(12)


def a_suite(rates, *, cases=60, seed=1):
    """`rates`: model → the rate in each category."""
    chance = random.Random(seed)
    names = [f"kind-{at}" for at in range(len(next(iter(rates.values()))))]
    members = {name: [f"{name}/{number}" for number in range(cases)] for name in names}
    shares = {
        model: {
            case: float(chance.random() < rate)
            for name, rate in zip(names, of_model, strict=True)
            for case in members[name]
        }
        for model, of_model in rates.items()
    }
    return shares, members


def found_in(shares, members):
    return [(one.label, one.category) for one in deviations(shares, members) if one.deviates]


@pytest.mark.req("B-78")
def test_a_model_that_breaks_down_in_a_category_is_named_and_nobody_else():
    rates = {model: [0.8, 0.8, 0.8, 0.8] for model in "abcde"} | {"f": [0.8, 0.8, 0.3, 0.8]}

    assert found_in(*a_suite(rates)) == [("f", "kind-2")]


def test_a_hard_category_and_a_weak_model_are_no_deviation():
    rates = {model: [0.9, 0.6, 0.9, 0.6] for model in "abcd"} | {"e": [0.65, 0.24, 0.65, 0.24]}

    assert found_in(*a_suite(rates)) == []


def test_the_interval_usually_holds_what_was_planted():
    rates = {model: [0.8, 0.8, 0.8, 0.8] for model in "abcde"} | {"f": [0.8, 0.8, 0.4, 0.8]}
    first = [deviations(*a_suite(rates, cases=100, seed=seed))[0] for seed in range(20)]

    assert sum(one.interval[0] < -0.4 < one.interval[1] for one in first) >= 16
    assert all(one.deviation == pytest.approx(one.rate - one.expected) for one in first)


def test_of_two_models_each_category_has_one_test():
    shares, members = a_suite({"a": [0.8, 0.8, 0.8], "b": [0.8, 0.8, 0.2]})
    tests = deviations(shares, members)

    assert [one.label for one in tests] == ["a", "a", "a"]
    assert (tests[0].category, tests[0].deviates, tests[0].deviation > 0) == ("kind-2", True, True)


def test_hard_cases_that_a_model_was_not_measured_on_are_no_strength_of_it():
    members = {"x": [f"x{n}" for n in range(60)], "y": [f"y{n}" for n in range(60)], "z": [f"z{n}" for n in range(60)]}
    hard = set(members["x"][:30])
    chance = random.Random(3)
    shares = {
        model: {
            case: float(chance.random() < (0.1 if case in hard else 0.8))
            for cases in members.values()
            for case in cases
        }
        for model in "abcd"
    }
    shares["a"] = {case: share for case, share in shares["a"].items() if case not in hard}

    assert found_in(shares, members) == []


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(2, 4), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]))
def test_whatever_the_results_the_figures_are_possible(models, kinds, seed, rate):
    shares, members = a_suite({f"m{at}": [rate] * kinds for at in range(models)}, cases=6, seed=seed)

    for one in deviations(shares, members):
        assert 0 <= one.p <= one.adjusted <= 1
        assert one.interval[0] <= one.deviation <= one.interval[1]
        assert 0 <= one.rate <= 1 and 0 < one.expected < 1


@settings(max_examples=10)
@given(st.permutations("abcd"), st.integers(0, 1000))
def test_the_order_of_the_models_changes_nothing(order, seed):
    shares, members = a_suite({model: [0.8, 0.5, 0.7] for model in "abcd"}, cases=20, seed=seed)
    first = {(one.label, one.category): one.p for one in deviations(shares, members)}
    again = {(one.label, one.category): one.p for one in deviations({m: shares[m] for m in order}, members)}

    assert again == pytest.approx(first, abs=1e-6)


def test_planted_deviations_are_found_and_few_others():
    """The whole measurement is `make bench-differences`; these are its first seeds."""
    found = measure(KINDS[0], A_FEW)

    assert found.power >= 3.5
    assert found.false_share <= 0.15
