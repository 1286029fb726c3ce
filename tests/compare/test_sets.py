"""Which cases all fail, which set one run apart, and which changed."""

import pytest
from hypothesis import given
from matrices import STATES, a_matrix, numbers, words

from errata.compare.sets import KINDS, each_run, failed_by_all, flips_between, instability, uniques

PASS, FAIL = ".", "Fec"


def of_runs(matrix):
    return uniques(matrix, each_run(matrix))


def of_subjects(matrix):
    return uniques(matrix, matrix.subjects)


@pytest.mark.req("J-11")
def test_what_all_runs_fail_is_failed_by_all():
    assert numbers(failed_by_all(a_matrix("FFF.", "Fe.F", "FF?F")).runs) == [0, 1]


@pytest.mark.req("J-11")
def test_a_model_counts_as_failed_in_some_run_or_in_every_run():
    found = failed_by_all(a_matrix("F.F", "FF.", "FF.", models="aab"))

    assert numbers(found.subjects_in_some_run) == [0, 1]
    assert numbers(found.subjects_in_every_run) == [0]


@pytest.mark.req("J-11")
@pytest.mark.trap(9)
def test_a_turn_without_a_verdict_is_neither_failed_by_all_nor_a_unique_pass():
    matrix = a_matrix("FF", "FF", "?.")

    assert numbers(failed_by_all(matrix).runs) == []
    assert numbers(of_runs(matrix).passes["c"]) == [1]


@pytest.mark.req("J-11")
def test_a_unique_fail_is_one_that_no_other_run_fails():
    found = of_runs(a_matrix("F.FF", ".FF?", "..FF")).fails

    assert {name: numbers(cases) for name, cases in found.items()} == {"a": [0], "b": [1], "c": []}


def test_a_unique_fail_of_a_model_may_be_of_any_of_its_runs():
    matrix = a_matrix("F..", ".F.", "..F", models="aab")

    assert {name: numbers(cases) for name, cases in of_subjects(matrix).fails.items()} == {"a": [0, 1], "b": [2]}


def test_a_unique_pass_of_a_model_needs_a_pass_and_no_fail():
    matrix = a_matrix("..F?-", ".F.??", "FFFFF", models="aab")

    assert numbers(of_subjects(matrix).passes["a"]) == [0]


@pytest.mark.req("J-24")
def test_a_case_is_unstable_where_runs_of_one_model_disagree():
    found = instability(a_matrix("F.F.~", "FF??.", "FFFFF", models="aab"))

    assert list(found) == ["a"]
    assert found["a"].runs == 2
    assert numbers(found["a"].unstable) == [1, 4]
    assert numbers(found["a"].failed_in_every_run) == [0]


def test_rows_that_contradict_each_other_are_not_the_models_wavering():
    assert numbers(instability(a_matrix("!!", "F.", models="aa"))["a"].unstable) == []


def test_a_fail_beside_a_gap_is_not_a_unique_one():
    found = of_runs(a_matrix("FF", ".?"))

    assert numbers(found.fails["a"]) == [0]
    assert numbers(found.fails_beside_gaps["a"]) == [1]


def test_a_model_without_any_result_is_a_gap_and_one_with_some_is_not():
    found = of_subjects(a_matrix("FF", "..", ".?", "??", models="abcc"))

    assert numbers(found.fails["a"]) == [0]
    assert numbers(found.fails_beside_gaps["a"]) == [1]


RESULTS = PASS + FAIL + "~!"


def brute(runs, models):
    """The same from the definitions, with sets of runs for each case."""
    for number, letters in enumerate(zip(*runs, strict=True)):
        fails = {at for at, letter in enumerate(letters) if letter in FAIL}
        passes = {at for at, letter in enumerate(letters) if letter in PASS}
        ever_fails = fails | {at for at, letter in enumerate(letters) if letter in "~!"}
        of = {model: {at for at, one in enumerate(models) if one == model} for model in models}
        yield number, fails, passes, ever_fails, of


@pytest.mark.req("J-11")
@given(words())
def test_failed_by_all_is_what_brute_force_finds(made):
    runs, models = [word for word, _ in made], [model for _, model in made]
    found = failed_by_all(a_matrix(*runs, models="".join(models)))
    every = [number for number, fails, *_ in brute(runs, models) if len(fails) == len(runs)]
    some = [number for number, fails, *_, of in brute(runs, models) if all(those & fails for those in of.values())]

    assert (numbers(found.runs), numbers(found.subjects_in_some_run)) == (every, some)
    assert found.subjects_in_every_run == found.runs


@given(words())
def test_the_uniques_of_runs_are_what_brute_force_finds(made):
    runs, models = [word for word, _ in made], [model for _, model in made]
    matrix = a_matrix(*runs, models="".join(models))
    found = of_runs(matrix)
    for at, column in enumerate(matrix.columns):
        others = set(range(len(runs))) - {at}
        rows = list(brute(runs, models)) if others else []
        alone = [n for n, fails, *_ in rows if fails == {at}]
        whole = [n for n in alone if all(word[n] in RESULTS for word in runs)]
        assert numbers(found.fails[column.label]) == whole
        assert numbers(found.fails_beside_gaps[column.label]) == [n for n in alone if n not in whole]
        assert numbers(found.passes[column.label]) == [
            n for n, fails, passes, *_ in rows if at in passes and fails == others
        ]


@given(words())
def test_instability_is_what_brute_force_finds(made):
    runs, models = [word for word, _ in made], [model for _, model in made]
    found = instability(a_matrix(*runs, models="".join(models)))
    assert set(found) == {model for model in models if models.count(model) > 1}
    for model, one in found.items():
        unstable, always = [], []
        for number, letters in enumerate(zip(*runs, strict=True)):
            own = [letter for letter, of in zip(letters, models, strict=True) if of == model]
            good, bad = any(one in ".~" for one in own), any(one in FAIL + "~" for one in own)
            unstable += [number] if good and bad else []
            always += [number] if all(one in FAIL for one in own) else []
        assert (numbers(one.unstable), numbers(one.failed_in_every_run)) == (unstable, always)


def flips(before, after):
    matrix = a_matrix(before, after)
    return {kind: numbers(cases) for kind, cases in flips_between(matrix, 0, 1).by_kind.items() if cases}


def test_a_case_that_only_one_run_knows_is_new_or_gone():
    assert flips(" F", ". ") == {"new": [0], "gone": [1]}


def test_an_edited_task_is_neither_fixed_nor_regressed_nor_failing_as_before():
    matrix = a_matrix(".FF?", "F.F.")
    edited = list(matrix.rows)
    found = flips_between(matrix, 0, 1, edited=edited).by_kind

    assert found["edited"] == tuple(edited)
    assert not any(cases for kind, cases in found.items() if kind != "edited")


def test_an_edited_task_that_only_one_run_has_is_new_or_gone():
    matrix = a_matrix(" F", ". ")
    found = flips_between(matrix, 0, 1, edited=list(matrix.rows))

    assert (numbers(found.new), numbers(found.gone), found.edited) == ([0], [1], ())


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
