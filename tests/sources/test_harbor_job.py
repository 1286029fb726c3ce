"""Jobs of Harbor as runs: whose they are, what they were to hold, and the harness's own numbers."""

import shutil

import pytest
from harbor_fixtures import (
    DEMO,
    KIMI,
    STEPS,
    a_job,
    a_result,
    an_exception,
    attempts,
    by_task,
    documents,
    facts,
    items,
    items_of,
    runs,
    write,
)

from errata.compare.trials import Trials
from errata.model import Unreadable
from errata.sources import harbor
from terminal import done, errata

MISSING_UVX = "uvx: command not found"


def raw_kimi():
    return documents("*/result.json", KIMI)


def test_an_old_job_leaves_trials_with_an_exception_out_of_its_mean():
    counted = [one for one in attempts(items_of(KIMI)) if one.reported_counted]
    raw = [result for result in raw_kimi().values() if result["exception_info"] is None]
    headline = next(one for one in runs(items_of(KIMI))[0].reported if one.headline)

    assert len(counted) == len(raw) == headline.n == 42
    assert sum(one.reported for one in counted) / 42 == headline.value == 0.0


def test_the_16_trials_whose_verifier_never_ran_can_be_told_by_their_files():
    without = [
        one
        for one in attempts(items_of(KIMI))
        if any(file.path == "verifier/test-stdout.txt" and MISSING_UVX in file.text for file in one.artefacts)
        and not any(file.path == "verifier/ctrf.json" for file in one.artefacts)
    ]
    raw = [
        path
        for path in KIMI.glob("*/verifier/test-stdout.txt")
        if MISSING_UVX in path.read_text() and not (path.parent / "ctrf.json").exists()
    ]

    assert len(without) == len(raw) == 16
    assert {facts(one)[1:] for one in without} == {("scored", "fail")}


def test_each_agent_model_and_dataset_of_a_job_is_a_run_of_one_group(tmp_path):
    other = {"name": "agent", "version": "1", "model_info": {"name": "other", "provider": "lab"}}
    evals = {
        "agent__model__bench": {"n_trials": 1, "metrics": [{"mean": 0.25}], "reward_stats": {"reward": {"0.0": []}}},
        "agent__other__bench": {"n_trials": 1, "metrics": [{"mean": 0.75}], "reward_stats": {"reward": {"0.0": []}}},
    }
    job = a_job(
        tmp_path / "job",
        a_result(),
        a_result(trial_name="task__b2", agent_info=other),
        a_result(trial_name="task__c3", source="second"),
        evals=evals,
    )

    found = runs(items(job))

    assert {(run.subject.model, run.suite) for run in found} == {
        ("model", "bench"),
        ("other", "bench"),
        ("model", "second"),
    }
    assert len({run.id for run in found}) == 3
    assert {run.group for run in found} == {"job-1"}
    assert [run.reported[0].value for run in found if run.suite == "bench"] == [0.25, 0.75]


def test_a_trial_folder_without_a_result_is_unfinished():
    one = next(one for one in attempts(items_of(STEPS)) if one.execution == "unfinished")

    assert (one.case, one.index, facts(one)[1:]) == ("made-up-bench/search", 2, ("not_run", "none"))


def test_a_planned_trial_without_a_folder_is_missing():
    one = next(one for one in attempts(items_of(STEPS)) if one.execution == "missing")

    assert (one.case, one.index, str(one.ref)) == ("made-up-bench/deploy", 2, "lock.json#/trials/1")


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ("chess__tt1", (1, 0)),  # it has a reward
        ("hello-world__kQ9zT", (1, 0)),
    ],
)
def test_a_trial_that_was_measured_and_whose_folder_is_gone_is_not_missing(gone, told, tmp_path):
    job = shutil.copytree(DEMO, tmp_path / "job")
    shutil.rmtree(job / gone)
    found = items(job)
    trials = Trials(runs(found)[0], attempts(found))

    assert (trials.not_in_log, trials.absent) == told


def test_a_trial_that_broke_and_whose_folder_is_gone_is_told_by_the_job(tmp_path):
    job = shutil.copytree(DEMO, tmp_path / "job")
    shutil.rmtree(job / "build-linux__zz9")
    found = items(job)
    broken = next(one for one in attempts(found) if one.native_id == "build-linux__zz9")
    trials = Trials(runs(found)[0], attempts(found))

    assert (facts(broken), broken.native_status) == (("error", "not_run", "none"), "EnvironmentStartTimeoutError")
    assert (broken.case, broken.index) == ("terminal-bench/build-linux", 1)
    assert (len(trials.rows), trials.not_in_log, trials.absent) == (4, 0, 0)


@pytest.mark.parametrize("named", [True, False])
def test_what_the_lock_plans_and_the_job_counts_is_not_missing(named, tmp_path):
    names = ["task__a1", "other__b2"]
    result = {"reward": {"0.0": names}} if named else {"0.0": 2}
    evals = {"agent__model__bench": {"n_trials": 2, "n_errors": 0, "metrics": [{"mean": 0.0}], "reward_stats": result}}
    job = a_job(tmp_path / "job", a_result(), evals=evals, n_total_trials=3 if named else 2)
    planned = ["task", "other", "third"] if named else ["task", "other"]
    write(job / "lock.json", {"trials": [{"task": {"name": name}} for name in planned]})
    found = items(job)
    trials = Trials(runs(found)[0], attempts(found))

    assert [one.case for one in attempts(found) if one.execution == "missing"] == ["bench/third"] * named
    assert (trials.not_in_log, len(trials.rows)) == (1, 1 + named)


@pytest.mark.trap(20)
def test_values_of_the_environment_and_keys_are_never_kept():
    assert "not-for-the-store" not in repr(items_of(STEPS))


