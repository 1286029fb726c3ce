"""Text on a page: no line is wider than it may be, and nothing is lost by folding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.cli.fitting import columns, fold, short_path

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


def test_a_path_that_is_there_to_be_copied_stays_in_one_piece():
    assert fold("see a/long/path/to/somewhere.json", 10, whole_words=True) == ["see", "a/long/path/to/somewhere.json"]


def test_a_shortened_path_keeps_its_first_name_and_its_file():
    path = "blind-maze/blind-maze.1-of-1.2025-11-09__14-07-43/panes/post-agent.txt:1873"
    assert short_path(path, 80) == path
    assert short_path(path, 50) == "blind-maze/…/panes/post-agent.txt:1873"
    assert short_path(path, 34) == "blind-maze/…/post-agent.txt:1873"
    assert short_path(path, 25) == "…/post-agent.txt:1873"
