"""terminal-bench before Harbor: rows, failure modes, tests, and the run as two files tell it."""

import json
import shutil

import pytest
from harbor_fixtures import CODER, TERMINAL_BENCH, attempts, by_task, facts, items, items_of, runs, write

from errata.compare.trials import Trials

RESOLVED = {"claude_code_c4": 17, "claude_code_coder": 18, "claude_code_gpt5": 13, "claude_code_v3": 1}


def rows_of(folder):
    return json.loads((folder / "results.json").read_text())["results"]


def a_run(folder, *rows, **metadata):
    given = {"task_id": "task", "trial_name": "task.1-of-1.run", "is_resolved": False, "failure_mode": "unset"}
    times = {"trial_started_at": "2025-11-08T14:00:00+00:00", "trial_ended_at": "2025-11-08T14:03:00+00:00"}
    results = [given | times | {"total_input_tokens": 5, "total_output_tokens": 1} | row for row in rows]
    write(folder / "results.json", {"id": "r", "results": results, "accuracy": 0.0})
    if metadata:
        write(folder / "run_metadata.json", {"run_id": "run", "agent_name": "agent", "task_ids": []} | metadata)
    return folder


@pytest.mark.parametrize("name", RESOLVED)
def test_every_test_of_a_trial_is_a_check(name):
    checks = [check for one in attempts(items_of(TERMINAL_BENCH / name)) for check in one.checks]
    raw = [status for row in rows_of(TERMINAL_BENCH / name) for status in (row["parser_results"] or {}).values()]

    assert [check.status for check in checks].count("fail") == raw.count("failed")
    assert [check.status for check in checks].count("pass") == raw.count("passed")


def test_failure_modes_of_the_real_runs_are_told_apart():
    modes = {
        (one.native_status, facts(one))
        for name in RESOLVED
        for one in attempts(items_of(TERMINAL_BENCH / name))
        if one.native_status != "unset"
    }

    assert modes == {
        ("test_timeout", ("completed", "error", "none")),
        ("parse_error", ("completed", "error", "none")),
        ("agent_timeout", ("limit", "scored", "fail")),
    }


@pytest.mark.parametrize(
    ("mode", "resolved", "expected"),
    [
        ("unset", True, ("completed", "scored", "pass")),
        ("none", False, ("completed", "scored", "fail")),
        ("unset", None, ("completed", "unscored", "none")),
        ("unknown", None, ("error", "not_run", "none")),
        ("unknown", False, ("error", "scored", "fail")),
        ("test_timeout", None, ("completed", "error", "none")),
        ("parse_error", None, ("completed", "error", "none")),
        ("agent_timeout", True, ("limit", "scored", "pass")),
        ("unknown_agent_error", False, ("error", "scored", "fail")),
        ("fatal_llm_parse_error", False, ("error", "scored", "fail")),
        ("context_length_exceeded", False, ("limit", "scored", "fail")),
        ("output_length_exceeded", None, ("limit", "not_run", "none")),
        ("agent_installation_failed", False, ("error", "scored", "none")),
        ("something_new", None, ("error", "not_run", "none")),
    ],
)
def test_a_failure_mode_and_what_was_resolved_give_the_facts(tmp_path, mode, resolved, expected):
    (one,) = attempts(items(a_run(tmp_path / "run", {"failure_mode": mode, "is_resolved": resolved})))

    assert facts(one) == expected
    assert one.native_status == mode


def test_a_trial_that_has_not_ended_is_unfinished(tmp_path):
    (one,) = attempts(items(a_run(tmp_path / "run", {"is_resolved": None, "trial_ended_at": None})))

    assert facts(one) == ("unfinished", "not_run", "none")


def test_a_run_without_an_end_takes_its_accuracy_from_the_rows_file():
    run = runs(items_of(TERMINAL_BENCH / "claude_code_gpt5"))[0]

    assert (run.native_status, run.finished_at, run.reported[0].value) == ("running", None, 0.325)


def test_two_files_that_disagree_on_the_accuracy_are_both_told(tmp_path):
    run = runs(items(a_run(tmp_path / "run", {}, accuracy=0.5)))[0]

    assert [(one.value, one.ref.file) for one in run.reported if one.name == "accuracy"] == [
        (0.0, "results.json"),
        (0.5, "run_metadata.json"),
    ]


def test_zero_tokens_everywhere_are_tokens_that_nobody_counted():
    assert {one.usage.subject.tokens for one in attempts(items_of(CODER))} == {None}


def test_the_logs_of_a_trial_are_its_artefacts():
    files = by_task(items_of(CODER))["polyglot-c-py"].artefacts

    assert [(file.path.split("/")[-1], file.role) for file in files] == [
        ("post-test.txt", "log"),
        ("claude_code.log", "log"),
    ]


def test_a_repeated_row_is_a_duplicate_of_the_first(tmp_path):
    first, second = attempts(items(a_run(tmp_path / "run", {}, {"is_resolved": True})))

    assert (second.index, second.duplicate_of) == (2, first.id)


def test_a_planned_task_without_a_row_is_missing(tmp_path):
    _, missing = attempts(items(a_run(tmp_path / "run", {}, task_ids=["task", "other"])))

    assert (missing.case, facts(missing)) == ("terminal-bench/other", ("missing", "not_run", "none"))


def test_a_killed_run_is_read_from_the_folders_of_its_trials(tmp_path):
    row = {"task_id": "task", "trial_name": "task.1-of-1.run", "is_resolved": True, "failure_mode": "unset"}
    folder = a_run(tmp_path / "run", agent_name="agent")
    (folder / "results.json").unlink()
    write(folder / "task" / "task.1-of-1.run" / "results.json", row)

    (one,) = attempts(items(folder))

    assert (one.outcome, one.ref.file) == ("pass", "task/task.1-of-1.run/results.json")


def test_the_rows_file_alone_is_enough_under_any_name(tmp_path):
    shutil.copy(CODER / "results.json", tmp_path / "saved.txt")

    found = items(tmp_path / "saved.txt")

    assert len(attempts(found)) == 40
    assert attempts(found)[0].ref.file == "saved.txt"


def test_a_trial_whose_name_leaves_the_folder_has_no_files(tmp_path):
    write(tmp_path / "outside" / "panes" / "post-test.txt", "secret")

    (one,) = attempts(items(a_run(tmp_path / "run", {"task_id": "..", "trial_name": "outside"})))

    assert one.artefacts == ()


def test_a_task_that_was_counted_and_whose_row_is_gone_is_not_missing(tmp_path):
    run = a_run(tmp_path / "run", {}, task_ids=["task", "other", "third"])
    row = json.loads((run / "results.json").read_text())
    write(run / "results.json", row | {"n_resolved": 1, "n_unresolved": 1, "resolved_ids": ["other"]})
    found = items(run)
    trials = Trials(runs(found)[0], attempts(found))

    assert (trials.not_in_log, trials.absent) == (1, 0)
    assert [one.case for one in attempts(found) if one.execution == "missing"] == ["terminal-bench/third"]
