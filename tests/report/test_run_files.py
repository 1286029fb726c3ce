"""Where a report about a run is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.report.run_files import report_path


@pytest.mark.req("C-22")
@pytest.mark.parametrize(
    ("model", "provider", "path"),
    [
        ("acme/nimbus-2-coder", "openrouter", "acme/nimbus-2-coder/jn7mqywb_2026-03-10.md"),
        ("nimbus-2-coder", "openrouter", "openrouter/nimbus-2-coder/jn7mqywb_2026-03-10.md"),
        ("nimbus-2-coder", "", "unknown/nimbus-2-coder/jn7mqywb_2026-03-10.md"),
        ("", "", "unknown/unknown/jn7mqywb_2026-03-10.md"),
        ("a/b/c:free", "x", "a/b-c-free/jn7mqywb_2026-03-10.md"),
        ("../../etc", "x", "unknown/etc/jn7mqywb_2026-03-10.md"),
    ],
)
def test_the_provider_is_of_the_models_name_else_of_the_run_else_unknown(model, provider, path):
    assert report_path(model, provider, "jn7mqywbwe952an46zjcswtz9r7by5p7", "2026-03-10") == path


@pytest.mark.req("C-22")
@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_whatever_the_names_hold_there_are_two_folders_and_a_file(model, provider, run):
    parts = report_path(model, provider, run, "2026-03-10").split("/")

    assert len(parts) == 3
    assert all(part and not part.startswith((".", "-")) and part.isascii() for part in parts)
