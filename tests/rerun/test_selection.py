"""Which attempts are to be repeated."""

import pytest

from errata.model import Counts, Invalidation, StoredRun
from errata.rerun.selection import RerunChoice, TriagedFailure, broke, rerun_if_chosen, select_rerun
from errata.testing import a_run, an_attempt

NOT_THE_MODELS = RerunChoice(owners=frozenset(("provider", "environment", "harness", "simulator", "collateral")))


def wanted(attempt, triage=TriagedFailure(), choice=NOT_THE_MODELS):  # noqa: B008
    chosen = rerun_if_chosen(attempt, "case-1", triage, choice)
    return None if chosen is None else (chosen.why, chosen.signal)


@pytest.mark.parametrize("owner", ["provider", "environment", "harness", "simulator", "collateral"])
def test_what_is_not_the_models_fault_is_repeated(owner):
    assert wanted(an_attempt(), TriagedFailure(owner, "some_signal")) == (owner, "some_signal")


@pytest.mark.parametrize("owner", ["model", "budget", "grader", "task", "unknown"])
def test_what_was_measured_and_failed_is_not(owner):
    assert wanted(an_attempt(), TriagedFailure(owner, "check_failed")) is None


@pytest.mark.parametrize("execution", ["missing", "unfinished"])
def test_what_was_never_made_is(execution):
    attempt = an_attempt(execution=execution, measurement="not_run", outcome="none")

    assert wanted(attempt) == (execution, "")


def test_what_was_skipped_on_purpose_is_not():
    assert wanted(an_attempt(execution="skipped", measurement="not_run", outcome="none")) is None


@pytest.mark.parametrize("measurement", ["error", "unscored"])
def test_what_was_not_measured_is(measurement):
    attempt = an_attempt(measurement=measurement, outcome="none")

    assert wanted(attempt, TriagedFailure("grader", "judge_error")) == ("not measured", "judge_error")


def test_a_measurement_that_a_signal_calls_broken_is_none():
    assert wanted(an_attempt(), TriagedFailure("grader", "verifier_never_ran", broken=True)) == (
        "not measured",
        "verifier_never_ran",
    )


def test_a_pass_is_not_repeated():
    assert wanted(an_attempt(outcome="pass")) is None


def test_an_owner_that_was_chosen_is_the_only_one():
    only_budget = RerunChoice(owners=frozenset(("budget",)), only_owners=True)

    assert wanted(an_attempt(), TriagedFailure("budget", "time_limit"), only_budget) == ("budget", "time_limit")
    assert wanted(an_attempt(), TriagedFailure("provider", "outage"), only_budget) is None
    assert wanted(an_attempt(execution="missing", outcome="none"), choice=only_budget) is None


def test_a_case_that_was_chosen_is_repeated_whoever_owns_it():
    this = RerunChoice(owners=NOT_THE_MODELS.owners, cases=frozenset(("suite/case-1",)))

    assert wanted(an_attempt(), TriagedFailure("model", "check_failed"), this) == ("model", "check_failed")
    assert wanted(an_attempt(case="suite/case-2"), TriagedFailure("provider", "outage"), this) is None


def test_a_row_that_repeats_a_try_is_not_repeated_again():
    assert wanted(an_attempt(duplicate_of="0:suite/case-1#1"), TriagedFailure("provider", "outage")) is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"execution": "error"}, True),
        ({"execution": "cancelled"}, True),
        ({"execution": "missing"}, True),
        ({"measurement": "error"}, True),
        ({"invalidated": Invalidation(why="wrong key")}, True),
        ({"execution": "limit"}, False),
        ({"measurement": "unscored"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_what_a_harness_itself_would_retry(changes, expected):
    assert broke(an_attempt(**changes)) is expected


def rerun_of(attempts, triaged, choice):
    stored = StoredRun(run=a_run(suite="s"), counts=Counts(), pk=1, imported_at="", digest="")
    return select_rerun(stored, lambda **_: iter(attempts), triaged, choice)


@pytest.mark.parametrize(
    ("asked", "attempts", "recovered"),
    [
        ({}, 1, ("known",)),
        ({"only_owners": True}, 2, ()),
        ({"cases": frozenset(("s/known",))}, 1, ()),
    ],
)
def test_a_case_that_an_earlier_session_measured_is_rerun_only_if_asked_for(asked, attempts, recovered):
    made = [an_attempt(case=f"s/{name}", execution="error") for name in ("known", "unknown")]
    triaged = {attempt.id: TriagedFailure("harness", "crash") for attempt in made}
    choice = RerunChoice(owners=frozenset(("harness",)), recovered=frozenset(("s/known",)), **asked)

    rerun = rerun_of(made, triaged, choice)

    assert (rerun.attempts, rerun.recovered) == (attempts, recovered)
