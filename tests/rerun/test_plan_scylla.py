"""ProjectScylla: batches of two generations, and single experiments."""

import pytest
from wishes import a_request, failed

from errata.model import Subject
from errata.rerun import plan_for
from errata.rerun.plan import note_text, why_by_hand

CONFIG = {"runs": 1, "max_subtests": 3, "thinking": "None", "tiers": ["T0", "T1", "T9; reboot"]}
EXPERIMENT = {
    "version": "checkpoint 2.0",
    "origin": "/data/results/2026-01-20T06-13-07-test-001",
    "extra": {"config": {"runs_per_subtest": 3, "tiers_to_run": ["T0"]}},
    "roles": {"judge_01": "opus", "judge_02": "sonnet"},
}


def a_batch(cases, version="batch summary 1", **changes):
    given = {"subject": Subject(model="sonnet"), "roles": {"judge": "opus"}, "extra": {"config": CONFIG}}
    return a_request("scylla", cases, version=version, **given | changes)


def test_a_batch_of_the_first_generation_is_repeated_beside_the_old_one():
    """In the old folder the runner would skip whatever has a status other than `error`."""
    (command,) = plan_for(a_batch(["test-004", "test-006"])).commands

    assert command.argv == (
        *("pixi", "run", "python", "scripts/run_e2e_batch.py", "--results-dir=/data/runs/first-rerun"),
        *("--model=sonnet", "--judge-model=opus", "--runs=1", "--max-subtests=3", "--thinking=None"),
        *("--tiers", "T0", "T1", "--tests", "test-004", "test-006"),
    )


def test_a_batch_of_the_second_generation_is_resumed_in_place():
    request = a_batch(["test-004"], "batch summary 2", subject=Subject(), extra={}, roles={})

    (command,) = plan_for(request).commands

    assert command.argv == (
        *("pixi", "run", "python", "scripts/manage_experiment.py", "run", "--config=tests/fixtures/tests"),
        *("--results-dir=/data/runs/first", "--model=MODEL", "--tests", "test-004"),
    )
    assert list(command.fill_in) == ["MODEL"]


def test_a_finished_test_of_the_second_generation_needs_a_folder_of_its_own():
    done = failed("test-001", why="asked for", execution="completed", broke=False)

    resumed, beside = plan_for(a_batch(["test-004", done], "batch summary 2")).commands

    assert (resumed.cases, beside.cases) == (["test-004"], ["test-001"])
    assert "--results-dir=/data/runs/first-rerun" in beside.argv


def test_logs_that_name_another_model_are_told_of():
    plan = plan_for(a_batch(["test-004"], extra={"config": CONFIG, "models_in_commands": ["haiku", "sonnet"]}))

    assert "the thread logs name a different model than the summary: haiku" in map(note_text, plan.notes)


@pytest.mark.parametrize("case", ["test-1; reboot", "--fresh", "test-001\n", "test-٣"])
def test_what_is_no_test_is_left_to_the_user(case):
    plan = plan_for(a_batch([case]))

    assert plan.commands == ()
    assert len(plan.by_hand) == 1


def test_runs_of_an_experiment_are_reset_by_tier_subtest_and_number():
    wanted = [failed("test-001/T0/00", index=2), failed("test-001/T0/01", index=2), failed("test-001/T0/02", index=1)]

    first, second = plan_for(a_request("scylla", wanted, **EXPERIMENT)).commands

    assert first.argv[-5:] == (
        *("--from=replay_generated", "--filter-tier=T0", "--filter-subtest=00", "--filter-subtest=01"),
        "--filter-run=2",
    )
    assert second.argv[-2:] == ("--filter-subtest=02", "--filter-run=1")
    assert "--results-dir=/data/results" in first.argv
    assert {"--judge-model=opus", "--add-judge=sonnet", "--runs=3"} <= set(first.argv)


def test_where_the_agent_has_answered_only_the_judges_are_asked_again():
    unjudged = failed("test-001/T0/00", why="not measured", execution="completed")

    (command,) = plan_for(a_request("scylla", [unjudged], **EXPERIMENT)).commands

    assert "--from=judge_pipeline_run" in command.argv


def test_an_experiment_whose_folder_was_renamed_is_not_found_by_its_harness():
    plan = plan_for(a_request("scylla", ["test-001/T0/00"], **EXPERIMENT | {"origin": "/data/raw"}))

    assert plan.commands == ()
    assert why_by_hand(plan.by_hand[0]) == "the harness expects a folder whose name ends in `-test-001`"


def test_many_runs_of_a_subtest_are_split():
    wanted = [failed("test-001/T0/00", index=number) for number in range(1, 5_001)]

    plan = plan_for(a_request("scylla", wanted, **EXPERIMENT))

    assert len(plan.commands) == 5
    assert max(len(command.line) for command in plan.commands) < 100_000


def test_tables_do_not_tell_where_the_experiment_lies():
    plan = plan_for(a_request("scylla", ["test-001/T0/00"], version="export 1.0.0"))

    assert plan.commands == ()
    assert "an exported table does not contain" in why_by_hand(plan.by_hand[0])
