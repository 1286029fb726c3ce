"""A case: its key stays, its digest tells whether task, expected answer or grader changed."""

import pytest

from errata.model import Artefact, Case


def a_case(**changes):
    return Case(**{"run": "r", "suite": "suite", "native_id": "a"} | changes)


def a_file(role, text="text"):
    return Artefact(role=role, path=f"{role}.txt", text=text)


FULL = {"input": "2 + 2?", "expected": "4", "choices": ("3", "4"), "artefacts": (a_file("grader"), a_file("task"))}


def test_the_key_is_suite_and_native_name():
    assert a_case().key == "suite/a"


def test_a_key_that_is_given_stays():
    assert a_case(key="other/key").key == "other/key"


@pytest.mark.parametrize(
    "change",
    [
        {"input": "2 + 3?"},
        {"input": [{"role": "user", "content": "2 + 2?"}]},
        {"expected": "5"},
        {"expected": {"calls": ["add"]}},
        {"choices": ("4", "3")},
        {"artefacts": (a_file("grader", "new"), a_file("task"))},
        {"artefacts": (a_file("grader"), a_file("task", "new"))},
        {"artefacts": (a_file("grader"), a_file("task"), a_file("expected"))},
    ],
    ids=str,
)
def test_an_edited_task_answer_or_grader_changes_the_digest_and_not_the_key(change):
    before, after = a_case(**FULL), a_case(**FULL | change)

    assert before.key == after.key
    assert before.digest != after.digest


@pytest.mark.parametrize(
    "change",
    [
        {"run": "other"},
        {"suite": "other"},
        {"native_id": "b"},
        {"name": "n"},
        {"category": "c"},
        {"tags": ("t",)},
        {"difficulty": "hard"},
        {"extra": {"x": 1}},
        {"artefacts": (*FULL["artefacts"], a_file("log"), a_file("output"))},
    ],
    ids=str,
)
def test_anything_else_leaves_the_digest_as_it_is(change):
    assert a_case(**FULL).digest == a_case(**FULL | change).digest


@pytest.mark.parametrize(
    "nothing",
    [{}, {"name": "n", "category": "c"}, {"artefacts": (a_file("log"),)}, {"input": "", "expected": None}],
    ids=str,
)
def test_where_neither_task_nor_answer_nor_grader_is_known_there_is_no_digest(nothing):
    assert a_case(**nothing).digest == ""


@pytest.mark.parametrize("expected", [0, 0.0, False])
def test_an_expected_zero_is_an_expected_answer(expected):
    assert a_case(expected=expected).digest != ""


def test_a_text_that_no_encoding_can_hold_does_not_stop_a_case():
    assert a_case(input="lone \ud800 surrogate").digest


def test_an_answer_of_any_size_does_not_stop_a_case():
    assert a_case(expected=2**100).digest != a_case(expected=2**101).digest
