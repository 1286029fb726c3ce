"""Trials of Harbor: the three facts, rewards, tests, errors, times, usage and files."""

import json

import pytest
from harbor_fixtures import (
    DEMO,
    KIMI,
    STEPS,
    a_job,
    a_result,
    a_trial,
    an_exception,
    attempts,
    by_task,
    documents,
    facts,
    items,
    items_of,
    write,
)


def test_out_of_time_with_reward_1_is_a_limit_that_was_passed():
    one = by_task(items_of(DEMO))["chess"]

    assert facts(one) == ("limit", "scored", "pass")
    assert (one.limit.type, one.limit.value) == ("time", 900.0)
    assert not one.is_failure


def test_an_environment_that_did_not_start_was_not_measured():
    one = by_task(items_of(DEMO))["build-linux"]

    assert facts(one) == ("error", "not_run", "none")
    assert (one.errors[0].type, one.errors[0].phase) == ("EnvironmentStartTimeoutError", "environment")


@pytest.mark.parametrize(
    ("kind", "phase"),
    [
        ("EnvironmentStartTimeoutError", "environment"),
        ("SandboxBuildFailedError", "environment"),
        ("HealthcheckError", "environment"),
        ("SandboxLikelyOutOfMemoryError", "environment"),
        ("AgentSetupTimeoutError", "setup"),
        ("ApiUsageLimitError", "subject"),
        ("AgentAuthenticationError", "subject"),
        ("ModelNotFoundError", "subject"),
        ("AgentSafetyRefusalError", "subject"),
        ("NonZeroAgentExitCodeError", "subject"),
    ],
)
def test_what_kept_the_agent_from_its_work_is_an_error_of_its_phase(tmp_path, kind, phase):
    one = a_trial(tmp_path / "job", exception_info=an_exception(kind), verifier_result=None)

    assert facts(one) == ("error", "not_run", "none")
    assert one.errors[0].phase == phase
    assert one.is_failure


@pytest.mark.parametrize(
    "kind", ["VerifierTimeoutError", "RewardFileNotFoundError", "RewardFileEmptyError", "VerifierOutputParseError"]
)
def test_a_broken_verifier_is_a_broken_measurement(tmp_path, kind):
    one = a_trial(tmp_path / "job", exception_info=an_exception(kind), verifier_result=None)

    assert facts(one) == ("completed", "error", "none")
    assert (one.checks[0].status, one.checks[0].error.type) == ("error", kind)


def test_a_cancelled_trial_is_cancelled(tmp_path):
    one = a_trial(tmp_path / "job", exception_info=an_exception("CancelledError"), verifier_result=None)

    assert facts(one) == ("cancelled", "not_run", "none")


def test_a_reward_of_an_agent_that_never_got_to_work_is_no_outcome(tmp_path):
    one = a_trial(tmp_path / "job", exception_info=an_exception("AgentAuthenticationError"))

    assert facts(one) == ("error", "scored", "none")


def test_an_agent_that_crashed_at_its_work_has_the_outcome_of_its_reward(tmp_path):
    message = "Command failed (exit 137): agent --run"
    one = a_trial(tmp_path / "job", exception_info=an_exception("NonZeroAgentExitCodeError", message))

    assert facts(one) == ("error", "scored", "fail")
    assert one.exit_code == 137


def test_a_refusal_is_named_as_the_reason_to_stop(tmp_path):
    one = a_trial(tmp_path / "job", exception_info=an_exception("AgentSafetyRefusalError"))

    assert one.stop_reason == "refusal"


@pytest.mark.parametrize(
    ("begun", "expected", "phase"),
    [
        ("verifier", ("completed", "error", "none"), "scoring"),
        ("agent_execution", ("error", "not_run", "none"), "subject"),
        ("agent_setup", ("error", "not_run", "none"), "setup"),
        ("environment_setup", ("error", "not_run", "none"), "environment"),
    ],
)
def test_an_unknown_exception_is_of_the_phase_that_was_begun_last(tmp_path, begun, expected, phase):
    result = {begun: {"started_at": "2026-05-04T10:00:00Z", "finished_at": None}}
    one = a_trial(tmp_path / "job", exception_info=an_exception("RuntimeError"), verifier_result=None, **result)

    assert facts(one) == expected
    assert one.errors[0].phase == phase


def test_without_verifier_and_exception_nothing_was_measured(tmp_path):
    assert facts(a_trial(tmp_path / "job", verifier_result=None)) == ("completed", "not_run", "none")


