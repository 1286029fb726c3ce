"""Who&When and sessions of coding agents state no number: that is said."""

import pytest
from test_reported_numbers import FIXTURES, NO_HEADLINE, data, named, recomputed


@pytest.mark.parametrize("path", data("who_and_when", "coding_sessions"), ids=named)
def test_what_is_no_benchmark_has_no_number_to_reproduce(path):
    assert [score["note"] for _, _, score in recomputed(path)] == [NO_HEADLINE] * len([*recomputed(path)])


def test_results_that_are_joined_with_sessions_have_no_number_either():
    for _, _, score in recomputed(FIXTURES / "generic" / "sessions" / "data"):
        assert score["note"] == NO_HEADLINE
