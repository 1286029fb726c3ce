"""What changed from one run to another."""

from hypothesis import given
from matrices import STATES, a_matrix, numbers, words

from errata.compare.flips import KINDS, flips_between


def flips(before, after):
    matrix = a_matrix(before, after)
    return {kind: numbers(cases) for kind, cases in flips_between(matrix, 0, 1).by_kind.items() if cases}


def test_what_passed_and_fails_now_has_regressed():
    assert flips("..", "Fe") == {"regressed": [0, 1]}


def test_what_failed_and_passes_now_is_fixed():
    assert flips("Fc", "..") == {"fixed": [0, 1]}


def test_what_stayed_as_it_was_is_told_apart():
    assert flips(".F", ".e") == {"still_passing": [0], "still_failing": [1]}


def test_a_case_that_only_one_run_knows_is_new_or_gone():
    assert flips(" F", ". ") == {"new": [0], "gone": [1]}


def test_nothing_is_said_of_a_case_without_a_verdict():
    assert flips("?.~-", ".?F!") == {"undecided": [0, 1, 2, 3]}


def test_the_two_columns_are_named():
    found = flips_between(a_matrix(".", "F", models="aa"), 0, 1)

    assert (found.first, found.second) == ("a #1", "a #2")


@given(words())
def test_every_case_of_the_two_runs_is_in_exactly_one_kind(made):
    runs = [word for word, _ in made]
    matrix = a_matrix(runs[0], runs[-1], *runs[1:-1])
    found = flips_between(matrix, 0, 1).by_kind
    known = [case for case, row in matrix.rows.items() if row[0] or row[1]]

    assert set(found) == set(KINDS)
    assert sorted(case for cases in found.values() for case in cases) == sorted(known)


@given(words(letters="".join(STATES)))
def test_to_go_back_is_to_turn_every_flip_around(made):
    matrix = a_matrix(made[0][0], made[-1][0])
    there, back = flips_between(matrix, 0, 1), flips_between(matrix, 1, 0)

    assert (there.regressed, there.fixed) == (back.fixed, back.regressed)
    assert (there.still_failing, there.still_passing) == (back.still_failing, back.still_passing)
