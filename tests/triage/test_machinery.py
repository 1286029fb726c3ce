"""Signals that rest on what a source has told apart."""

import pytest

from errata import triage
from errata.model import Check, ErrorInfo
from errata.testing import a_run, an_attempt


def owner_of(attempt):
    rules = triage.built_in()
    return triage.attribute(attempt, triage.observe(a_run(), attempt, None, None, rules), rules=rules).owner


def test_a_crash_in_the_harnesss_own_frames_is_the_harnesss():
    error = ErrorInfo(type="ValueError", message="bad state", frame="inspect_ai/solver/_plan.py:81", phase="subject")

    assert owner_of(an_attempt(execution="error", measurement="not_run", outcome="none", errors=(error,))) == "harness"


def test_a_frame_of_the_task_says_nothing_about_the_harness():
    error = ErrorInfo(type="ValueError", message="bad state", frame="my_task.py:81", phase="subject")
    attempt = an_attempt(execution="error", measurement="not_run", outcome="none", errors=(error,))

    assert owner_of(attempt) != "harness"


def test_an_answer_that_was_only_too_dear_is_a_matter_of_budget():
    checks = (Check(name="cost", kind="limit", status="fail"), Check(name="right", status="pass"))

    assert owner_of(an_attempt(outcome="fail", measurement="scored", checks=checks)) == "budget"


@pytest.mark.parametrize("other", ["assertion", "tests"])
def test_an_answer_that_was_wrong_too_is_the_models(other):
    checks = (Check(name="cost", kind="limit", status="fail"), Check(name="right", kind=other, status="fail"))

    assert owner_of(an_attempt(outcome="fail", measurement="scored", checks=checks)) == "model"
