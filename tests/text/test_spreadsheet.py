"""Cells of a table that a spreadsheet may open."""

import pytest

from errata.text.spreadsheet import one_kind_of_line_end, quoted


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "  =cmd|' /C calc'!A0", "\t=1", "＝1+1", "\nx"])
def test_what_would_be_a_formula_is_quoted(text):
    assert quoted(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "yes", "1:pass|2:fail", "a = b", "'quoted", "[]"])
def test_everything_else_stays_as_it_is(text):
    assert quoted(text) == text


def test_line_ends_are_of_one_kind():
    assert one_kind_of_line_end("a\r\nb\rc\nd") == "a\nb\nc\nd"
