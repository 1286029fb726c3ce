"""What a review would cost (errata.review.plan)."""

import pytest
from a_packet import CONVEX, TURN, a_packet
from a_review import a_prompt
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Packet
from errata.review.plan import estimate_of, estimate_passes, tokens_in
from errata.review.prompts import prompt_for
from errata.review.protocols import Prompt


def a_price(tokens_in: int, tokens_out: int) -> float:
    return (tokens_in + 5 * tokens_out) / 1_000_000


def unknown(_tokens_in: int, _tokens_out: int) -> None:
    return None


def all_of(packets: list[Packet], known=lambda _packet, _prompt: False, price=a_price):
    return estimate_passes(packets, a_prompt, [(known, price)])[0]


def test_what_is_in_the_ledger_costs_nothing():
    found = all_of([CONVEX, TURN], known=lambda *_: True)

    assert (found.packets, found.cached, found.calls, found.cost) == (2, 2, 0, 0.0)


def test_a_price_that_nobody_knows_is_not_zero():
    assert all_of([CONVEX], price=unknown).cost is None
    assert estimate_of(a_prompt(CONVEX), unknown).cost is None


def test_rounds_of_repair_are_part_of_it():
    once = estimate_of(a_prompt(CONVEX), a_price)

    assert all_of([CONVEX]).tokens_out > once.output


@pytest.mark.parametrize("text", ["数据库连接失败" * 1_000, "ошибка " * 1_000])
def test_letters_of_other_scripts_are_not_taken_for_cheap(text):
    assert tokens_in(text) >= len(text) / 2


@given(st.text(max_size=200))
def test_a_longer_prompt_is_never_estimated_lower(text):
    assert tokens_in(f"{text}x") >= tokens_in(text) >= 1


def test_one_call_is_estimated_by_all_that_is_sent():
    prompt = prompt_for(a_packet(), marker="0a1b2c3d4e5f6071")
    shorter = Prompt("", prompt.data, "", prompt.marker, {}, "")

    assert estimate_of(prompt, a_price).input > estimate_of(shorter, a_price).input
