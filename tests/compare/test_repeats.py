"""Cases that were tried several times."""

from itertools import combinations
from math import prod
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.compare.repeats import RepeatedCase, pass_all, pass_at, reducer_named, reliability, status_of
from errata.model import Check
from errata.testing import an_attempt

VALUES = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=12)


@given(VALUES, st.integers(1, 12))
def test_pass_at_k_is_the_unbiased_estimate(values, k):
    total, correct = len(values), values.count(1.0)
    missed = prod(1 - k / n for n in range(total - correct + 1, total + 1)) if total - correct >= k else 0.0

    found = pass_at(values, k=k)

    assert found is None if total < k else found == pytest.approx(1 - missed)


@given(VALUES, st.integers(1, 12))
def test_all_of_k_is_never_likelier_than_one_of_k(values, k):
    one, every = pass_at(values, k=k), pass_all(values, k=k)

    assert (one is None and every is None) or 0 <= every <= one <= 1


@given(VALUES, st.sampled_from(["", "mean", "median", "mode", "max"]))
def test_a_reduced_value_lies_among_the_values(values, name):
    reduced = reducer_named(name)(values)

    assert min(values) <= reduced <= max(values)


statuses = st.lists(st.sampled_from(["pass", "fail", "incomplete"]), min_size=1, max_size=7)


def tried(*given_statuses, case="case-1"):
    return RepeatedCase(case=case, statuses=given_statuses)


@settings(deadline=None)
@given(st.lists(statuses, min_size=1, max_size=6))
def test_k_tries_give_what_all_sets_of_k_tries_give(cases):
    found = reliability([tried(*one) for one in cases])

    measured = [[status == "pass" for status in one if status != "incomplete"] for one in cases]
    for result in found:
        sets = [list(combinations(one, result.k)) for one in measured if len(one) >= result.k]
        assert result.cases == len(sets)
        assert result.any == pytest.approx(fmean(fmean(map(any, those)) for those in sets))
        assert result.all == pytest.approx(fmean(fmean(map(all, those)) for those in sets))


@settings(deadline=None)
@given(st.lists(statuses, min_size=1, max_size=6))
def test_it_is_told_for_every_k_that_some_case_allows(cases):
    most = max(sum(status != "incomplete" for status in one) for one in cases)

    assert [one.k for one in reliability([tried(*one) for one in cases])] == [
        k for k in range(1, most + 1) if k <= 5 or k == most
    ]


@settings(deadline=None)
@given(statuses)
def test_flaky_is_both_passed_and_failed(given_statuses):
    assert tried(*given_statuses).is_flaky == ({"pass", "fail"} <= set(given_statuses))


def test_a_try_that_was_not_measured_makes_no_case_flaky():
    one = tried("pass", "incomplete")

    assert (one.is_flaky, one.is_unstable, one.frequency) == (False, True, "1/1")


@pytest.mark.parametrize(
    "facts, status",
    [
        (("completed", "scored", "pass"), "pass"),
        (("limit", "scored", "pass"), "pass"),
        (("completed", "scored", "fail"), "fail"),
        (("completed", "unscored", "none"), "incomplete"),
        (("error", "not_run", "none"), "incomplete"),
        (("unfinished", "not_run", "none"), "incomplete"),
        (("error", "scored", "none"), "incomplete"),
    ],
)
def test_the_outcome_is_the_status(facts, status):
    execution, measurement, outcome = facts

    assert status_of(an_attempt(execution=execution, measurement=measurement, outcome=outcome)) == status


def test_an_answer_that_never_came_and_was_failed_by_a_judge_is_failed():
    checks = (Check(name="turn_taking", status="fail"),)

    assert status_of(an_attempt(execution="error", outcome="none", checks=checks)) == "fail"


@pytest.mark.parametrize("reported, status", [(0.4, "fail"), (0.8, "pass")])
def test_a_graded_value_passes_where_it_reaches_its_threshold(reported, status):
    assert status_of(an_attempt(outcome="partial", reported=reported, threshold=0.5)) == status
