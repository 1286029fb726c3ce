"""What a comparison says of one run alone agrees with what it says of several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tries import trials

from errata.compare.comparison import categories_of_run, change_since, left_out_of_clean
from errata.compare.matrix import columns_of, matrix_of
from errata.compare.policies import scores_of
from errata.compare.scores import Score
from errata.model import Counts, StoredRun
from errata.model.cells import Cell
from errata.testing import a_run, an_attempt

NO_SCORES = (Score(policy="clean"), Score(policy="clean"))


def stored(pk):
    return StoredRun(run=a_run(), counts=Counts(), pk=pk, imported_at="2026-01-01T00:00:00Z", digest="d")


def cells(pk, letters):
    """`.` passed, `F` failed, one for each of the cases a, b, c …"""
    return [
        Cell(pk, chr(97 + at), "passed" if letter == "." else "failed", passes=letter == ".", fails=letter != ".")
        for at, letter in enumerate(letters)
    ]


def test_a_case_with_an_edited_task_takes_no_part_in_what_changed():
    runs = (stored(1), stored(2))
    every = [*cells(1, "FFF.."), *cells(2, "F..F.")]

    whole, without = change_since(*runs, every, NO_SCORES), change_since(*runs, every, NO_SCORES, {"b"})

    assert (whole.still_failing, whole.fixed, whole.broke, whole.edited) == (1, 2, 1, 0)
    assert (without.still_failing, without.fixed, without.broke, without.edited) == (1, 1, 1, 1)
    assert without.p == 1.0


@pytest.mark.req("B-53")
def test_an_infrastructure_failure_is_no_change():
    runs = (stored(1), stored(2))
    attempts = [an_attempt(case=case, outcome="fail") for case in "ab"]
    after = scores_of(trials(*attempts, owners=[(attempts[0], "provider"), (attempts[1], "model")]))["clean"]

    change = change_since(*runs, [*cells(1, "...."), *cells(2, "FF..")], [Score(policy="clean"), after])

    assert (change.broke, change.fixed, change.infrastructure) == (1, 0, 1)
    assert change.p == 1.0


@given(st.lists(st.sampled_from("F."), min_size=4, max_size=4), st.sets(st.sampled_from("abcd")))
def test_each_shared_case_is_one_kind_of_change(letters, out):
    runs = (stored(1), stored(2))
    attempts = [
        an_attempt(case=case, outcome="fail") for case, letter in zip("abcd", letters, strict=True) if letter == "F"
    ]
    owners = [(one, "provider" if one.case in out else "model") for one in attempts]
    after = scores_of(trials(*attempts, owners=owners))["clean"] if attempts else Score(policy="clean")

    change = change_since(*runs, [*cells(1, "F.F."), *cells(2, letters)], [Score(policy="clean"), after])

    changed = change.still_failing + change.fixed + change.broke + change.infrastructure
    assert changed == 4 - sum(before == now == "." for before, now in zip("F.F.", letters, strict=True))


def test_a_failure_that_clean_leaves_out_makes_no_category_harder():
    run = stored(1)
    outcomes = {"a": "fail", "b": "fail", "c": "pass", "d": "pass"}
    attempts = [an_attempt(case=case, outcome=outcome) for case, outcome in outcomes.items()]
    clean = scores_of(trials(*attempts, owners=[(attempts[0], "provider"), (attempts[1], "model")]))["clean"]
    matrix = matrix_of(columns_of([(run.run, 1)]), cells(1, "FF.."))

    (one, other) = categories_of_run(run, cells(1, "FF.."), {"a": "x", "b": "x", "c": "y", "d": "y"}, clean)

    assert left_out_of_clean(matrix, [clean]) == {(1, "a")}
    assert [(each.name, each.cases, each.tried, each.hard) for each in (one, other)] == [("x", 2, 1, 1), ("y", 2, 2, 0)]
