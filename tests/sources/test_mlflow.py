"""What is special about MLflow: scorers run on nothing, scorers that broke, and two files that say the same."""

import json
import shutil

import pytest
from changed_logs import FIXTURES, attempts, cases, facts, runs, unreadables, write_rows
from mlflow_traces import RUN, feedback, span, trace, written

EVALUATE = FIXTURES / "mlflow" / "evaluate" / "data"
TABLE = FIXTURES / "mlflow" / "table" / "data"
BROKE = {"error_code": "SCORER_ERROR", "error_message": "judge 503", "stack_trace": "ConnectionError: judge 503"}


def asked(path):
    """By the question, the only thing that the four cases differ in."""
    result = {case.key: case.input["messages"][0]["content"] for case in cases(path).values()}
    return {result[one.case]: one for one in attempts(path)}


def test_a_call_that_broke_has_no_outcome_although_scorers_ran_on_nothing():
    broken = asked(EVALUATE)["boom"]

    assert facts(broken) == ("error", "scored", "none")
    assert (broken.reported, broken.reported_counted, broken.native_status) == (0.0, True, "ERROR")
    assert [(error.type, error.message, error.phase) for error in broken.errors] == [
        ("ConnectionError", "503 upstream", "subject")
    ]


def test_the_scorer_of_the_headline_decides():
    assert {name: one.outcome for name, one in asked(EVALUATE).items()} == {
        "2+2": "pass",
        "capital": "fail",
        "crash": "fail",
        "boom": "none",
    }


def test_a_scorer_that_broke_leaves_a_check_that_broke():
    judge = next(check for check in asked(EVALUATE)["crash"].checks if check.name == "judge")

    assert (judge.status, judge.value, judge.error.type, judge.error.phase) == (
        "error",
        None,
        "SCORER_ERROR",
        "scoring",
    )
    assert judge.error.frame.endswith("ml.py:10 in judge")


def test_a_scorer_that_broke_and_would_decide_is_no_verdict(tmp_path):
    path = written(tmp_path, trace(feedback("judge", error=BROKE)))
    (attempt,) = attempts(path)

    assert facts(attempt) == ("completed", "error", "none")
    assert [error.phase for error in attempt.errors] == ["scoring"]


def test_without_a_headline_every_scorer_counts(tmp_path):
    path = written(tmp_path, trace(feedback("exact", True), feedback("polite", "no")))

    assert facts(attempts(path)[0]) == ("completed", "scored", "fail")


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (True, "pass"),
        ("yes", "pass"),
        ("no", "fail"),
        (1, "pass"),
        (0.5, "fail"),
        (4, "not_applicable"),
        (None, "unscored"),
    ],
)
def test_a_value_may_be_yes_or_no_a_grade_or_on_a_scale_of_its_own(tmp_path, value, status):
    assert attempts(written(tmp_path, trace(feedback("m", value))))[0].checks[0].status == status


def test_a_trace_without_assessments_is_not_measured(tmp_path):
    assert facts(attempts(written(tmp_path, trace()))[0]) == ("completed", "not_run", "none")


def test_an_expectation_is_the_cases_and_no_check():
    attempt = asked(EVALUATE)["capital"]

    assert {case.expected for case in cases(EVALUATE).values()} == {"4", "Canberra", "x"}
    assert [check.name for check in attempt.checks] == ["exact", "judge"]


def test_a_person_who_overrides_a_judge_is_heard_and_the_judge_is_kept(tmp_path):
    first = feedback("polite", "no", rationale="curt", valid=False)
    second = feedback("polite", "yes", kind="HUMAN", overrides="a-polite") | {"assessment_id": "a-2"}
    (check,) = attempts(written(tmp_path, trace(first, second)))[0].checks

    assert (check.value, [(edit.value, edit.why) for edit in check.history]) == ("yes", [("no", "curt")])


def test_an_assessment_that_is_not_valid_does_not_count(tmp_path):
    path = written(tmp_path, trace(feedback("exact", True), feedback("old", False, valid=False)))

    assert attempts(path)[0].outcome == "pass"


def test_traces_of_several_runs_are_several_runs(tmp_path):
    other = trace(feedback("exact", True), trace_id="tr-2", trace_metadata={"mlflow.sourceRun": "f" * 32})
    path = written(tmp_path, trace(feedback("exact", True)), other, exact__mean=1.0)

    assert [(run.native_id, len(run.reported)) for run in runs(path)] == [(RUN, 1), ("f" * 32, 0)]


