"""How far a comparison can be trusted: what is said of pairs of runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model.output.report.comparison import PairTest
from errata.report.comparison_document import chance_words


def a_pair(**changes):
    given = {"first": "a", "second": "b", "shared": 30, "only_first_fails": 8, "only_second_fails": 2, "p": 0.01}
    given |= {"adjusted": 0.06, "differs": False, "clean_only_first_fails": 3, "clean_only_second_fails": 2}
    given |= {"clean_difference": -0.03, "clean_interval": (-0.2, 0.1)}
    return PairTest(**given | {"clean_p": 0.5, "clean_adjusted": 1.0, "clean_differs": False} | changes)


@pytest.mark.parametrize("differs", [True, False])
def test_the_p_that_is_shown_is_the_corrected_one_and_is_called_so(differs):
    words = chance_words([a_pair(differs=differs), a_pair(second="c", adjusted=0.9)], conversations=False)

    assert "p Holm-corrected for 2 pairs" in words
    assert "p = 0.06; p = 1.00 without knock-on and infrastructure failures" in words
    assert "0.01" not in words


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_of_several_pairs_the_one_with_the_smallest_p_is_named(values):
    pairs = [a_pair(second=f"run {at}", p=value, adjusted=value) for at, value in enumerate(values)]

    assert f"Smallest p: a vs. run {values.index(min(values))} (" in chance_words(pairs, conversations=False)
