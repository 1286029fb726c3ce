"""The benchmark of evidence logs: what counts as held, and what chance would hold."""

import pytest
from bench.steps.__main__ import LabelledLog


def a_log(*flagged, step=4, steps=10):
    return LabelledLog("1", flagged, step, "", dict.fromkeys(range(steps), "A"))


def test_a_step_is_held_exactly_or_within_one():
    log = a_log(7, 5)

    assert not log.holds(None)
    assert log.holds(None, away=1)
    assert not log.holds(1, away=1)


@pytest.mark.parametrize(
    ("flagged", "away", "chance"), [((1,), 0, 0.1), ((1, 2, 3), 0, 0.3), ((1,), 1, 0.3), ((), 0, 0), (range(10), 0, 1)]
)
def test_chance_is_that_of_drawing_as_many_steps_at_random(flagged, away, chance):
    assert a_log(*flagged).by_chance(None, away) == pytest.approx(chance)


def test_a_marked_step_at_the_edge_has_one_neighbour_less():
    assert a_log(1, step=0).by_chance(None, away=1) == pytest.approx(0.2)
