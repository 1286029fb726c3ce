"""Text on a page: no line is wider than it may be, and nothing is lost by folding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.cli.fitting import columns, cut, fold, padded, short_path

TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=120)


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("ä", 1), ("漢字", 4), ("e\u0301", 1), ("…", 1), ("", 0)])
def test_a_character_takes_as_many_columns_as_a_terminal_gives_it(text, width):
    assert columns(text) == width


@given(TEXTS, st.integers(2, 40))
def test_folded_lines_fit(text, width):
    assert all(columns(line) <= width for line in fold(text, width))


@given(TEXTS, st.integers(2, 40))
def test_folding_loses_nothing_but_blanks(text, width):
    assert "".join("".join(fold(text, width)).split()) == "".join(text.split())


@given(TEXTS, st.integers(1, 40))
def test_what_is_cut_fits(text, width):
    assert columns(cut(text, width)) <= width


def test_what_fits_is_not_cut():
    assert cut("all of it", 9) == "all of it"


def test_a_line_is_broken_at_a_blank():
    assert fold("one two three four", 9) == ["one two", "three", "four"]


def test_the_first_line_may_have_another_width():
    assert fold("one two three", 6, first=12) == ["one two", "three"]


def test_the_indentation_of_code_stays():
    assert fold("    return one", 20) == ["    return one"]


def test_lines_of_their_own_stay_apart():
    assert fold("one\n\ntwo", 20) == ["one", "", "two"]


def test_a_long_path_is_broken_behind_a_slash():
    assert fold("a/long/path/to/somewhere/else.json", 20) == ["a/long/path/to/", "somewhere/else.json"]


def test_a_path_that_is_there_to_be_copied_stays_in_one_piece():
    assert fold("see a/long/path/to/somewhere.json", 10, whole_words=True) == ["see", "a/long/path/to/somewhere.json"]


def test_wide_characters_line_up():
    assert columns(padded("漢字", 6)) == columns(padded("ab", 6)) == 6


@given(names=st.lists(st.text("abcdef界-.", min_size=1, max_size=30), min_size=1, max_size=8), width=st.integers(4, 80))
def test_a_shortened_path_fits(names, width):
    assert columns(short_path("/".join(names), width)) <= width


def test_a_shortened_path_keeps_its_first_name_and_its_file():
    path = "blind-maze/blind-maze.1-of-1.2025-11-09__14-07-43/panes/post-agent.txt:1873"
    assert short_path(path, 80) == path
    assert short_path(path, 50) == "blind-maze/…/panes/post-agent.txt:1873"
    assert short_path(path, 34) == "blind-maze/…/post-agent.txt:1873"
    assert short_path(path, 25) == "…/post-agent.txt:1873"
