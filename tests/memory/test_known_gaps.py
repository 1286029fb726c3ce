"""Which case falls under which known gap."""

import pytest

from errata.memory.known_gaps import gap_for, gap_id, is_pattern, pattern_over_keys
from errata.model import KnownGap

OF_CASE = KnownGap(suite="evals", case_key="evals/002/006", text="of the case")
OF_PATTERN = KnownGap(suite="evals", pattern="evals/002/*", text="of the pattern")


def test_a_case_falls_under_its_own_gap_before_that_of_a_pattern():
    assert gap_for("evals/002/006", [OF_PATTERN, OF_CASE]) is OF_CASE


def test_a_case_falls_under_a_pattern():
    assert gap_for("evals/002/001", [OF_CASE, OF_PATTERN]) is OF_PATTERN


@pytest.mark.parametrize("key", ["evals/003/001", "evals/002", "other/002/006", "002/006"])
def test_other_cases_fall_under_none(key):
    assert gap_for(key, [OF_CASE, OF_PATTERN]) is None


def test_a_gap_without_a_case_and_a_pattern_is_of_none():
    assert gap_for("", [KnownGap(text="empty")]) is None


def test_a_gap_told_in_other_words_is_the_same():
    assert gap_id(OF_CASE) == gap_id(KnownGap(suite="evals", case_key="evals/002/006", text="in other words"))
    assert gap_id(OF_CASE) != gap_id(OF_PATTERN)


def test_the_name_of_a_suite_is_no_pattern():
    pattern = pattern_over_keys("evals [v1]*", "002/*")

    assert gap_for("evals [v1]*/002/006", [KnownGap(pattern=pattern, text="")])
    assert not gap_for("evals v/002/006", [KnownGap(pattern=pattern, text="")])


def test_a_pattern_over_keys_stays_as_it_is():
    assert pattern_over_keys("evals", "evals/002/*") == "evals/002/*"


def test_a_suite_without_a_name_changes_nothing():
    assert pattern_over_keys("", "002/*") == "002/*"


def test_what_is_a_pattern():
    assert [is_pattern(text) for text in ("a/*", "a?", "a[1]", "a/b-c")] == [True, True, True, False]
