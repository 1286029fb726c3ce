"""SWE-bench: what its report, its logs and the trajectories of agents say of an instance, and how they are joined."""

import json
import shutil
from pathlib import Path

import pytest

from errata.compare.trials import Trials
from errata.model import Attempt, Case, Run, Unreadable
from errata.sources import swe_bench
from errata.sources.swe_bench import swe_agent

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources" / "swe_bench"
REPORT = FOLDER / "report" / "data"
JOINED = FOLDER / "joined" / "data"
OPENHANDS = FOLDER / "openhands" / "data" / "results"


def attempts(path: Path) -> dict[str, Attempt]:
    """By instance."""
    return {item.case.rpartition("/")[2]: item for item in swe_bench.read(path) if isinstance(item, Attempt)}


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome


def copied(source: Path, to: Path) -> Path:
    return Path(shutil.copytree(source, to / "run"))


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        ("django__django-1", ("completed", "scored", "pass")),
        ("django__django-2", ("limit", "scored", "fail")),  # handed in by the agent when its context was full
        ("django__django-3", ("error", "scored", "none")),  # the agent crashed and handed in nothing
        ("django__django-4", ("limit", "scored", "fail")),  # an empty patch after the last turn
        ("django__django-5", ("missing", "not_run", "none")),
        ("django__django-6", ("completed", "scored", "fail")),  # the patch does not apply, an error to SWE-bench
        ("django__django-7", ("completed", "error", "none")),  # the tests timed out
        ("django__django-8", ("completed", "scored", "fail")),  # advisory: it may have been the environment
        ("django__django-9", ("completed", "error", "none")),  # the environment failed, unresolved to SWE-bench
    ],
)
def test_the_three_facts_of_an_instance(instance, expected):
    assert facts(attempts(JOINED)[instance]) == expected


def test_an_instance_that_the_report_counts_and_does_not_name_is_not_missing(tmp_path):
    path = tmp_path / "mock__model-1.demo-run.json"
    data = json.loads((REPORT / path.name).read_text())
    path.write_text(
        json.dumps(data | {"resolved_ids": [], "completed_ids": data["unresolved_ids"], "submitted_ids": []})
    )
    found = list(swe_bench.read(path))
    run = next(item for item in found if isinstance(item, Run))
    trials = Trials(run, [item for item in found if isinstance(item, Attempt)])

    assert (trials.not_in_log, trials.absent) == (1, 0)


def test_without_logs_and_trajectories_the_lists_of_the_report_alone_decide():
    found = attempts(REPORT / "mock__model-1.demo-run.json")

    assert {name[-1]: facts(attempt) for name, attempt in found.items()} == {
        "1": ("completed", "scored", "pass"),
        "2": ("completed", "scored", "fail"),
        "3": ("completed", "error", "none"),
        "4": ("completed", "scored", "fail"),
        "5": ("missing", "not_run", "none"),
    }


def test_everything_of_the_dataset_is_in_the_denominator():
    assert {attempt.reported for attempt in attempts(JOINED).values()} == {0.0, 1.0}
    assert all(attempt.reported_counted for attempt in attempts(JOINED).values())


def test_an_environment_that_failed_is_an_error_of_the_environment():
    (error,) = attempts(REPORT)["django__django-3"].errors

    assert (error.type, error.phase) == ("container_unavailable", "environment")
    assert error.message == "Error response from daemon: no space left on device"


def test_a_regression_and_an_unsolved_issue_are_different_checks():
    attempt = attempts(JOINED)["django__django-8"]

    assert attempt.failed_checks == ("FAIL_TO_PASS", "PASS_TO_PASS")


def test_tests_that_decide_nothing_do_not_count():
    (check,) = [one for one in attempts(JOINED)["django__django-8"].checks if one.name == "PASS_TO_FAIL"]

    assert (check.status, check.counts) == ("fail", False)


def test_the_report_of_an_instance_goes_before_the_lists(tmp_path):
    copy = copied(JOINED, tmp_path)
    report = copy / "mock__model-1.nightly.json"
    data = json.loads(report.read_text())
    data["resolved_ids"].append("django__django-8")
    report.write_text(json.dumps(data))
    attempt = attempts(copy)["django__django-8"]

    assert (attempt.outcome, attempt.reported) == ("fail", 1.0)


def test_the_model_and_the_run_come_from_the_folder_of_the_logs(tmp_path):
    run = next(iter(swe_bench.read(JOINED)))

    assert (run.native_id, run.subject.model, run.subject.agent) == ("nightly", "mock/model-1", "mini-swe-agent")


def test_a_report_called_results_lies_in_the_folder_of_its_run(tmp_path):
    folder = tmp_path / "logs" / "evaluation" / "v5-run"
    shutil.copytree(REPORT / "logs" / "run_evaluation" / "demo-run", folder)
    shutil.copy(REPORT / "mock__model-1.demo-run.json", folder / "results.json")
    run, *items = swe_bench.read(folder)

    assert (run.native_id, run.subject.model) == ("v5-run", "mock__model-1")
    assert any(isinstance(item, Attempt) and item.checks for item in items)


