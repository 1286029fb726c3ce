"""What is special about evalscope: predictions and reviews apart, repeats, broken reviews, samples without a row."""

from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, change, change_rows, copy_of, facts, runs

from errata.compare.trials import Trials

REPEATS = FIXTURES / "evalscope" / "repeats" / "data"
ROWS = "mock-model/general_mcq_default.jsonl"
REPORT = "reports/mock-model/general_mcq.json"


@pytest.fixture
def log(tmp_path) -> Path:
    return next(copy_of("evalscope/repeats", tmp_path).iterdir())


def change_score(log: Path, index: int, **changes: Any) -> None:
    def how(row):
        if row["index"] == index:
            row["sample_score"]["score"] |= changes
        return row

    change_rows(log / "reviews" / ROWS, how)


def change_output(log: Path, index: int, **changes: Any) -> None:
    def how(row):
        if row["index"] == index:
            row["model_output"] |= changes
        return row

    change_rows(log / "predictions" / ROWS, how)


def without(path: Path, *indices: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for at, line in enumerate(lines) if at not in indices))


def errored(log: Path, requested: int, errors: int) -> None:
    def how(report):
        result = {"requested": requested, "succeeded": requested - errors, "errored": errors}
        report["execution_summary"] = result | {"incomplete": True, "subsets": {"default": result}}
        return report

    change(log / REPORT, how)


def test_repeats_are_attempts_at_one_case():
    assert [(one.case, one.index) for one in attempts(REPEATS)] == [
        ("general_mcq/0", 1),
        ("general_mcq/0", 2),
        ("general_mcq/1", 1),
        ("general_mcq/1", 2),
    ]


def test_an_error_of_the_model_is_the_subject_s(log):
    change_output(log, 0, error="Content filtered", choices=[])
    first = attempts(log)[0]

    assert facts(first) == ("error", "scored", "none")
    assert [(error.message, error.phase) for error in first.errors] == [("Content filtered", "subject")]


@pytest.mark.parametrize("status", ["transport_error", "parse_error", "invalid_session", "excluded"])
def test_a_judge_that_gave_no_verdict_is_no_failure(log, status):
    change_score(
        log, 0, status=status, value={}, judge_summary={"status": status, "error": "503", "judge_models": ["j"]}
    )
    first = attempts(log)[0]

    assert facts(first) == ("completed", "error", "none")
    assert [(error.type, error.message, error.phase) for error in first.errors] == [(status, "503", "scoring")]
    assert (first.reported, first.reported_counted, first.judgements[0].valid) == (None, False, False)


@pytest.mark.parametrize("status", ["fallback", "degraded"])
def test_a_score_that_is_of_some_use_counts(log, status):
    change_score(log, 0, status=status, value={"accuracy": 1.0})
    first = attempts(log)[0]

    assert (facts(first), first.checks[0].reason_code) == (("completed", "scored", "pass"), status)


def test_a_score_without_a_value_is_no_verdict(log):
    change_score(log, 0, value={})

    assert facts(attempts(log)[0]) == ("completed", "unscored", "none")


def test_an_answer_that_was_cut_off_says_so(log):
    choice = {"message": {"role": "assistant", "content": "The answ"}, "stop_reason": "max_tokens"}
    change_output(log, 0, choices=[choice])
    first = attempts(log)[0]

    assert (first.stop_reason, first.output.text) == ("max_tokens", "The answ")


def test_an_agent_that_took_all_of_its_steps_ran_into_a_limit(log):
    def trace(row):
        events = [{"step": at, "type": "model_generate", "payload": {}} for at in range(3)]
        return row | {"agent_trace": {"max_steps": 3, "events": events}}

    change_rows(log / "predictions" / ROWS, trace)

    assert {one.execution for one in attempts(log)} == {"limit"}
    assert attempts(log)[0].limit.value == 3


def test_an_agent_that_was_done_in_its_last_step_did_not(log):
    def trace(row):
        return row | {"agent_trace": {"max_steps": 1, "events": [{"step": 0, "type": "submit", "payload": {}}]}}

    change_rows(log / "predictions" / ROWS, trace)

    assert {one.execution for one in attempts(log)} == {"completed"}


