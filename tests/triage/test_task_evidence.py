"""What speaks against a task that nobody passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Artefact, Case, Check, Output, Signal
from errata.testing import an_attempt
from errata.triage.task_evidence import REFERENCE, SubjectFailure, as_doubts, evidence_against

SUBJECTS = ("a", "b", "c", "d")
LOG = """\
==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_outputs.py _____________________
/tests/test_outputs.py:3: in <module>
    {source}
E   {message}
=========================== short test summary info ============================
ERROR tests/test_outputs.py
=============================== 1 error in 0.21s ===============================
"""
FAILED = """\
=================================== FAILURES ===================================
______________________________ {test} ______________________________

>       check()
E       {message}

/tests/test_outputs.py:20: AssertionError
========================= 1 failed, 1 passed in 1.02s =========================
"""


def case(task="Write the totals.", expected=None, choices=()):
    return Case(run="r", suite="s", native_id="c", input=task, expected=expected, choices=choices)


def failures(name, strength="likely", subjects=SUBJECTS, quote="it"):
    seen = Signal(name=name, strength=strength, where="log:1", quote=quote)
    return {subject: [SubjectFailure(f"{subject}:s/c#1", (seen,))] for subject in subjects}


def kinds(evidence):
    return [(one.kind, one.strength, one.subjects) for one in evidence]


@pytest.mark.parametrize(
    ("signal", "kind"),
    [
        ("broken_test", "tests_cannot_run"),
        ("verifier_never_ran", "tests_cannot_run"),
        ("other_path", "unnamed_demand"),
        ("unnamed_demand", "unnamed_demand"),
        ("strict_match", "strict_grader"),
        ("all_fail", "refused_alike"),
    ],
)
def test_a_signal_of_most_subjects_is_evidence(signal, kind):
    assert kinds(evidence_against(failures(signal), {}, None)) == [(kind, "likely", 4)]


@pytest.mark.parametrize("signal", ["reference_fails", "prompt_contradicts_expected", "expected_contradicts_data"])
def test_what_the_task_itself_shows_needs_no_number_of_subjects(signal):
    (evidence,) = evidence_against(failures(signal, subjects=("a",)), {}, None)

    assert (evidence.strength, evidence.subjects) == ("likely", 0)
    assert as_doubts([evidence]) == (evidence,)


def test_that_all_fail_is_no_evidence_beside_the_counts():
    assert evidence_against(failures("all_fail", "weak"), {}, None) == ()


def test_a_signal_of_a_few_subjects_is_a_doubt():
    some = failures("verifier_never_ran", subjects=("a",)) | failures("check_failed", subjects=("b", "c", "d"))

    assert kinds(evidence_against(some, {}, None)) == [("tests_cannot_run", "weak", 1)]


def test_the_reference_is_no_subject():
    every = failures("broken_test", subjects=("a", "b")) | failures("broken_test", subjects=(REFERENCE,))
    (evidence,) = evidence_against(every, {}, None)

    assert (evidence.subjects, evidence.failed) == (2, 2)


def test_with_two_subjects_it_is_a_doubt_at_most():
    two = evidence_against(failures("broken_test", subjects=("a", "b")), {}, None)

    assert kinds(two) == [("tests_cannot_run", "likely", 2)]
    assert kinds(as_doubts(two)) == [("tests_cannot_run", "weak", 2)]


# answers


def answering(*answers):
    return {f"m{at}": an_attempt(case="s/c", output=Output(answer=answer)) for at, answer in enumerate(answers)}


def test_subjects_that_agree_on_another_answer_speak_against_the_reference():
    found = evidence_against({}, answering("421", "421", "421 ", "17"), case(expected="412"))

    assert kinds(found) == [("agree_on_another", "likely", 3)]
    assert (found[0].stated, found[0].quote) == ("expected 412, answered", "421")


def test_half_of_the_subjects_are_a_doubt():
    found = evidence_against({}, answering("421", "421", "421", "17", "18", "19"), case(expected="412"))

    assert kinds(found) == [("agree_on_another", "weak", 3)]


def test_among_few_choices_agreement_is_a_doubt():
    found = evidence_against({}, answering("B", "B", "B", "B"), case(expected="A", choices=("x", "y", "z")))

    assert kinds(found) == [("agree_on_another", "weak", 4)]


@pytest.mark.parametrize(
    "answers",
    [("421", "17", "18", "19"), ("412", "412", "412", "412"), ("", "", "", ""), ("421", "421")],
    ids=["all differ", "the expected one", "no answer", "two subjects"],
)
def test_no_agreement_no_evidence(answers):
    assert evidence_against({}, answering(*answers), case(expected="412")) == ()


# tests


def with_log(log, *checks, subjects=SUBJECTS):
    artefact = Artefact(role="log", path="verifier/test-stdout.txt", text=log)
    return {name: an_attempt(case="s/c", artefacts=(artefact,), checks=checks) for name in subjects}


def test_the_same_collection_error_for_everybody_means_that_the_tests_cannot_run():
    log = LOG.format(
        source="import dateparser_extra", message="ModuleNotFoundError: No module named 'dateparser_extra'"
    )

    assert kinds(evidence_against({}, with_log(log), case())) == [("tests_cannot_run", "likely", 4)]


def test_a_module_that_the_task_asks_for_is_the_subjects_to_write():
    log = LOG.format(source="import totals", message="ModuleNotFoundError: No module named 'totals'")

    found = evidence_against({}, with_log(log), case("Write a module `totals` that adds."))

    assert kinds(found) == [("tests_cannot_run", "weak", 4)]


def test_a_collection_error_of_one_subject_is_its_own():
    log = LOG.format(source="import x_y", message="ModuleNotFoundError: No module named 'x_y'")
    attempts = with_log("collected 1 item\n1 failed\n") | with_log(log, subjects=("a",))

    assert evidence_against({}, attempts, case()) == ()


@pytest.mark.parametrize(
    "message",
    [
        "AttributeError: module 'totals' has no attribute 'sum_by_port'",
        "ImportError: cannot import name 'sum_by_port' from 'totals' (/app/totals.py)",
        "FileNotFoundError: [Errno 2] No such file or directory: '/app/sum_by_port'",
        "TypeError: main() got an unexpected keyword argument 'sum_by_port'",
    ],
)
def test_a_name_that_the_test_uses_and_the_task_never_mentions(message):
    attempts = with_log(FAILED.format(test="test_totals", message=message))

    assert kinds(evidence_against({}, attempts, case("Write /app/totals.py.")))[0][:2] == ("unnamed_demand", "likely")
    named = evidence_against({}, attempts, case("Write /app/totals.py with sum_by_port."))
    assert "unnamed_demand" not in [one.kind for one in named]


def test_where_somebody_passed_the_name_can_be_found_out():
    message = "AttributeError: module 'totals' has no attribute 'sum_by_port'"
    attempts = with_log(FAILED.format(test="test_totals", message=message))

    assert kinds(evidence_against({}, attempts, case("Write totals."), passed=1)) == [("unnamed_demand", "weak", 4)]


def checked(*statuses):
    checks = [Check(name=f"check-{at}", status=status) for at, status in enumerate(statuses)]
    return {subject: an_attempt(case="s/c", checks=tuple(checks)) for subject in SUBJECTS}


def test_one_check_of_several_that_everybody_fails_is_a_doubt():
    assert kinds(evidence_against({}, checked("pass", "fail", "pass"), None)) == [("refused_alike", "weak", 4)]


@pytest.mark.parametrize("statuses", [("fail",), ("pass", "fail"), ("fail", "fail", "pass")])
def test_the_only_check_and_several_failed_ones_show_nothing(statuses):
    assert evidence_against({}, checked(*statuses), None) == ()


def test_checks_that_are_named_after_another_task():
    attempts = {
        name: an_attempt(case="s/c", checks=(Check(name="cargo-081::test_x", status="fail"),)) for name in "abc"
    }
    names = {"cargo-080", "cargo-081"}

    found = evidence_against({}, attempts, None, own_name="cargo-080", names=names)

    assert kinds(found) == [("other_tasks_checks", "likely", 3)]
    assert evidence_against({}, attempts, None, own_name="cargo-081", names=names) == ()


NAMES = st.sampled_from(
    ["broken_test", "unnamed_demand", "reference_fails", "all_fail", "check_failed", "strict_match"]
)
SIGNALS = st.builds(Signal, name=NAMES, strength=st.sampled_from(["certain", "likely", "weak"]))
FAILURES = st.lists(st.builds(SubjectFailure, attempt=st.just("x"), signals=st.lists(SIGNALS).map(tuple)), max_size=3)


@given(st.dictionaries(st.sampled_from("abcdefgh"), FAILURES))
def test_each_kind_is_listed_once_and_the_strongest_first(every):
    found = evidence_against(every, {}, None)

    assert len({one.kind for one in found}) == len(found)
    assert [one.strength for one in found] == sorted((one.strength for one in found), key=("likely", "weak").index)
    assert all(one.subjects <= one.failed for one in found)
