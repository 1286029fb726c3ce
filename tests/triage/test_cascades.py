"""Crashes on what an earlier crash left behind."""

from errata.model import ErrorInfo
from errata.testing import an_attempt
from errata.triage.cascades import CrashSurvey

HELD = "TimeoutError: could not acquire /results/repos/9f2c.lock within 300s, held by pid 48211"


def crash(case, message, at):
    error = ErrorInfo(type="crash", message=message, phase="environment", at=at)
    return an_attempt(
        case=case, execution="error", measurement="not_run", outcome="none", errors=(error,), finished_at=at
    )


def roots_of(*attempts):
    survey = CrashSurvey()
    for attempt in attempts:
        survey.add(attempt)
    named = {attempt.id: attempt.case for attempt in attempts}
    return {named[follower]: named[root] for follower, root in survey.roots().items()}


def test_those_who_wait_for_one_lock_follow_the_crash_that_kept_it_in_whatever_words():
    first = crash("s/a", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")
    second = crash("s/b", f"{HELD} (test-021)", "2026-02-14T07:42:48Z")
    third = crash("s/c", HELD, "2026-02-14T07:48:01Z")

    assert roots_of(first, second, third) == {"s/b": "s/a", "s/c": "s/a"}


def test_the_root_is_the_crash_that_a_follower_names_not_the_last_one_before_it():
    first = crash("s/test-021", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")
    other = crash("s/test-018", "1 validation error for RunResult", "2026-02-14T07:40:57Z")
    second = crash("s/test-024", f"{HELD} (test-021)", "2026-02-14T07:42:48Z")
    third = crash("s/test-025", HELD, "2026-02-14T07:48:01Z")

    assert roots_of(first, other, second, third) == {"s/test-024": "s/test-021", "s/test-025": "s/test-021"}


def test_a_case_that_is_named_but_did_not_crash_before_is_no_root():
    first = crash("s/test-018", "1 validation error for RunResult", "2026-02-14T07:40:57Z")
    second = crash("s/test-024", f"{HELD} (test-021)", "2026-02-14T07:42:48Z")
    third = crash("s/test-025", HELD, "2026-02-14T07:48:01Z")
    late = crash("s/test-021", "RuntimeError: dictionary changed size during iteration", "2026-02-14T09:40:41Z")

    assert roots_of(first, second, third, late) == {"s/test-024": "s/test-018", "s/test-025": "s/test-018"}


def test_a_lock_that_one_attempt_waited_for_makes_no_cascade():
    first = crash("s/a", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")

    assert roots_of(first, crash("s/b", HELD, "2026-02-14T07:42:48Z")) == {}


def test_different_locks_have_different_holders():
    first = crash("s/a", "RuntimeError: dictionary changed size during iteration", "2026-02-14T07:40:41Z")
    others = [crash(f"s/{n}", HELD.replace("9f2c", n), f"2026-02-14T07:4{n}:48Z") for n in "23"]

    assert roots_of(first, *others) == {}
