"""Times as text: UTC with `Z`, or local as the log has it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model.times import from_iso, from_milliseconds, is_local, parse


@pytest.mark.trap(14)
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"),
        ("2026-03-01T10:00:00+00:00", "2026-03-01T10:00:00Z"),
        ("2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00Z"),
        ("2026-03-01 10:00:00-08:00", "2026-03-01T18:00:00Z"),
        ("2026-03-01T10:00:00.250Z", "2026-03-01T10:00:00.250Z"),
        ("2026-03-01T10:00:00.250000+00:00", "2026-03-01T10:00:00.250Z"),
        ("2026-03-01T10:00:00", "2026-03-01T10:00:00"),
        ("2026-03-01 10:00:00", "2026-03-01T10:00:00"),
    ],
)
def test_a_time_is_kept_as_utc_or_as_the_local_time_it_is(said, kept):
    assert from_iso(said) == kept


@pytest.mark.parametrize(
    "said",
    ["", "yesterday", "2026-13-01T00:00:00", "2026-13-01T00:00:00Z", "2026-02-30T25:61:00Z", "12"],
)
def test_what_is_no_time_is_a_value_error(said):
    with pytest.raises(ValueError):
        from_iso(said)


def test_a_time_before_all_times_is_a_value_error_too():
    with pytest.raises(ValueError, match="range"):
        from_iso("0001-01-01T00:00:00+05:00")


def test_an_offset_and_z_of_one_moment_are_one_text():
    assert from_iso("2026-03-01T10:00:00.123456+00:00") == from_iso("2026-03-01T10:00:00.123456Z")


def test_a_local_time_is_marked_by_having_no_z():
    assert [is_local("2026-03-01T10:00:00"), is_local("2026-03-01T10:00:00Z")] == [True, False]


def test_a_utc_time_is_aware_and_a_local_one_is_not():
    assert parse("2026-03-01T10:00:00Z") == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert parse("2026-03-01T10:00:00").tzinfo is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "1970-01-01T00:00:00Z"), (1_772_359_200_000, "2026-03-01T10:00:00Z"), (1500.0, "1970-01-01T00:00:01.500Z")],
)
def test_milliseconds_since_1970_are_utc(value, text):
    assert from_milliseconds(value) == text


@given(st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.timezones()))
def test_whatever_is_given_with_an_offset_is_the_same_moment(moment):
    kept = parse(from_iso(moment.isoformat()))

    assert abs((kept - moment).total_seconds()) < 0.001


@given(st.text(st.sampled_from("0123456789-:TZ+. "), max_size=30))
def test_any_text_is_a_time_that_can_be_parsed_or_a_value_error(text):
    try:
        kept = from_iso(text)
    except ValueError:
        return
    parse(kept)


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_utc_as_python_writes_it_is_the_same_moment_as_with_another_offset(moment):
    elsewhere = moment.astimezone(timezone(timedelta(hours=1)))

    assert from_iso(moment.isoformat(timespec="microseconds")) == from_iso(elsewhere.isoformat())