@pytest.mark.parametrize("rewards", [None, {}, {"reward": None}, {"reward": "high"}])
def test_a_verifier_without_a_usable_reward_left_the_trial_unscored(tmp_path, rewards):
    assert facts(a_trial(tmp_path / "job", verifier_result={"rewards": rewards}))[1:] == ("unscored", "none")


@pytest.mark.trap(13)
def test_a_reward_that_is_no_number_is_kept_as_text(tmp_path):
    one = a_trial(tmp_path / "job", verifier_result={"rewards": {"reward": float("nan")}})

    assert facts(one) == ("completed", "unscored", "none")
    assert (one.reported, one.checks[0].extra) == (None, {"value": "NaN"})


def test_a_trial_without_an_end_is_unfinished(tmp_path):
    one = a_trial(tmp_path / "job", finished_at=None, verifier_result=None)

    assert facts(one) == ("unfinished", "not_run", "none")


def test_a_reward_between_0_and_1_is_partial(tmp_path):
    one = a_trial(tmp_path / "job", verifier_result={"rewards": {"reward": 0.25}})

    assert (one.outcome, one.reported) == ("partial", 0.25)
    assert one.is_failure


def test_every_test_of_the_reports_is_a_check_that_does_not_count():
    tests = [check for one in attempts(items_of(KIMI)) for check in one.checks if check.kind == "tests"]
    raw = [
        test["status"]
        for report in documents("*/verifier/*ctrf.json", KIMI).values()
        for test in report["results"]["tests"]
    ]

    assert [check.status for check in tests].count("fail") == raw.count("failed")
    assert [check.status for check in tests].count("pass") == raw.count("passed")
    assert not any(check.counts for check in tests)


def test_a_failed_test_tells_why():
    test = next(check for check in by_task(items_of(KIMI))["break-filter-js-from-html"].checks if check.kind == "tests")
    raw = json.loads((KIMI / "break-filter-js-from-html__U92hUwr" / "verifier" / "ctrf.json").read_text())["results"][
        "tests"
    ][0]

    assert raw["trace"] in test.explanation
    assert test.duration == raw["duration"]


def test_the_error_of_a_trial_has_its_place_in_the_harness():
    error = by_task(items_of(KIMI))["polyglot-rust-c"].errors[0]

    assert error.message == "Agent execution timed out after 900.0 seconds"
    assert error.frame == "harbor/trial/trial.py:294 in _execute_agent"
    assert error.at == "2026-04-02T00:09:50.316792"
    assert "AgentTimeoutError" in error.traceback
    assert str(error.ref).endswith("result.json#/exception_info")


@pytest.mark.trap(20)
def test_a_key_in_an_exception_is_not_kept(tmp_path):
    message = "Command failed: export OPENAI_API_KEY=not-for-the-store && run"

    one = a_trial(tmp_path / "job", exception_info=an_exception("NonZeroAgentExitCodeError", message))

    assert "not-for-the-store" not in repr(one)


def test_usage_that_the_trial_does_not_tell_is_taken_from_its_trajectory(tmp_path):
    job = a_job(tmp_path / "job", a_result(agent_result=None))
    metrics = {"total_prompt_tokens": 70, "total_completion_tokens": 8, "total_cached_tokens": 30}
    write(job / "task__a1" / "agent" / "trajectory.json", {"steps": [], "final_metrics": metrics})

    usage = attempts(items(job))[0].usage.subject

    assert (usage.input, usage.output, usage.cache_read) == (70, 8, 30)


def test_the_files_of_a_trial_are_kept_by_their_role():
    found = {file.path: file.role for file in by_task(items_of(STEPS))["deploy"].artefacts}

    assert found == {
        "trial.log": "log",
        "agent/terminus_2.pane": "log",
        "artifacts/manifest.json": "output",
        "artifacts/out.txt": "output",
    }


def test_a_step_of_a_multi_step_trial_is_its_child():
    trial, *steps = [one for one in attempts(items_of(STEPS)) if one.case.endswith("/deploy") and one.extra]

    assert [(one.path, one.parent, facts(one)) for one in steps] == [
        ("01-build", trial.id, ("completed", "scored", "pass")),
        ("02-release", trial.id, ("limit", "scored", "fail")),
    ]


def test_an_exception_of_a_step_is_the_trials_where_that_has_none():
    trial = by_task(items_of(STEPS))["deploy"]

    assert facts(trial) == ("limit", "scored", "partial")
    assert [str(error.ref) for error in trial.errors] == ["deploy__aa1/result.json#/step_results/1/exception_info"]
    assert trial.limit.value == 600.5
