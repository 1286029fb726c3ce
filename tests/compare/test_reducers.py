"""Several tries at a case as one value."""

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.compare.reducers import pass_all, pass_at, reducer_named

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


@pytest.mark.parametrize("name", ["majority", "pass_at_", "pass_at_0", "at_least_two", "pass_at_9999999"])
def test_an_unknown_reducer_is_unknown(name):
    assert reducer_named(name) is None
