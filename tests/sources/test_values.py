"""Values out of logs: of the right type, finite, and such as every store can hold."""

import pytest
from hypothesis import strategies as st

from errata.sources.shared import values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


@pytest.mark.trap(13)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), True, None, []])
def test_what_is_no_finite_number_is_absent_and_not_zero(value):
    assert values.number(value) is None


@pytest.mark.parametrize("value", [-1, 1.5, 2**63, 1e30, "3", None, True])
def test_what_can_be_no_count_is_absent(value):
    assert values.count(value) is None


@pytest.mark.parametrize("value", [0, 7, 7.0, 2**63 - 1])
def test_a_count_is_a_whole_number(value):
    assert values.count(value) == int(value)


@pytest.mark.parametrize("value", ["", "yesterday", "2026-13-01", 5, None, "0001-01-01T00:00:00+05:00"])
def test_what_is_no_time_is_absent(value):
    assert values.moment(value) is None


def test_a_time_with_an_offset_is_told_in_utc():
    assert values.moment("2026-03-01T10:00:00+02:00") == "2026-03-01T08:00:00Z"


@pytest.mark.parametrize(
    "path", ["/data/results/batch-7", "C:\\results\\batch-7\\", "batch-7", "/data/results/batch-7/"]
)
def test_a_path_of_any_machine_has_a_last_part(path):
    assert values.last_part(path) == "batch-7"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (2**64, "18446744073709551616"),
        (10**5000, hex(10**5000)),
        ((1, 2), [1, 2]),
    ],
    ids=("nan", "infinity", "65 bits", "5001 digits", "tuple"),
)
def test_what_no_store_can_hold_stays_as_its_text(value, shown):
    assert values.plain(value) == shown


def test_a_field_without_a_home_is_kept_even_where_it_is_zero_or_false():
    document = {"taken": 1, "zero": 0, "no": False, "blank": "", "none": None, "empty": {}, "bare": []}

    assert values.rest(document, ("taken",)) == {"zero": 0, "no": False, "blank": ""}
