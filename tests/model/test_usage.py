"""Tokens and money: absent is not zero."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Usage, UsageByRole
from errata.model.codec import pack, unpack
from errata.model.usage import total_of

COSTS = st.none() | st.floats(0, 1e6)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (Usage(), None),
        (Usage(cache_read=5), None),
        (Usage(input=0), 0),
        (Usage(input=3), 3),
        (Usage(output=4), 4),
        (Usage(input=3, output=4), 7),
        (Usage(input=3, output=4, total=9), 9),
        (Usage(input=3, output=4, total=0), 0),
    ],
    ids=str,
)
def test_tokens_are_the_total_as_given_else_what_is_known(usage, tokens):
    assert usage.tokens == tokens


@pytest.mark.trap(12)
def test_a_cost_that_nobody_states_is_unknown():
    assert UsageByRole().cost is None


def test_a_stated_cost_of_nothing_is_zero():
    assert UsageByRole(subject=Usage(cost=0.0)).cost == 0.0


@given(COSTS, COSTS, COSTS)
def test_the_cost_of_all_roles_is_the_sum_of_what_is_known(subject, judge, simulator):
    usage = UsageByRole(subject=Usage(cost=subject), judge=Usage(cost=judge), simulator=Usage(cost=simulator))

    known = [cost for cost in (subject, judge, simulator) if cost is not None]

    assert usage.cost == (pytest.approx(sum(known)) if known else None)


@given(COSTS, COSTS)
def test_the_cost_survives_the_store(subject, judge):
    usage = UsageByRole(subject=Usage(cost=subject), judge=Usage(cost=judge))

    assert unpack(pack(usage), UsageByRole).cost == usage.cost


@pytest.mark.parametrize(("values", "total"), [([], None), ([None], None), ([0.0], 0.0), ([None, 1.5, 2], 3.5)])
def test_a_total_is_of_what_is_known(values, total):
    assert total_of(values) == total
