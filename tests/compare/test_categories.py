"""Failed rows by category, and whether one is harder beyond chance."""

import pytest
import scipy  # its parts are imported when they are used, not while tests are collected
from hypothesis import given
from hypothesis import strategies as st
from matrices import a_matrix

from errata.compare.categories import by_category, members_of, overlap_of
from errata.compare.significance import fisher
from errata.model.counts import CategoryOverlap


def everything(_cell):
    return True


def counted(matrix, members, telling=everything):
    named = {name: [f"suite/{number}" for number in numbers] for name, numbers in members.items()}
    return {one.name: one for one in by_category(matrix, named, telling)}


def test_failed_rows_are_counted_for_each_run_and_in_all():
    one = counted(a_matrix("FF.", "F?e"), {"x": [0, 1, 2]})["x"]

    assert (one.cases, one.by_run, one.failed_rows) == (3, (2, 2), 4)


def test_a_case_of_several_categories_counts_in_each():
    found = counted(a_matrix("F.", "F."), {"x": [0], "y": [0, 1]})

    assert (found["x"].failed_rows, found["y"].failed_rows) == (2, 2)


def test_a_case_with_several_categories_is_a_member_of_each():
    assert members_of({"a": ("x", "y"), "b": ("y",)}) == {"x": ["a"], "y": ["a", "b"]}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 4)),
    st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("xyz"), min_size=1)),
)
def test_the_overlap_says_why_categories_do_not_add_up(failures, categories):
    overlap = overlap_of(failures, categories)
    members = members_of(categories)
    in_all = sum(failures.get(case, 0) for cases in members.values() for case in cases)
    again = sum(failures.get(case, 0) * (len(names) - 1) for case, names in categories.items())

    if overlap == CategoryOverlap() and categories:
        assert in_all == sum(failures.values())
    assert in_all == sum(failures.values()) + again - (overlap.none if categories else sum(failures.values()))


def test_a_case_is_hard_where_half_of_the_runs_fail_it():
    one = counted(a_matrix("FF..", "F..?", "F..."), {"x": [0, 1, 2, 3], "y": [0]})["x"]

    assert (one.tried, one.hard) == (4, 1)


def test_what_says_nothing_about_the_subject_makes_no_case_hard():
    matrix = a_matrix("e.", "..")
    found = counted(matrix, {"x": [0], "y": [1]}, lambda cell: cell.state != "error")

    assert (found["x"].failed_rows, found["x"].hard) == (1, 0)


@pytest.mark.req("C-19")
def test_a_category_is_harder_where_the_exact_test_says_so():
    found = counted(a_matrix("FF" + "." * 8), {"x": [0, 1], "y": list(range(2, 10))})

    assert found["x"].p == pytest.approx(1 / 45)
    assert found["x"].adjusted == pytest.approx(2 / 45)
    assert found["x"].harder
    assert not found["y"].harder


@pytest.mark.req("C-19")
def test_among_many_categories_a_small_p_is_to_be_expected():
    members = {"x": [0, 1]} | {f"y{number}": [number] for number in range(2, 10)}

    assert not any(one.harder for one in counted(a_matrix("FF" + "." * 8), members).values())


def test_an_easier_category_is_not_harder():
    found = counted(a_matrix("." * 12 + "F" * 12), {"easy": list(range(12)), "hard": list(range(12, 24))})

    assert (found["easy"].harder, found["hard"].harder) == (False, True)
    assert found["easy"].p == found["hard"].p


@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_the_exact_test_is_fishers(table):
    hard, easy, other_hard, other_easy = table
    expected = scipy.stats.fisher_exact([[hard, easy], [other_hard, other_easy]]).pvalue
    found = fisher(hard, hard + easy, hard + other_hard, sum(table))

    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
