"""What the path of a report tells, and days however they are written."""

from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from errata.memory.reading.dates import date_in, without_date
from errata.memory.report_files import parse_file_name

FORMS = (
    "{0:%Y-%m-%d}",
    "{0:%Y/%m/%d}",
    "{0:%Y.%m.%d}",
    "{0:%Y%m%d}",
    "{0:%d.%m.%Y}",
    "{0.day} {0:%B} {0:%Y}",
    "{0.day} {0:%b} {0:%Y}",
    "{0:%B} {0.day}, {0:%Y}",
    "{0:%b}. {0.day} {0:%Y}",
    "{0.day}th of {0:%B}, {0:%Y}",
    "{0:%Y-%m-%d}T10:00:00Z",
)
days = st.dates(min_value=date(2000, 1, 1), max_value=date(2099, 12, 31))


@pytest.mark.req("A-05")
@pytest.mark.trap(21)
@pytest.mark.parametrize(
    ("below", "told"),
    [
        ("acme/nimbus-2-coder/jn71a14a_2026-02-20.md", ("acme", "nimbus-2-coder", "jn71a14a", "2026-02-20")),
        ("nimbus-2-coder_jn7vec_2026-02-12.md", ("", "nimbus-2-coder", "jn7vec", "2026-02-12")),
        ("google/gemini-3-1-pro/jn7abcdef_2026-01-02.md", ("google", "gemini-3-1-pro", "jn7abcdef", "2026-01-02")),
        ("my_model_v2_jn7vecabc_2026-02-12.md", ("", "my_model_v2", "jn7vecabc", "2026-02-12")),
        ("openrouter/acme/nimbus/jn7abcde_2026-01-02.md", ("acme", "nimbus", "jn7abcde", "2026-01-02")),
        ("nimbus/jn7abcde_20260102.md", ("", "nimbus", "jn7abcde", "2026-01-02")),
        ("acme/nimbus/nimbus_jn7abcde_2026-01-02.md", ("acme", "nimbus", "jn7abcde", "2026-01-02")),
        ("gpt-4o_2026-01-02.md", ("", "gpt-4o", "", "2026-01-02")),
        ("acme/nimbus/local_bounded_query_2026-09-08.md", ("acme", "nimbus", "", "2026-09-08")),
        ("README.md", ("", "", "", "")),
        ("acme/nimbus/jn7abcde_2026-99-99.md", ("", "", "", "")),
    ],
)
def test_both_naming_schemes_tell_model_run_and_day(below, told):
    assert parse_file_name(below) == told


@pytest.mark.req("A-05")
@given(
    model=st.from_regex(r"[a-z]{3,8}(-[0-9]{1,2})?(-[a-z]{3,6})?", fullmatch=True),
    run=st.from_regex(r"jn7[a-z0-9]{3,20}", fullmatch=True),
    day=days,
)
def test_a_prefix_of_any_length_is_found_in_both_schemes(model, run, day):
    assert parse_file_name(f"acme/{model}/{run}_{day}.md")[1:] == (model, run, str(day))
    assert parse_file_name(f"{model}_{run}_{day}.md")[1:] == (model, run, str(day))


@given(day=days, form=st.sampled_from(FORMS))
def test_a_day_is_found_however_it_is_written(day, form):
    assert date_in(f"done on {form.format(day)} by us") == str(day)


@given(day=days)
def test_a_day_between_slashes_is_taken_only_where_it_can_be_no_other(day):
    either = {f"{day.month}/{day.day}/{day.year}", f"{day.day}/{day.month}/{day.year}"}

    found = {date_in(text) for text in either}

    assert found == ({str(day)} if day.day > 12 or day.day == day.month else {""})


@pytest.mark.parametrize("text", ["", "v1.2.2026", "2026-13-01", "1234567890", "run 20261399", "12/2026", "0000-01-01"])
def test_what_is_no_day_is_none(text):
    assert date_in(text) == ""


@given(day=days, form=st.sampled_from(FORMS[:-1]))
def test_a_line_without_its_day_is_what_else_it_says(day, form):
    assume("T10" not in form)

    assert without_date(f"{form.format(day)}: lint was changed") == "lint was changed"
    assert without_date(f"On {form.format(day)} lint was changed").strip() == "lint was changed"
