"""What a failure does to the score, as the policies themselves count it."""

import pytest

from errata.model import Attribution, ErrorInfo, Exclusion, FailureKey, Reported, Reviewer, Verdict
from errata.model.standing import Standing
from errata.runs.explanation import effect_of
from errata.testing import a_run, an_attempt

RUN = a_run(reported=(Reported(name="pass_rate", metric="pass_rate", headline=True),))
CRASH = ErrorInfo(type="crash", message="boom", phase="environment")


def attempt_of(**changes):
    return an_attempt(run=RUN.id, reported_counted=True, **changes)


def crashed(**changes):
    return attempt_of(execution="error", measurement="not_run", outcome="none", errors=(CRASH,), **changes)


def read_as(attempt, owner, *, label="", final=True):
    verdict = Verdict(
        id="v",
        attempt=attempt.id,
        taxonomy="convex-evals",
        label=label or owner.upper(),
        owner=owner,
        cause="so it is",
        confidence="likely",
        reviewer=Reviewer(kind="agent", name="a"),
    )
    return Standing(verdict=verdict, final=final)


def told(attempt, owner="model", *, same=(), broken=False, run=RUN, stood=None):
    result = Attribution(
        attempt=attempt.id, owner=owner, confidence="likely", failure_key=FailureKey(exact="", coarse="")
    )
    return effect_of(run, attempt, [attempt, *same], result, broken=broken, stood=stood).text


def test_a_wrong_answer_counts_everywhere():
    assert told(attempt_of()) == "in strict, as_reported and clean"


@pytest.mark.parametrize("owner", ["provider", "environment", "harness", "simulator", "collateral"])
def test_what_is_not_the_subjects_is_not_in_clean(owner):
    assert told(crashed(), owner) == "in strict and as_reported, not in clean"


@pytest.mark.parametrize("owner", ["budget", "grader", "task"])
def test_what_the_subject_took_part_in_is_in_clean(owner):
    assert told(attempt_of(), owner) == "in strict, as_reported and clean"


def test_a_broken_measurement_is_not_in_clean():
    assert told(attempt_of(), "grader", broken=True) == "in strict and as_reported, not in clean"


def test_what_the_harness_leaves_out_itself_is_not_in_its_number():
    attempt = an_attempt(run=RUN.id, reported_counted=False)

    assert told(attempt) == "in strict and clean"


def test_an_earlier_session_that_was_measured_stands_in_for_a_crash():
    attempt = crashed(session=2)
    earlier = attempt_of(session=1, outcome="pass", superseded_by=attempt.id)

    assert told(attempt, "harness", same=[earlier]) == "in strict and as_reported, clean uses session 1's result"


def test_another_attempt_at_the_same_case_changes_nothing():
    assert told(crashed(index=2), "provider", same=[attempt_of(index=1, outcome="pass")]) == (
        "in strict and as_reported, not in clean"
    )


def test_a_failure_of_an_excluded_run_counts_nowhere():
    run = a_run(excluded=Exclusion(reason="wrong key"))

    assert told(an_attempt(run=run.id), run=run).startswith("in no score")


def test_what_nobody_has_read_is_not_said_to_be_in_reviewed():
    assert "reviewed" not in told(attempt_of())


def test_a_wrong_answer_that_was_read_as_one_counts_in_reviewed_too():
    attempt = attempt_of()

    assert told(attempt, stood=read_as(attempt, "model")) == "in strict, as_reported, clean and reviewed"


@pytest.mark.parametrize("owner", ["grader", "task", "provider"])
def test_what_was_read_as_somebody_elses_is_not_in_reviewed(owner):
    attempt = attempt_of()

    assert told(attempt, stood=read_as(attempt, owner)) == "in strict, as_reported and clean, not in reviewed"


def test_a_known_gap_is_not_in_reviewed():
    attempt = attempt_of()

    assert told(attempt, stood=read_as(attempt, "task", label="KNOWN_GAP")).endswith(", not in reviewed")


def test_what_triage_and_its_reader_leave_out_is_in_neither():
    attempt = crashed()

    effect = told(attempt, "environment", stood=read_as(attempt, "environment"))
    assert effect == "in strict and as_reported, not in clean and reviewed"


def test_what_triage_blames_on_the_machinery_may_be_read_as_the_models():
    attempt = crashed()

    effect = told(attempt, "environment", stood=read_as(attempt, "model"))
    assert effect == "in strict, as_reported and reviewed, not in clean"


def test_a_verdict_that_needs_a_second_changes_no_score_yet():
    attempt = attempt_of()

    assert told(attempt, stood=read_as(attempt, "grader", final=False)) == (
        "in strict, as_reported and clean, reviewed goes by triage until a second reader agrees"
    )


def test_an_earlier_session_stands_in_wherever_a_crash_is_left_out():
    attempt = crashed(session=2)
    earlier = attempt_of(session=1, outcome="pass", superseded_by=attempt.id)

    effect = told(attempt, "harness", same=[earlier], stood=read_as(attempt, "harness"))
    assert effect == "in strict and as_reported, clean and reviewed use session 1's result"
