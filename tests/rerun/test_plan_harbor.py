"""Harbor jobs and the older terminal-bench runs."""

import pytest
from wishes import a_request, failed

from errata.model import Subject
from errata.rerun import Others, plan_for
from errata.rerun.plan import ALSO_WHY, note_text, why_by_hand

JOB = {"suite": "terminal-bench", "subject": Subject(model="gpt-5", provider="openai", agent="terminus-2")}


def a_job(cases, **changes):
    return a_request("harbor", cases, **{**JOB, **changes})


def a_tb_run(cases, **changes):
    return a_request("harbor", cases, version="terminal-bench", **{**JOB, **changes})


def lacking(case, **changes):
    return failed(case, why="missing", signal="", execution="missing", **changes)


def test_tasks_are_repeated_in_a_new_job_of_the_same_agent():
    (command,) = plan_for(a_job(["build-linux", "chess"])).commands

    assert command.argv == (
        *("harbor", "run", "--dataset=terminal-bench", "--agent=terminus-2", "--model=openai/gpt-5"),
        *("--n-attempts=1", "--include-task-name=build-linux", "--include-task-name=chess"),
    )


def test_the_version_of_the_dataset_is_taken_from_the_job():
    extra = {"config": {"datasets": [{"name": "other", "version": "1"}, {"name": "terminal-bench", "version": "2.0"}]}}

    plan = plan_for(a_job(["chess"], extra=extra))

    assert "--dataset=terminal-bench@2.0" in plan.commands[0].argv
    assert plan.notes == ()


def test_a_hostile_version_is_not():
    extra = {"config": {"datasets": [{"name": "terminal-bench", "version": "2.0 --path=/"}]}}

    assert "--dataset=terminal-bench" in plan_for(a_job(["chess"], extra=extra)).commands[0].argv


def test_lacking_trials_are_made_by_resuming_the_job():
    resume, run = plan_for(a_job([lacking("chess"), "build-linux"], extra={"config": {"job_name": "x"}})).commands

    assert resume.argv == ("harbor", "jobs", "resume", "--job-path=/data/runs/first")
    assert (resume.cases, run.cases) == (["chess"], ["build-linux"])


def test_resuming_tells_of_the_cancelled_trials_that_it_removes():
    others = Others(statuses={"CancelledError": 2})

    (resume,) = plan_for(a_job([lacking("chess")], extra={"config": {"job_name": "x"}}, others=others)).commands

    assert resume.also == 2
    assert resume.also_why == "cancelled_trials"
    assert "deletes the folders" in ALSO_WHY[resume.also_why]


@pytest.mark.parametrize("changes", [{}, {"extra": {"config": {"job_name": "x"}}, "group": "several"}])
def test_a_job_that_cannot_be_resumed_is_run_again_for_these_tasks(changes):
    (command,) = plan_for(a_job([lacking("chess")], **changes)).commands

    assert command.argv[:2] == ("harbor", "run")


def test_tasks_of_no_dataset_are_left_to_the_user():
    plan = plan_for(a_job(["chess"], suite="adhoc"))

    assert plan.commands == ()
    assert plan.by_hand[0].why_not == "no_dataset"
    assert "--path" in why_by_hand(plan.by_hand[0])


def test_an_agent_of_ones_own_code_is_not_named_from_a_log():
    plan = plan_for(a_job(["chess"], subject=Subject(model="gpt-5", agent="evil.module:Agent")))

    assert plan.commands == ()


def test_a_glob_would_take_other_tasks_along():
    plan = plan_for(a_job(["chess", "*"]))

    assert plan.commands[0].cases == ["chess"]
    assert plan.by_hand[0].attempt.case == "*"


def test_a_verifier_that_broke_costs_the_agents_work_again():
    plan = plan_for(a_job([failed("chess", why="not measured", execution="completed")]))

    assert any("harbor jobs regrade" in note_text(note) for note in plan.notes)


def test_terminal_bench_takes_ids_of_tasks():
    (command,) = plan_for(a_tb_run(["chess"], suite="terminal-bench-core", suite_version="0.1.1")).commands

    assert command.argv == (
        *("tb", "run", "--dataset=terminal-bench-core==0.1.1", "--agent=terminus-2", "--model=openai/gpt-5"),
        *("--n-attempts=1", "--task-id=chess"),
    )


def test_terminal_bench_without_a_dataset_has_a_gap_for_its_user():
    (command,) = plan_for(a_tb_run(["chess"])).commands

    assert "--dataset-path=FOLDER" in command.argv
    assert list(command.fill_in) == ["FOLDER"]


@pytest.mark.parametrize("task", ["../../etc", "a/b", "chess*", "[a-z]"])
def test_an_id_that_leads_elsewhere_is_left_to_the_user(task):
    assert plan_for(a_tb_run([task])).commands == ()