def test_logs_without_a_report_are_a_run_of_their_own():
    (run,) = [item for item in swe_bench.read(REPORT / "logs") if isinstance(item, Run)]

    assert (run.native_id, run.subject.model, run.reported) == ("demo-run", "mock__model-1", ())


def test_reports_of_two_models_in_one_folder_are_two_runs(tmp_path):
    copy = copied(REPORT, tmp_path)
    shutil.copy(copy / "mock__model-1.demo-run.json", copy / "other__model.demo-run.json")
    runs = [item for item in swe_bench.read(copy) if isinstance(item, Run)]

    assert sorted(run.subject.model for run in runs) == ["mock/model-1", "other__model"]


def test_a_trajectory_that_may_be_of_either_of_two_runs_is_joined_to_none(tmp_path):
    copy = copied(JOINED, tmp_path)
    shutil.copy(copy / "mock__model-1.nightly.json", copy / "other__model.nightly.json")

    assert not any(item.steps for item in swe_bench.read(copy) if isinstance(item, Attempt))


def test_a_folder_that_names_the_model_tells_whose_trajectories_are_in_it(tmp_path):
    copy = copied(JOINED, tmp_path)
    shutil.copy(copy / "mock__model-1.nightly.json", copy / "other__model.nightly.json")
    (copy / "trajectories").rename(copy / "mock__model-1")
    items = list(swe_bench.read(copy))
    models = {item.id: item.subject.model for item in items if isinstance(item, Run)}

    assert {models[item.run] for item in items if isinstance(item, Attempt) and item.steps} == {"mock/model-1"}


def test_a_verdict_of_swe_bench_pro_that_is_no_yes_or_no_is_unreadable(tmp_path):
    folder = tmp_path / "some-model"
    folder.mkdir()
    (folder / "eval_results.json").write_text('{"instance_a__b-1": true, "instance_a__b-2": null}')
    items = list(swe_bench.read(folder))

    assert [item.why for item in items if isinstance(item, Unreadable)] == ["expected true or false, not None"]
    assert [item.outcome for item in items if isinstance(item, Attempt)] == ["pass"]


# trajectories


@pytest.mark.parametrize(
    ("status", "execution", "limit"),
    [
        ("submitted", "completed", ""),
        ("submitted (exit_cost)", "limit", "cost"),
        ("exit_context", "limit", "context"),
        ("exit_total_execution_time", "limit", "time"),
        ("exit_api", "error", ""),
        ("exit_format", "error", ""),
        ("exit_environment_error", "error", ""),
        ("early_exit", "unfinished", ""),
        ("", "unfinished", ""),
    ],
)
def test_how_swe_agent_ended(status, execution, limit):
    ending = swe_agent.ending_of(status)

    assert (ending.execution, ending.limit) == (execution, limit)


def test_an_old_trajectory_of_swe_agent_has_its_task_and_its_commands():
    *_, case, attempt = swe_bench.read(FOLDER / "swe_agent" / "data")

    assert isinstance(case, Case)
    assert case.input.startswith("We're currently solving the following issue")
    assert [call.name for step in attempt.steps for call in step.tool_calls] == [
        "find_file",
        "open",
        "edit",
        "python",
        "submit",
    ]


def test_a_trajectory_alone_was_not_measured():
    assert {facts(one)[1:] for one in attempts(FOLDER / "mini_swe_agent" / "data" / "attempt").values()} == {
        ("not_run", "none")
    }


def test_a_crash_of_mini_swe_agent_has_its_traceback():
    (error,) = attempts(FOLDER / "mini_swe_agent" / "data" / "attempt")["crash"].errors

    assert (error.type, error.message) == ("IndexError", "list index out of range")
    assert error.traceback.rstrip().endswith("IndexError: list index out of range")


def test_openhands_calls_a_limit_an_error():
    attempt = attempts(OPENHANDS)["django__django-2"]

    assert (attempt.execution, attempt.limit.type, attempt.errors) == ("limit", "turn", ())


def test_an_instance_that_openhands_has_no_row_for_is_missing():
    assert facts(attempts(OPENHANDS)["django__django-4"]) == ("missing", "not_run", "none")


def test_what_openhands_did_not_choose_is_not_read():
    assert attempts(OPENHANDS)["django__django-1"].output.text == "diff --git a/x b/x\n"


def test_a_trajectory_that_was_cut_off_leaves_the_verdict_and_is_told(tmp_path):
    copy = copied(JOINED, tmp_path)
    file = copy / "trajectories" / "django__django-1" / "django__django-1.traj.json"
    file.write_bytes(file.read_bytes()[:-20])
    items = list(swe_bench.read(copy))

    assert facts(attempts(copy)["django__django-1"]) == ("completed", "scored", "pass")
    assert [item.ref.file for item in items if isinstance(item, Unreadable)] == [file.relative_to(copy).as_posix()]


# recognition


def test_one_instance_is_no_run_and_a_hint_says_what_is():
    folder = REPORT / "logs" / "run_evaluation" / "demo-run" / "mock__model-1" / "django__django-1"

    assert swe_bench.recognise(folder) is None
    assert "the model's folder" in swe_bench.explain(folder)


def test_predictions_alone_are_no_run():
    assert swe_bench.recognise(REPORT / "predictions.json") is None
    assert swe_bench.explain(REPORT / "predictions.json").startswith("these are predictions")
