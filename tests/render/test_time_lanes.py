"""Failures in time."""

from errata.render.time_lanes import time_lanes


def test_a_long_pause_is_cut_out_and_a_dot_is_drawn_for_each_place():
    hour = 3600.0
    drawn = time_lanes([("model", 0.0), ("model", 60.0), ("environment", 20 * hour)], str)

    assert drawn.count('class="pause"') == 1
    assert drawn.count("<circle") == 3
    assert "model 2, environment 1" in drawn
