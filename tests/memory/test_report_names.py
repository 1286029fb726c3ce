"""What the path of a report tells, and days however they are written."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.memory.report_files import parse_file_name

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