@pytest.mark.parametrize("source_run", [{"mlflow.sourceRun": RUN}, {}])
def test_traces_of_one_run_in_files_of_their_own_take_no_place_from_each_other(source_run, tmp_path):
    for name in ("tr-1", "tr-2"):
        result = trace(feedback("exact", True), trace_id=name, trace_metadata=source_run)
        (tmp_path / f"{name}.json").write_text(json.dumps(result))
    alone = [run for name in ("tr-1", "tr-2") for run in runs(tmp_path / f"{name}.json")]

    assert len({run.id for run in alone}) == 2
    assert len({run.group for run in alone}) == 1
    assert [len(attempts(tmp_path)), len(runs(tmp_path))] == [2, 1]


def test_a_folder_is_read_as_one_and_no_trace_twice(tmp_path):
    shutil.copytree(EVALUATE, tmp_path / "all")
    shutil.copy(TABLE / "eval_results.json", tmp_path / "all")

    assert (len(runs(tmp_path)), len(attempts(tmp_path))) == (1, 4)


def test_a_table_beside_the_traces_that_it_repeats_is_read_without_a_problem(tmp_path):
    shutil.copytree(EVALUATE, tmp_path / "all")
    shutil.copy(TABLE / "eval_results.json", tmp_path / "all")

    assert unreadables(tmp_path / "all") == []


def test_a_trace_that_its_own_file_repeats_is_reported(tmp_path):
    path = written(tmp_path, trace(feedback("exact", True)), trace(feedback("exact", True)))

    assert [one.why.partition(" tr-")[0] for one in unreadables(path)] == ["repeats the trace"]


def test_a_table_with_nothing_but_columns_is_read(tmp_path):
    row = {
        "trace_id": "tr-1",
        "trace_metadata": {},
        "state": "OK",
        "request": "Q",
        "response": "A",
        "exact/value": True,
    }
    judge = {"judge/value": None, "judge/error_message": "503"}
    (attempt,) = attempts(write_rows(tmp_path / "table.jsonl", row | judge))

    assert [(check.name, check.status) for check in attempt.checks] == [("exact", "pass"), ("judge", "error")]
    assert attempt.output.text == "A"


def test_spans_are_steps_with_their_calls_and_tokens(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "span 3", "arguments": '{"order": 9}'}}
    used = {"mlflow.chat.tokenUsage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}}
    reply = {"model": "nimbus-2", "choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [call]}}]}
    spans = [
        span(3, "TOOL", {"order": 9}, "paid", parent=1),
        span(2, "CHAT_MODEL", {"messages": [{"role": "user", "content": "Refund"}]}, reply, parent=1, told=used),
        span(1, "AGENT", {"q": "Refund"}, "done"),
    ]
    path = written(tmp_path, trace(spans=spans))
    (attempt,) = attempts(path)

    assert [(step.kind, step.text) for step in attempt.steps] == [
        ("log", "span 1"),
        ("message", "Refund"),
        ("model_call", ""),
    ]
    assert attempt.steps[2].tool_calls[0].result.text == "paid"
    assert (attempt.usage.subject.total, attempt.stop_reason, runs(path)[0].subject.model) == (
        7,
        "tool_calls",
        "nimbus-2",
    )


def test_a_trace_of_mlflow_2_is_read(tmp_path):
    old = {
        "info": {
            "request_id": "r1",
            "experiment_id": "3",
            "timestamp_ms": 1794770799702,
            "execution_time_ms": 5,
            "status": "ERROR",
            "request_metadata": {"mlflow.sourceRun": RUN},
        },
        "data": {
            "spans": [
                {
                    "name": "predict",
                    "context": {"span_id": "0x1", "trace_id": "0x2"},
                    "parent_id": None,
                    "start_time": 1794770799702000000,
                    "end_time": 1794770799707000000,
                    "status_code": "ERROR",
                    "status_message": "503 upstream",
                    "attributes": {"mlflow.spanInputs": '{"q": "boom"}'},
                }
            ]
        },
    }
    (attempt,) = attempts(write_rows(tmp_path / "traces.jsonl", old))

    assert facts(attempt) == ("error", "not_run", "none")
    assert (attempt.duration, [error.message for error in attempt.errors]) == (0.005, ["503 upstream"])


def test_a_trace_that_makes_no_sense_costs_only_itself(tmp_path):
    path = written(tmp_path, trace(feedback("exact", True)), {"info": {"state": "OK"}}, trace(trace_id="tr-2"))

    assert [one.why for one in unreadables(path)] == ["a trace without an id"]
    assert len(attempts(path)) == 2