@pytest.mark.trap(20)
def test_the_names_of_environment_variables_are_kept():
    config = by_task(items_of(STEPS))["deploy"].extra["config"]

    assert config["agent"]["env"] == ["DEBUG", "OPENAI_API_KEY"]
    assert config["environment"]["env"] == ["HTTP_PROXY"]


def test_a_trial_alone_is_a_run_of_its_own():
    run = runs(items(DEMO / "chess__tt1"))[0]

    assert (run.native_id, run.name, run.expected_cases) == ("5d286ddc-9f03-4364-961f-43dfd168fc5b", "chess__tt1", 1)
    assert run.id != runs(items_of(DEMO))[0].id
    assert len(attempts(items(DEMO / "chess__tt1"))) == 1


def test_a_trial_alone_names_its_job_as_its_group():
    run = runs(items(KIMI / "pypi-server__XLnvB86"))[0]

    assert run.group == runs(items_of(KIMI))[0].native_id


@pytest.mark.parametrize("damage", ["", "{", "null"])
def test_a_job_is_known_by_its_trials_where_its_own_result_is_damaged(tmp_path, damage):
    shutil.copytree(DEMO, tmp_path / "job")
    (tmp_path / "job" / "result.json").write_text(damage)

    found = items(tmp_path / "job")

    assert len(attempts(found)) == 4
    assert [item.where for item in found if isinstance(item, Unreadable)] == ["result.json"]


def test_a_killed_job_without_a_result_is_known_by_the_job_that_its_trials_name(tmp_path):
    shutil.copytree(KIMI, tmp_path / "job")
    (tmp_path / "job" / "result.json").unlink()

    found = items(tmp_path / "job")

    assert runs(found)[0].native_id == runs(items_of(KIMI))[0].native_id
    assert {one.reported_counted for one in attempts(found)} == {None}


def test_a_damaged_trial_is_unreadable_and_the_rest_is_kept(tmp_path):
    shutil.copytree(KIMI, tmp_path / "job")
    (tmp_path / "job" / "pypi-server__XLnvB86" / "result.json").write_text('{"id": "dca')

    found = items(tmp_path / "job")

    assert len(attempts(found)) == 44
    assert [item.where for item in found if isinstance(item, Unreadable)] == ["pypi-server__XLnvB86/result.json"]


def test_results_that_stand_only_in_the_jobs_own_file_are_read(tmp_path):
    job = a_job(tmp_path / "job", trial_results=[a_result()])

    found = attempts(items(job))

    assert [(one.case, str(one.ref)) for one in found] == [("bench/task", "result.json#/trial_results/0")]


def test_a_job_that_has_made_no_trial_is_a_run_without_attempts(tmp_path):
    job = a_job(tmp_path / "job", n_total_trials=5, finished_at=None)
    write(job / "config.json", {"agents": [{"name": "agent", "model_name": "lab/model"}], "n_attempts": 1})

    (run,) = items(job)

    assert (run.subject.model, run.expected_cases, run.native_status) == ("model", 5, "running")


def test_one_file_of_a_job_is_explained():
    assert "import its folder" in harbor.explain(DEMO / "result.json")
    assert "trajectory" in harbor.explain(DEMO / "hello-world__kQ9zT" / "agent" / "trajectory.json")


def test_an_old_job_counts_trials_with_rewards_and_no_exception(tmp_path):
    evals = {"agent__bench": {"n_trials": 1, "n_errors": 1, "reward_stats": {"0.0": 1}}}
    results = [
        a_result(),
        a_result(trial_name="task__b2", exception_info=an_exception("AgentTimeoutError")),
        a_result(trial_name="task__c3", verifier_result=None),
    ]

    found = attempts(items(a_job(tmp_path / "job", *results, evals=evals)))

    assert [one.reported_counted for one in found] == [True, False, False]


@pytest.mark.req("N-04")
@pytest.mark.req("N-06")
@pytest.mark.parametrize("keys", [("accuracy", "reward", "style"), ("accuracy", "style"), ("reward",), ("score",)])
@pytest.mark.usefixtures("at_home")
def test_of_several_rewards_each_has_its_own_mean_and_the_one_that_decides_is_the_headline(tmp_path, keys):
    """Harbor's own metric: the mean of each key over all trials, 0 where a trial has no reward."""
    values = {"accuracy": (1, 0, 1, 1), "reward": (1, 0, 0, 1), "style": (0.5, 1, 0, 0), "score": (1, 1, 0, 1)}
    rewards = [dict(zip(keys, row, strict=True)) for row in zip(*(values[key] for key in keys), strict=True)]
    results = [
        a_result(id=f"id-{at}", task_name=f"t{at}", trial_name=f"t{at}__a", verifier_result={"rewards": given})
        for at, given in enumerate(rewards)
    ]
    means = {key: sum(values[key]) / 4 for key in keys} if len(keys) > 1 else {"mean": sum(values[keys[0]]) / 4}
    evals = {"agent__model__bench": {"n_trials": 4, "n_errors": 0, "metrics": [means]}}
    done("import", a_job(tmp_path / "job", *results, evals=evals))
    score = done("score", "latest", "--json").row["scores"]["as_reported"]
    findings = {one["name"] for one in errata("check", "latest", "--json").row["findings"]}

    assert "aggregate_mismatch" not in findings
    others = done("analyze", "latest", "--json", "--no-report").row["other_checks"]
    assert {name: count["mean"] for name, count in others.items()} == {
        key: mean for key, mean in means.items() if len(keys) == 3 and key != "reward"
    }
    if len(keys) == 2:
        assert (score["stated"], score["reproduced"]) == (means["accuracy"], None)
    else:
        assert (score["stated"], score["reproduced"]) == (means.get("reward", means.get("mean")), True)
