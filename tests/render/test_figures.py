"""Figures in text."""

from hypothesis import given
from hypothesis import strategies as st

from errata.render.figures import p_value


@given(st.floats(min_value=0, max_value=1), st.sampled_from([2, 3]))
def test_no_p_value_is_shown_as_nothing(p, digits):
    shown = p_value(p, digits)

    assert shown == "p < 0.001" if p < 0.001 else float(shown.removeprefix("p = ")) > 0
