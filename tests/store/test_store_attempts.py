"""Reading attempts back: all of them, some of them, one of them."""

import pytest
from store_fixtures import put, put_run

from errata.errors import NotFoundError
from errata.model import Artefact, Case, Check, Step
from errata.model.step import Actor
from errata.store.attempts import (
    attempt_by_id,
    attempts_of,
    attempts_with_failed_check,
    cases_of,
    categories_of,
    run_with_texts,
)
from errata.store.runs import run_by_id
from errata.testing import a_run, an_attempt

RUN = a_run()
STEPS = (Step(index=0, actor=Actor(role="user"), text="hello"),)


def attempt(case, **changes):
    return an_attempt(run=RUN.id, case=f"suite/{case}", **changes)


PASSED = attempt("passed", outcome="pass", position=3)
FAILED = attempt("failed", position=1, steps=STEPS, artefacts=(Artefact(role="log", path="a.log", text="text"),))
AGAIN = attempt("failed", index=2, position=2)
CHILD = attempt("failed", path="T0/00", parent=FAILED.id)
OLD = attempt("old", session=1, superseded_by=PASSED.id)
ALL = [PASSED, FAILED, AGAIN, CHILD, OLD]


@pytest.fixture
def pk(store):
    (done,) = put(store, RUN, *ALL)
    return done.pk


def ids(attempts):
    return [one.id for one in attempts]


def test_attempts_come_in_the_order_of_the_log(store, pk):
    assert ids(attempts_of(store, pk)) == ids(ALL)


def test_only_failures(store, pk):
    assert ids(attempts_of(store, pk, failures=True)) == ids([FAILED, AGAIN])


def test_only_what_is_counted(store, pk):
    assert ids(attempts_of(store, pk, counted=True)) == ids([PASSED, FAILED, AGAIN])


def test_only_one_case(store, pk):
    assert ids(attempts_of(store, pk, case="suite/failed")) == ids([FAILED, AGAIN, CHILD])


def test_by_their_place_in_the_conversation(store, pk):
    assert ids(attempts_of(store, pk, counted=True, by_position=True)) == ids([FAILED, AGAIN, PASSED])


def test_transcripts_are_read_where_they_are_asked_for(store, pk):
    without, with_ = (list(attempts_of(store, pk, steps=wanted))[1] for wanted in (False, True))

    assert (without.steps, with_.steps) == ((), STEPS)


def test_one_attempt_comes_with_its_transcript_and_files(store, pk):
    assert attempt_by_id(store, FAILED.id) == FAILED


def test_a_child_is_found_by_its_id(store, pk):
    assert attempt_by_id(store, CHILD.id) == CHILD


def test_a_case_with_odd_characters_is_found_by_its_id(store):
    odd = attempt("a#b%c:d/e f")
    put(store, RUN, odd)

    assert attempt_by_id(store, odd.id) == odd


@pytest.mark.parametrize("wrong", ["", "run-1", "suite/failed", f"{RUN.id}:suite/failed#9", f"{'f' * 16}:suite/a#1"])
def test_an_attempt_that_is_not_there_is_told_with_what_would_be_right(store, pk, wrong):
    with pytest.raises(NotFoundError) as result:
        attempt_by_id(store, wrong)

    assert result.value.hint


def test_attempts_are_found_by_a_failed_check(store):
    with_check = [
        attempt("a", checks=(Check(name="tsc", status="fail"), Check(name="tests", status="pass"))),
        attempt("b", checks=(Check(name="tsc", status="pass"), Check(name="tests", status="fail"))),
        attempt("c", checks=(Check(name="tsc", status="fail", judge="1"), Check(name="tsc", status="fail", judge="2"))),
        attempt("d", checks=(Check(name="tsc", status="error"),)),
        attempt("e", checks=(Check(name="tsc", status="fail"),), superseded_by="x"),
    ]
    (done,) = put(store, RUN, *with_check)

    assert ids(attempts_with_failed_check(store, done.pk, "tsc")) == ids([with_check[0], with_check[2]])


def test_a_check_that_does_not_count_finds_no_attempt(store):
    (done,) = put(store, RUN, attempt("a", checks=(Check(name="lint", status="fail", counts=False),)))

    assert list(attempts_with_failed_check(store, done.pk, "lint")) == []


def test_attempts_of_another_run_are_not_mixed_in(store, pk):
    other = put_run(store, "other", ["failed", "x"])

    assert {one.run for one in attempts_of(store, pk, case="suite/failed")} == {RUN.id}
    assert {one.run for one in attempts_of(store, other.pk)} == {other.id}


def test_cases_and_their_categories(store):
    cases = [
        Case(run=RUN.id, suite="suite", native_id=name, category=category, tags=tags)
        for name, category, tags in [("b", "", ()), ("a", "maths", ("long", "maths")), ("c", "", ("long",))]
    ]
    (done,) = put(store, RUN, *cases)

    assert [one.native_id for one in cases_of(store, done.pk)] == ["a", "b", "c"]
    assert categories_of(store, done.pk) == {"suite/a": ("maths", "long"), "suite/c": ("long",)}
    assert {one.key: one.categories for one in cases if one.categories} == categories_of(store, done.pk)


def test_a_run_comes_back_with_its_context(store):
    run = a_run(context=(Artefact(role="context", path="system.md", text="You are helpful ☃"),))
    put(store, run)

    assert run_with_texts(store, run_by_id(store, run.id)) == run


def test_a_file_with_an_empty_text_is_not_a_file_without_one(store):
    files = (Artefact(role="log", path="empty", text=""), Artefact(role="screenshot", path="binary", binary=True))
    (done,) = put(store, RUN, one := attempt("a", artefacts=files))

    assert attempt_by_id(store, one.id).artefacts == files
    assert done.change == "new"
