"""The same for each format that is evaluated by a harness of its own."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any
from xml.etree import ElementTree

import pytest
from changed_logs import change, copy_of
from test_reported_numbers import FIXTURES, NO_HEADLINE, data, named, recomputed, value_of

# aider's own rate, by the rule of its benchmark; a leaderboard has no rows to recount its rates from.


AIDER = FIXTURES / "aider"


def test_the_rate_after_the_last_try_of_all_exercises_that_left_a_result():
    ((folder, _, score),) = recomputed(AIDER / "run" / "data")
    row = [json.loads(file.read_text()) for file in folder.rglob(".aider.results.json")]
    passed = [bool((one.get("tests_outcomes") or [False])[-1]) for one in row]

    assert (score["passed"], score["total"]) == (sum(passed), len(passed))
    assert value_of(score) == pytest.approx(sum(passed) / len(passed))


def test_a_leaderboard_states_its_passes_and_has_no_rows_to_recount_them_from():
    found = [*recomputed(AIDER / "leaderboard" / "data")]

    assert {score["note"]["code"] for _, _, score in found} == {"passes_without_rows"}
    assert {score["reproduced"] for _, _, score in found} == {None}
    assert {score["stated"]: (score["passed"], score["total"]) for _, _, score in found} == {
        0.44: (99, 225),
        0.356: (80, 225),
        0.08: (18, 225),
    }
    names = [{finding["name"] for finding in score["findings"]} for _, _, score in found]
    assert names == [{"no_attempts", "cases_not_in_log"}] * len(found)


# The accuracy that the scores of BFCL begin with, recomputed from the results and the failures.


CATEGORIES = {
    "categories": 23,  # every category of BFCL v4, scored by the harness itself
    "published": 5,
    "simple": 1,
}


@pytest.mark.parametrize("fixture", CATEGORIES)
def test_the_accuracy_of_every_category_is_reproduced(fixture):
    path = FIXTURES / "bfcl" / fixture / "data"
    checked = set()
    for folder, run, score in recomputed(path):
        (file,) = folder.rglob(f"*_{run.name}_score.json") if fixture != "categories" else folder.rglob(run.ref.file)
        header = json.loads(file.read_text().splitlines()[0])
        checked.add(file)

        assert (value_of(score), score["reproduced"]) == (pytest.approx(header["accuracy"]), True), run.name
        assert (score["passed"], score["total"]) == (header["correct_count"], header["total_count"]), run.name
        assert not {one["name"] for one in score["findings"]} & {"impossible_count", "files_disagree", "missing_cases"}
    assert len(checked) == CATEGORIES[fixture]


# The pass rate of deepeval, recomputed from its cases.


@pytest.mark.parametrize("path", data("deepeval"), ids=named)
def test_the_pass_rate_of_a_test_run(path):
    for place, _, score in recomputed(path):
        row = json.loads((place / ".latest_run_full.json" if place.is_dir() else place).read_text())
        if "test_results" in row:
            # the result of `evaluate` states no number; it is counted as the test run would be
            passed, whole = sum(one["success"] for one in row["test_results"]), len(row["test_results"])
            assert (score["passed"], score["total"], score["stated"]) == (passed, whole, None)
        else:
            stated = row["testPassed"] / (row["testPassed"] + row["testFailed"])
            assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)
        assert "aggregate_mismatch" not in [finding["name"] for finding in score["findings"]]


# The primary metric of an evalscope report, recomputed from the reviews.


def test_the_primary_metric_of_every_report():
    for folder, run, score in recomputed(FIXTURES / "evalscope" / "repeats" / "data"):
        report = json.loads((folder / "reports" / run.subject.model / f"{run.suite}.json").read_text())
        (metric,) = [one for one in report["metrics"] if one["identity"] == report["primary_metric_identity"]]

        assert (value_of(score), score["reproduced"]) == (pytest.approx(metric["score"]), True)
        assert score["total"] == metric["num"] == report["execution_summary"]["succeeded"]


def test_files_without_a_report_have_no_number_to_reproduce():
    scores = [score for _, _, score in recomputed(FIXTURES / "evalscope" / "files_alone" / "data")]

    assert [score["note"] for score in scores] == [NO_HEADLINE] * 2


# The first number of an evaluation, recomputed from its instances.


def test_the_first_number_of_a_conversion():
    for file, _, score in recomputed(FIXTURES / "every_eval_ever" / "from_inspect" / "data"):
        data = json.loads(file.read_text())["evaluation_results"][0]["score_details"]

        assert (value_of(score), score["reproduced"]) == (pytest.approx(data["score"]), True)
        # two epochs of each sample that is counted
        assert score["total"] == 2 * data["uncertainty"]["num_samples"]


def test_instances_alone_have_no_number_to_reproduce():
    scores = [score for _, _, score in recomputed(FIXTURES / "every_eval_ever" / "rows_alone" / "data")]

    assert [score["note"] for score in scores] == [NO_HEADLINE]


# The means of scorers, as Braintrust states them and LangSmith shows them, recomputed from the rows.


@pytest.mark.parametrize("path", [one for one in data("braintrust") if one.parent.name != "spans"], ids=named)
def test_the_summary_of_braintrust_states_the_mean_of_the_first_scorer(path):
    for file, _, score in recomputed(path):
        stated = next(iter(json.loads(file.read_text())["summary"]["scores"].values()))["score"]

        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


@pytest.mark.parametrize("path", data("langsmith"), ids=named)
def test_the_mean_of_the_first_evaluator_of_langsmith_counts_crashes_as_it_does(path):
    for file, _, score in recomputed(path):
        rows = map(json.loads, file.read_text().splitlines())
        result = [row["evaluation_results"][0]["score"] for row in rows]

        assert value_of(score) == pytest.approx(fmean(result))


# The number of a HELM leaderboard, recomputed from the instances of the test split.


@pytest.mark.parametrize("path", data("helm"), ids=named)
def test_the_mean_of_the_main_metric(path):
    for folder, _, score in recomputed(path):
        stats = json.loads((folder / "stats.json").read_text())
        (stated,) = [one["mean"] for one in stats if one["name"] == {"name": "exact_match", "split": "test"}]
        (instances,) = [one["mean"] for one in stats if one["name"] == {"name": "num_instances", "split": "test"}]

        assert (value_of(score), score["stated"], score["reproduced"]) == (pytest.approx(stated), stated, True)
        assert score["total"] == instances


# The number that a dataset run of Langfuse was given, recomputed from the scores of its traces.


DATASET_RUN = FIXTURES / "langfuse" / "dataset_run" / "data"


def test_the_average_of_a_score():
    (stated,) = [row["value"] for row in json.loads((DATASET_RUN / "scores.json").read_text())["data"]]

    for _, _, score in recomputed(DATASET_RUN):
        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


def test_traces_of_no_run_have_no_number():
    assert [score["note"] for _, _, score in recomputed(FIXTURES / "langfuse" / "bucket" / "data")] == [NO_HEADLINE]


# The numbers of lm-evaluation-harness, recomputed from its samples.


def first_measure(file: Path, task: str) -> float:
    """What the results state first about a task."""
    entry = json.loads(file.read_text())["results"][task]
    return next(value for name, value in entry.items() if "," in name and "_stderr" not in name)


@pytest.mark.parametrize("path", [one for one in data("lm_eval") if "alone" not in one.parent.name], ids=named)
def test_the_first_measure_of_every_task(path):
    for file, run, score in recomputed(path):
        assert score["stated"] == first_measure(file, run.suite)
        if score["total"]:
            assert (score["reproduced"], value_of(score)) == (True, pytest.approx(score["stated"]))
        else:
            assert score["note"]["stated"] == score["stated"]
            assert "cases_not_in_log" in [finding["name"] for finding in score["findings"]]


def test_a_task_of_which_only_some_samples_were_published_says_so():
    (path,) = (one for one in data("lm_eval") if one.parent.name == "maths")

    notes = {(score["note"]["code"], score["note"]["count"]) for _, _, score in recomputed(path)}

    assert notes == {("no_rows", None), ("rows_not_in_log", 4996)}


def test_samples_alone_have_no_number_to_reproduce():
    (path,) = (one for one in data("lm_eval") if "alone" in one.parent.name)

    assert all(score["note"] == NO_HEADLINE for _, _, score in recomputed(path))


# The metrics of an evaluation with MLflow, recomputed from its traces.


EVALUATE = FIXTURES / "mlflow" / "evaluate" / "data"


def test_the_mean_of_the_first_scorer():
    stated = json.loads((EVALUATE / "summary.json").read_text())["metrics"]["exact/mean"]

    for _, _, score in recomputed(EVALUATE):
        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


def test_a_table_alone_states_no_number():
    assert [score["note"] for _, _, score in recomputed(FIXTURES / "mlflow" / "table" / "data")] == [NO_HEADLINE]


# The final report of OpenAI evals, recomputed from the events.


@pytest.mark.parametrize("path", data("openai_evals"), ids=named)
def test_the_accuracy_or_the_score_of_a_final_report(path):
    for file, _, score in recomputed(path):
        rows = map(json.loads, file.read_text().splitlines())
        (report,) = [row["final_report"] for row in rows if "final_report" in row]
        stated = report.get("accuracy", report.get("score"))

        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


# Traces state no number of their own.


@pytest.mark.parametrize("path", data("otlp"), ids=named)
def test_traces_have_no_headline(path):
    for _, run, score in recomputed(path):
        assert (run.reported, score["note"]) == ((), NO_HEADLINE)


# The averages that pydantic-evals prints, recomputed from its cases: it writes none of them down.


def printed(report: dict[str, Any]) -> float:
    """Of each case all that was asserted of its repeats, and then the mean of the cases; of scores the same."""
    groups: dict[str, list[float]] = defaultdict(list)
    for case in report["cases"]:
        result = case["assertions"] or case["scores"]
        groups[case["source_case_name"] or ""] += [float(one["value"]) for one in result.values()]
    return fmean(fmean(values) for values in groups.values() if values)


@pytest.mark.parametrize("path", data("pydantic_evals"), ids=named)
def test_the_average_of_a_report(path):
    for file, _, score in recomputed(path):
        assert value_of(score) == pytest.approx(printed(json.loads(file.read_text())))


def test_cases_with_more_assertions_weigh_more_and_that_is_not_recomputed(tmp_path):
    log = copy_of("pydantic_evals/repeats", tmp_path)

    def how(report):
        for case in report["cases"]:
            case["source_case_name"] = None

    change(log / "report.json", how)
    ((_, _, score),) = recomputed(log)

    assert (score["note"]["code"], score["note"]["words"]) == ("rule_unknown", ["share of all assertions"])


# The mean that ragas prints of its first measure, recomputed from the rows: it writes it nowhere.


@pytest.mark.parametrize("path", data("ragas"), ids=named)
def test_the_mean_of_the_rows_that_were_measured(path):
    for file, _, score in recomputed(path):
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines)) if file.suffix == ".csv" else list(map(json.loads, lines))
        measured = [float(row["exact_match"]) for row in rows if row["exact_match"] not in ("", None)]

        assert (value_of(score), score["total"], score["stated"]) == (fmean(measured), len(measured), None)


# SWE-bench's own numbers, recomputed from the instances: of every report, and of every map of SWE-bench Pro.


SWE_BENCH = FIXTURES / "swe_bench"


@pytest.mark.parametrize("name", ["report", "joined", "openhands"])
def test_the_instances_resolved_of_all(name):
    ((folder, _, score),) = recomputed(SWE_BENCH / name / "data")
    (report,) = [
        data for path in folder.glob("*.json") if "resolved_instances" in (data := json.loads(path.read_text()))
    ]

    assert score["total"] == report["total_instances"]
    assert value_of(score) == pytest.approx(report["resolved_instances"] / report["total_instances"])
    assert score["reproduced"]


def test_the_accuracy_of_every_map_of_swe_bench_pro():
    """No file states it; the rule is that of its evaluation script."""
    for folder, _, score in recomputed(SWE_BENCH / "pro" / "data"):
        row = json.loads((folder / "eval_results.json").read_text())
        assert (score["passed"], score["total"], score["stated"]) == (sum(row.values()), len(row), None)


@pytest.mark.parametrize("name", ["mini_swe_agent", "swe_agent"])
def test_trajectories_alone_have_no_number(name):
    for _, _, score in recomputed(SWE_BENCH / name / "data"):
        assert score["note"] == NO_HEADLINE


# The average reward of tau-bench and tau2-bench, by the rule of each: no file states it.


TAU_BENCH = FIXTURES / "tau_bench"
NOT_EVALUABLE = ("infrastructure_error", "context_window_exceeded")


def test_the_average_reward_of_a_document():
    ((file, _, score),) = recomputed(TAU_BENCH / "tau2" / "data")
    data = [one["reward_info"]["reward"] for one in json.loads(file.read_text())["simulations"]]

    assert (value_of(score), score["total"]) == (pytest.approx(fmean(data)), len(data))


def test_the_average_reward_leaves_out_what_is_not_evaluable():
    ((folder, _, score),) = recomputed(TAU_BENCH / "tau2_endings" / "data")
    simulations = [json.loads(file.read_text()) for file in (folder / "simulations").iterdir()]
    result = [
        one["reward_info"]["reward"]
        for one in simulations
        if one["reward_info"] and one["termination_reason"] not in NOT_EVALUABLE
    ]

    assert (value_of(score), score["total"]) == (pytest.approx(fmean(result)), len(result))


def test_the_average_reward_of_tau_bench_counts_exceptions_as_nothing():
    ((file, _, score),) = recomputed(TAU_BENCH / "tau" / "data")
    data = [one["reward"] for one in json.loads(file.read_text())]

    assert (value_of(score), score["total"]) == (pytest.approx(fmean(data)), len(data))


# What test runners count, recomputed from their tests: by the standard library alone what they state.


COUNTS = ("tests", "failures", "errors", "skipped")


@pytest.mark.parametrize("path", data("junit"), ids=named)
def test_the_counts_of_a_junit_report(path):
    for file, run, score in recomputed(path):
        suites = ElementTree.parse(file).getroot().findall("testsuite")
        (suite,) = [one for one in suites if one.get("name") == run.name]
        tests, failures, errors, skipped = (int(suite.get(key, 0)) for key in COUNTS)
        stated = (tests - failures - errors - skipped) / (tests - skipped)

        assert (value_of(score), score["reproduced"]) == (stated, True)


@pytest.mark.parametrize("path", data("pytest_json"), ids=named)
def test_the_summary_of_pytest_json_report(path):
    for file, _, score in recomputed(path):
        result = json.loads(file.read_text())["summary"]
        made = result["passed"] + result["failed"] + result["error"]

        assert (value_of(score), score["reproduced"]) == (result["passed"] / made, True)


@pytest.mark.parametrize("path", data("allure"), ids=named)
def test_how_many_of_all_results_of_allure_are_passed(path):
    for folder, _, score in recomputed(path):
        row = [json.loads(file.read_text())["status"] for file in folder.glob("*-result.json")]

        assert value_of(score) == row.count("passed") / len(row)


# Who&When and sessions of coding agents state no number: that is said.


@pytest.mark.parametrize("path", data("who_and_when", "coding_sessions"), ids=named)
def test_what_is_no_benchmark_has_no_number_to_reproduce(path):
    assert [score["note"] for _, _, score in recomputed(path)] == [NO_HEADLINE] * len([*recomputed(path)])


def test_results_that_are_joined_with_sessions_have_no_number_either():
    for _, _, score in recomputed(FIXTURES / "generic" / "sessions" / "data"):
        assert score["note"] == NO_HEADLINE
