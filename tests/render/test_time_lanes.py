"""Failures in time."""

from hypothesis import given
from hypothesis import strategies as st

from errata.render.time_lanes import place_in, segments_of, time_lanes


def test_a_long_pause_is_cut_out_and_a_dot_is_drawn_for_each_place():
    hour = 3600.0
    drawn = time_lanes([("model", 0.0), ("model", 60.0), ("environment", 20 * hour)], str)

    assert drawn.count('class="pause"') == 1
    assert drawn.count("<circle") == 3
    assert "model 2, environment 1" in drawn


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=40))
def test_places_keep_the_order_of_time_and_stay_inside(times):
    segments = segments_of(times)
    places = [place_in(segments, at) for at in sorted(times)]

    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)
