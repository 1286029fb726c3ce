"""What was done about a run goes from one of its reports into the next, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.memory.actions_section import section_text, with_section_text

NEW = "# Run Analysis\n\n## Net Impact\n\n5 of 9\n\n## Actions taken\n\nNone\n\n<!-- errata:memory {} -->\n"
DONE = "1. 2026-03-04: `eslint.config.mjs` ignores unused arguments.\n2. by hand\n   too\n\n| a |\n|---|\n| 1 |"


@pytest.mark.req("C-22", "C-29")
def test_none_is_nothing_to_keep():
    assert section_text(NEW) == ""
    assert with_section_text(NEW, "") == NEW


@pytest.mark.req("C-22", "C-32")
def test_what_was_done_is_carried_over_word_for_word():
    old = NEW.replace("None", DONE)

    assert section_text(old) == DONE
    assert with_section_text(NEW, section_text(old)) == old


def test_what_errata_remembers_is_no_part_of_the_section():
    made = with_section_text(NEW, DONE)

    assert made.endswith("<!-- errata:memory {} -->\n")
    assert "errata:memory" not in section_text(made)


def test_carrying_over_twice_changes_nothing():
    once = with_section_text(NEW, DONE)

    assert with_section_text(NEW, section_text(once)) == once


@given(st.lists(st.text(alphabet="ab `*|#-.1\n", min_size=1, max_size=20), min_size=1, max_size=5))
def test_any_list_of_words_survives(words):
    result = "\n".join(f"- x{' '.join(word.split())}" for word in words)

    assert section_text(with_section_text(NEW, result)).split() == result.split()


def test_a_section_before_others_is_kept_too():
    old = "# R\n\n## Actions taken\n\n- did it\n\n## Net impact\n\nall\n"

    assert section_text(old) == "- did it"
