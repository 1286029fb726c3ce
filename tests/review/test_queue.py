"""Which failures are read when there are too many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import FailureKey
from errata.review.queue import WaitingFailure, sample


def a_failure(at, coarse, exact=""):
    return WaitingFailure(
        attempt=f"run:case-{at}", case=f"case-{at}", key=FailureKey(exact=exact or coarse, coarse=coarse)
    )


FAILURES = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("123")), max_size=40).map(
    lambda keys: [a_failure(at, coarse, coarse + exact) for at, (coarse, exact) in enumerate(keys)]
)


@pytest.mark.req("J-31")
def test_of_every_group_one_is_read_before_a_second_of_any():
    many = [a_failure(at, "a") for at in range(50)] + [a_failure(99, "b"), a_failure(98, "c")]

    assert {one.key.coarse for one in sample(many, 3).taken} == {"a", "b", "c"}


@pytest.mark.req("J-31")
def test_within_a_group_different_errors_come_first():
    many = [a_failure(0, "a", "x"), a_failure(1, "a", "x"), a_failure(2, "a", "y")]

    assert [one.attempt for one in sample(many, 2).taken] == ["run:case-0", "run:case-2"]


@given(FAILURES, st.integers(min_value=1, max_value=50))
def test_what_is_taken_and_what_is_left_out_are_all_there_are(many, limit):
    found = sample(many, limit)

    assert len(found.taken) == min(limit, len(many))
    assert len(found.taken) + sum(found.left_out.values()) == len(many)


@given(FAILURES, st.integers(min_value=1, max_value=50))
def test_a_larger_limit_only_adds(many, limit):
    fewer, more = ({one.attempt for one in sample(many, most).taken} for most in (limit, limit + 1))

    assert fewer <= more
