"""Figures in text."""

from hypothesis import given
from hypothesis import strategies as st

from errata.render.figures import half_up, p_value, percent, points


@given(st.floats(min_value=0, max_value=1), st.sampled_from([2, 3]))
def test_no_p_value_is_shown_as_nothing(p, digits):
    shown = p_value(p, digits)

    assert shown == "p < 0.001" if p < 0.001 else float(shown.removeprefix("p = ")) > 0


def test_half_of_the_last_digit_rounds_up_in_every_share():
    assert (percent(13 / 16), percent(0.125, 0), percent(None)) == ("81.3 %", "13 %", "–")
    assert points(-0.0625) == "-6.3 points"


@given(st.floats(0, 100), st.integers(0, 2))
def test_rounding_moves_a_figure_by_at_most_half_of_the_last_digit(value, digits):
    assert abs(half_up(value, digits) - value) <= 0.5 / 10**digits + 1e-6
