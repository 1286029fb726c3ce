"""Failure keys: equal failures look equal, different ones do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from soak.secret_strings import leaks, made_secrets

from errata.model import Artefact, Check, ErrorInfo
from errata.testing import an_attempt
from errata.text.mask import mask
from errata.text.outgoing import for_user
from errata.triage.keys import failure_key, lists_only_names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("timed out after 90s", "timed out after 120s"),
        ("request req_011CUxyzABC123abc456 failed", "request req_011CUabcXYZ999abc111 failed"),
        ("File /home/a/b.py failed", "File /srv/x/y/z.py failed"),
        ("at 2026-02-14T00:28:03Z", "at 2026-03-01 11:00:00.123"),
        ("connect ECONNREFUSED 127.0.0.1:8080", "connect ECONNREFUSED 10.0.0.7:99"),
        ("\x1b[31mboom\x1b[0m 1", "boom 2"),
        ("object at 0x7f12ab", "object at 0x55aa01"),
    ],
)
def test_what_changes_from_one_occurrence_to_the_next_is_masked(one, other):
    assert mask(one) == mask(other)


def test_words_are_not_masked():
    assert mask("No such tool") != mask("No such file")


@given(st.text(max_size=300))
def test_masking_twice_is_masking_once(text):
    assert mask(mask(text)) == mask(text)


def test_two_crashes_of_one_shape_have_one_key():
    def key(number):
        error = ErrorInfo(type="RuntimeError", message=f"worker {number} died", phase="setup")
        return failure_key(an_attempt(errors=(error,), execution="error", measurement="not_run", outcome="none"))

    assert key(1) == key(2)
    assert key(1).coarse == "setup:RuntimeError"


def test_a_failed_check_is_keyed_by_its_name_and_the_shape_of_its_reason():
    def key(reason):
        return failure_key(an_attempt(checks=(Check(name="tests", status="fail", explanation=reason),)))

    assert key("tests failed (40%)") == key("tests failed (60%)")
    assert key("tests failed (40%)") != key("no tests were found")


def test_a_check_that_only_states_its_failure_is_keyed_by_the_first_error_in_its_log():
    def key(error, reason="tests failed (40%)"):
        log = Artefact(role="log", path="run.log", text=f" FAIL  grader.test.ts > lists\n{error}\n")
        check = Check(name="tests", kind="tests", status="fail", explanation=reason)
        return failure_key(an_attempt(outcome="fail", checks=(check,), artefacts=(log,)))

    wrong = key("AssertionError: expected 3 to be 2 // Object.is equality")
    assert wrong == key("AssertionError: expected 7 to be 1 // Object.is equality", "tests failed (60%)")
    assert wrong != key("Error: Map(2) is not a supported type")
    assert wrong.coarse == "tests"
    stated = "no tests were found"
    assert key("Error: Map(2) is not a supported type", stated) == key("Error: another", stated)


def test_a_scorer_that_broke_beside_the_one_that_decides_is_no_part_of_the_key():
    error = ErrorInfo(type="ValueError", message="judge parse error", phase="scoring", recovered=True)
    exact = Check(name="exact", status="fail")
    beside = Check(name="bad", status="error", counts=False, error=error, explanation=error.message)

    alone, both = (an_attempt(outcome="fail", checks=checks) for checks in ((exact,), (exact, beside)))

    assert failure_key(both) == failure_key(alone)


@pytest.mark.parametrize(
    ("reason", "is_list"),
    [
        ("not met: update_reservation_flights, update_reservation_baggages", True),
        ("not met: book_reservation", True),
        ("expected call missing or different: book_reservation, send_gift", True),
        ("the agent never stated: 23553, 327", True),
        ("not met: the agent states the total of 327 dollars", False),
        ("AssertionError: expected 3 rows", False),
    ],
)
def test_a_list_of_unmet_checks_is_told_from_an_error(reason, is_list):
    attempt = an_attempt(
        outcome="fail", measurement="scored", checks=(Check(name="DB", status="fail", explanation=reason),)
    )

    assert lists_only_names(failure_key(attempt)) is is_list


@pytest.mark.parametrize("secret", list(made_secrets()), ids=lambda secret: secret.kind)
def test_a_secret_in_a_name_that_a_key_joins_with_others_does_not_leave(secret):
    names = (f"check {secret.text}", "second", secret.text)
    checks = tuple(Check(name=name, status="fail", explanation="was wrong") for name in names)
    error = ErrorInfo(type=secret.text, message="x", template=f"{secret.text}:x", frame=secret.text, phase="setup")
    keys = [
        failure_key(an_attempt(outcome="fail", checks=checks)),
        failure_key(an_attempt(outcome="fail", checks=checks[-1:], native_status=secret.text)),
        failure_key(an_attempt(outcome="fail", checks=(Check(name="one", status="fail"),), native_status=secret.text)),
        failure_key(an_attempt(execution="error", measurement="not_scored", outcome="unknown", errors=(error,))),
    ]

    for key in keys:
        assert not leaks(secret, for_user(key.exact))
        assert not leaks(secret, for_user(key.coarse))


def test_a_check_with_a_secret_in_its_name_is_the_same_check_with_the_next_secret():
    first, second = (made for made in made_secrets() if made.kind == "facebook-token"), made_secrets(8)
    one, other = next(first).text, next(made.text for made in second if made.kind == "facebook-token")

    def key(*names):
        return failure_key(an_attempt(outcome="fail", checks=tuple(Check(name=name, status="fail") for name in names)))

    assert one != other
    assert key(one, "second") == key(other, "second")
    assert key(one, "second") != key(one, "third")