# rows that are not there


def test_a_prediction_without_a_review_was_not_measured(log):
    without(log / "reviews" / ROWS, 3)

    assert facts(attempts(log)[3]) == ("completed", "not_run", "none")


def test_where_errors_were_counted_a_prediction_without_a_review_is_a_broken_measurement(log):
    without(log / "reviews" / ROWS, 3)
    errored(log, 4, 1)

    assert facts(attempts(log)[3]) == ("completed", "error", "none")


def test_a_sample_that_left_no_row_and_is_counted_as_an_error_was_one(log):
    for part in ("predictions", "reviews"):
        without(log / part / ROWS, 2)
    errored(log, 4, 1)
    gone = [one for one in attempts(log) if one.native_status == "errored"]

    assert [(one.case, one.index, facts(one)) for one in gone] == [("general_mcq/1", 1, ("error", "not_run", "none"))]


def test_a_sample_that_left_no_row_and_is_counted_nowhere_is_missing(log):
    for part in ("predictions", "reviews"):
        without(log / part / ROWS, 2)
    change(log / REPORT, lambda told: told["execution_summary"]["subsets"]["default"].update(succeeded=3))

    assert [facts(one) for one in attempts(log)].count(("missing", "not_run", "none")) == 1


def test_a_sample_that_was_measured_and_whose_row_is_gone_is_not_missing(log):
    for part in ("predictions", "reviews"):
        without(log / part / ROWS, 2)
    trials = Trials(runs(log)[0], attempts(log))

    assert (len(trials.rows), trials.not_in_log, trials.absent) == (3, 1, 0)


def test_why_a_sample_broke_is_quoted_from_the_log(log):
    with (log / "logs" / "eval_log.log").open("a") as file:
        file.write("2026-11-15 19:27:53 - evalscope - ERROR: prediction failed: due to Connection refused\n")

    assert [one.quote for one in runs(log)[0].log_evidence] == [
        "2026-11-15 19:27:53 - evalscope - ERROR: prediction failed: due to Connection refused"
    ]


def test_a_review_that_was_written_again_is_the_newer_one(log):
    path = log / "reviews" / ROWS
    path.write_text(
        path.read_text() + path.read_text().splitlines()[0].replace('"accuracy": 0.0', '"accuracy": 1.0') + "\n"
    )

    assert [one.outcome for one in attempts(log)] == ["pass", "fail", "fail", "fail"]


# reports


def test_pass_at_k_is_reduced_by_case(log):
    def aggregate(report):
        identity = {"name": "accuracy", "aggregation": "pass_at_k", "dimensions": {"k": 2}}
        report["metrics"][0]["identity"] = report["primary_metric_identity"] = identity
        return report

    change(log / REPORT, aggregate)

    assert (runs(log)[0].reported[0].metric, runs(log)[0].reported[0].reducer) == ("mean", "pass_at_2")


def test_a_metric_that_no_sample_has_is_not_made_again(log):
    def rename(report):
        identity = {"name": "f1", "aggregation": "mean", "dimensions": {}}
        report["metrics"][0]["identity"] = report["primary_metric_identity"] = identity
        return report

    change(log / REPORT, rename)

    assert runs(log)[0].reported[0].metric == "f1"


def test_an_older_report_has_its_metric_in_one_word(log):
    def old(report):
        del report["schema_version"], report["primary_metric_identity"]
        report["metrics"][0] = {"name": "mean_accuracy", "num": 4, "score": 0.0, "categories": []}
        return report

    change(log / REPORT, old)
    (headline,) = runs(log)[0].reported

    assert (headline.name, headline.metric, headline.headline) == ("accuracy", "mean", True)


def test_without_a_report_the_configuration_names_the_dataset(log):
    (log / REPORT).unlink()
    (run,) = runs(log)

    assert (run.suite, run.reported, len(attempts(log))) == ("general_mcq", (), 4)


# single files
