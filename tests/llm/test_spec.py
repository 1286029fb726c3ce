"""What tokens cost: the user's own figures, the list, or nobody knows."""

import pytest

from errata.llm.spec import ModelSpec, cost_of


def test_the_users_own_figures_come_first():
    assert cost_of(ModelSpec(name="openai:gpt-4o", price_in=3.0, price_out=10.0), 1_000_000, 100_000) == 4.0


@pytest.mark.parametrize("half", [{"price_in": 1.0}, {"price_out": 1.0}])
@pytest.mark.parametrize("base_url", ["", "http://127.0.0.1/v1"])
def test_half_a_price_is_none(half, base_url):
    assert cost_of(ModelSpec(name="openai:gpt-4o", base_url=base_url, **half), 1_000, 1_000) is None


def test_what_is_free_costs_nothing():
    assert cost_of(ModelSpec(name="m", price_in=0.0, price_out=0.0), 1_000, 1_000) == 0.0


def test_a_model_on_the_list_has_a_price():
    assert cost_of(ModelSpec(name="openai:gpt-4o"), 1_000, 1_000) == pytest.approx(0.0125)


@pytest.mark.parametrize("spec", [ModelSpec(name="m", base_url="http://127.0.0.1/v1"), ModelSpec(name="openai:none-9")])
def test_a_price_that_nobody_knows_is_not_zero(spec):
    assert cost_of(spec, 1_000, 1_000) is None
