"""Every two columns over the cases that both were measured on."""

import pytest
from matrices import a_matrix

from errata.compare.pairs import pairings, without_cells


def the_pair(first, second, *, out=(), without=()):
    matrix = a_matrix(first, second)
    (pair,) = pairings(matrix, without_cells(matrix, out), without=without)
    return pair


def test_only_cases_that_both_pass_or_fail_take_part():
    pair = the_pair(".F?~- .", "..F.FFF").all

    assert (pair.shared, pair.only_first_fails, pair.only_second_fails) == (3, 1, 1)


def test_the_test_is_mcnemars():
    pair = the_pair("." * 8 + "FF" + "..", "F" * 8 + ".." + "..").all

    assert (pair.only_first_fails, pair.only_second_fails) == (2, 8)
    assert pair.p == pytest.approx(0.109375)
    assert pair.difference == pytest.approx(0.5)
    assert not pair.differs


def test_the_second_figure_leaves_out_what_says_nothing_about_the_subject():
    pair = the_pair("F...", ".Fcc", out=[(1, "suite/0"), (2, "suite/2"), (2, "suite/3")])

    assert (pair.all.only_first_fails, pair.all.only_second_fails) == (1, 3)
    assert (pair.clean.shared, pair.clean.only_first_fails, pair.clean.only_second_fails) == (1, 0, 1)


def test_a_case_whose_task_was_edited_takes_no_part():
    assert the_pair("F.", ".F", without={"suite/0"}).all.shared == 1


def test_each_p_is_held_against_the_number_of_pairs():
    matrix = a_matrix("." * 6, "F" * 6, "." * 6)
    found = {(one.first, one.second): one.all for one in pairings(matrix, matrix)}

    assert found["a", "b"].p == pytest.approx(0.03125)
    assert found["a", "b"].adjusted == pytest.approx(3 * 0.03125)
    assert not found["a", "b"].differs


def test_a_case_that_passes_sometimes_is_counted_by_how_often():
    shares = the_pair(".~~", "F.F").shares

    assert shares is not None
    assert (shares.cases, shares.mean) == (3, pytest.approx((1 - 0.5 + 0.5) / 3))


def test_where_every_case_is_passed_or_failed_nothing_is_resampled():
    assert the_pair(".F!?", "F.~.").shares is None


def test_the_share_of_attempts_leaves_out_infrastructure_failures():
    shares = the_pair("~.F", "F..", out=[(1, "suite/2")]).shares

    assert shares is not None
    assert (shares.cases, shares.mean) == (2, pytest.approx(0.25))


def test_two_columns_are_told_apart_by_what_is_the_models_own():
    infrastructure = [(2, f"suite/{number}") for number in range(12)]

    assert the_pair("." * 20, "F" * 12 + "." * 8).better == 1
    assert the_pair("." * 20, "F" * 12 + "." * 8, out=infrastructure).better == 0
