"""What is special about deepeval: two spellings, several files of one run, metrics that raise or decide nothing."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, by_case, cases, change, copy_of, facts, runs

from errata import sources
from errata.sources import deepeval
from terminal import done

TEST_RUN = FIXTURES / "deepeval" / "test_run" / "data"
RESULT = FIXTURES / "deepeval" / "result" / "data"
LATEST = FIXTURES / "deepeval" / "latest" / "data"
CONVERSATION = FIXTURES / "deepeval" / "conversation" / "data"
MEASURES = FIXTURES / "deepeval" / "measures" / "data"


def checks(attempt):
    return {check.name: check for check in attempt.checks}


def with_case(folder: Path, **changes: Any) -> Path:
    """The test run with its first case changed."""
    log = copy_of("deepeval/measures", folder)
    change(log / "test_run.json", lambda run: run["testCases"][0].update(changes))
    return log


@pytest.mark.parametrize("path", [TEST_RUN, RESULT, LATEST], ids=["camelCase", "snake_case", "wrapped"])
def test_every_form_tells_the_same_three_facts(path):
    assert [facts(one) for one in attempts(path)] == [
        ("completed", "scored", "pass"),
        ("completed", "scored", "fail"),
        ("completed", "error", "none"),
    ]


def test_a_metric_that_raised_is_no_wrong_answer_although_deepeval_counts_it_as_one():
    broken = attempts(TEST_RUN)[2]

    assert (broken.native_status, broken.reported, broken.outcome) == ("success: false", 0.0, "none")
    assert [(one.type, one.message, one.phase) for one in broken.errors] == [
        ("ConnectionError", "judge 503", "scoring")
    ]


def test_a_metric_that_was_missed_decides_although_another_raised(tmp_path):
    metrics = [{"name": "A", "threshold": 1, "success": False, "score": 0.0}]
    metrics += [{"name": "B", "threshold": 1, "success": False, "error": "TimeoutError: judge"}]
    first = attempts(with_case(tmp_path, success=False, metricsData=metrics))[0]

    assert (facts(first)[1:], [error.recovered for error in first.errors]) == (("scored", "fail"), [True])


def test_a_flaky_metric_decides_nothing():
    high = by_case(MEASURES)["high"]

    assert (high.outcome, checks(high)["Style"].status, checks(high)["Style"].counts) == ("pass", "error", False)


def test_a_case_without_metrics_is_a_success_to_deepeval_and_measured_by_nobody(tmp_path):
    first = attempts(with_case(tmp_path, metricsData=[]))[0]

    assert (first.reported, facts(first)) == (1.0, ("completed", "not_run", "none"))


def test_a_case_of_which_no_metric_decides_is_in_no_pass_rate(tmp_path):
    log = with_case(tmp_path, success=None, metricsData=[{"name": "Length", "score": 5.0}])

    assert (attempts(log)[0].outcome, attempts(log)[0].reported_counted) == ("none", False)


def test_conversations_are_cases_with_their_turns():
    booking = by_case(CONVERSATION)["booking"]

    assert [(step.actor.role, step.text) for step in booking.steps] == [
        ("user", "A berth for tonight?"),
        ("assistant", "Pier 3 is yours."),
    ]
    assert (booking.steps[1].tool_calls[0].name, booking.output.text) == ("book", "Pier 3 is yours.")
    assert cases(CONVERSATION)["booking"].expected == "a berth is booked"


def test_a_judge_that_raised_on_a_conversation_broke_the_measurement():
    assert [facts(one)[1:] for one in attempts(CONVERSATION)] == [("scored", "pass"), ("error", "none")]


def test_tools_that_were_called_are_steps_and_those_expected_belong_to_the_case():
    first = attempts(TEST_RUN)[0]

    assert [(call.name, call.arguments, call.result.text) for step in first.steps for call in step.tool_calls] == [
        ("calc", {"x": 2}, "4")
    ]
    assert cases(TEST_RUN)["ok"].extra["expected_tools"] == [{"name": "calc", "type": "FUNCTION"}]


def test_a_trace_that_broke_is_an_attempt_that_broke(tmp_path):
    span = {"uuid": "s", "name": "answer", "type": "llm", "status": "ERRORED", "error": "APIError: 503"}
    span |= {"startTime": "2026-11-15T10:00:00Z", "endTime": "2026-11-15T10:00:01Z", "inputTokenCount": 12.0}
    trace = {"uuid": "t", "status": "ERRORED", "llmSpans": [span]}
    log = with_case(tmp_path, success=False, trace=trace, metricsData=[{"name": "A", "success": False, "score": 0.0}])
    first = attempts(log)[0]

    assert facts(first) == ("error", "scored", "none")
    assert [(one.type, one.phase) for one in first.errors] == [("APIError", "subject")]
    assert [(step.kind, step.usage.input) for step in first.steps] == [("model_call", 12)]


def test_the_result_beside_a_test_run_of_the_same_run_is_not_read_again():
    assert [found.path.parent.name for found in sources.find(TEST_RUN)] == ["results"]


def test_both_files_of_the_hidden_folder_are_one_run():
    assert len(runs(LATEST)) == 1
    assert runs(LATEST)[0].id == runs(TEST_RUN)[0].id


def test_a_hidden_folder_that_holds_two_runs_gives_two(tmp_path):
    log = copy_of("deepeval/latest", tmp_path)
    change(log / "hidden" / ".latest_test_run.json", lambda file: file["testRunData"].update(runDuration=9.0))

    assert len(runs(log)) == 2


def test_who_names_the_project_is_told_of_the_hidden_folder(tmp_path):
    shutil.copytree(LATEST / "hidden", tmp_path / ".deepeval")

    assert ".deepeval" in (deepeval.explain(tmp_path) or "")


def test_all_that_the_store_gets_of_a_folder_is_one_run_and_stays_so(tmp_path):
    store = tmp_path / "errata.db"
    done("import", TEST_RUN, "--store", store)
    done("import", TEST_RUN, "--store", store)

    assert [row["revision"] for row in done("runs", "--json", "--store", store).rows] == [1]
