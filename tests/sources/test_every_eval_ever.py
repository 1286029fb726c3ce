"""What is special about every_eval_ever: a row for each number, errors with a score, and what a conversion lost."""

import json
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, by_case, change, change_rows, copy_of, facts, runs, write_rows

from errata import sources
from errata.sources.every_eval_ever import SAMPLES
from errata.sources.every_eval_ever.reader import error_of

CONVERTED = FIXTURES / "every_eval_ever" / "from_inspect" / "data"
ALONE = FIXTURES / "every_eval_ever" / "rows_alone" / "data"


@pytest.fixture
def log(tmp_path) -> Path:
    return copy_of("every_eval_ever/from_inspect", tmp_path)


def row(sample: str = "a", **more: Any) -> dict[str, Any]:
    made = {"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "evaluation_name": "t"}
    made |= {"evaluation_result_id": None, "sample_id": sample, "interaction_type": "single_turn"}
    made |= {"input": {"raw": "Q", "reference": ["4"]}, "output": {"raw": ["4"]}, "answer_attribution": []}
    return made | {"evaluation": {"score": 1.0, "is_correct": True}} | more


def test_the_rows_of_all_numbers_are_one_attempt():
    flaky = by_case(CONVERTED)["flaky"]

    assert [(check.name, check.counts) for check in flaky.checks] == [
        ("includes:accuracy", True),
        ("model_graded_qa:accuracy", False),
    ]
    assert len(attempts(CONVERTED)) == 14


def test_an_error_is_no_wrong_answer_although_it_has_a_score():
    crash = by_case(CONVERTED)["crash"]
    (error,) = crash.errors

    assert facts(crash) == ("error", "not_run", "none")
    assert (error.type, error.message) == ("ConnectionError", "upstream 503: overloaded")
    assert crash.reported_counted is False


def test_an_error_that_is_in_a_number_is_scored_and_has_no_outcome(tmp_path):
    wrong = {"score": 0.0, "is_correct": False}
    path = write_rows(tmp_path / "rows.jsonl", row(error="Timeout", evaluation=wrong))

    assert facts(attempts(path)[0]) == ("error", "scored", "none")


def test_the_words_of_a_judge_are_not_taken_for_the_answer():
    flaky = by_case(CONVERTED)["flaky"]

    assert flaky.output.text == ""
    assert flaky.checks[1].explanation == "The answer does not match.\n\nGRADE: I"


def test_calls_of_tools_are_joined_to_their_answers():
    steps = by_case(CONVERTED)["limit"].steps

    assert [(step.kind, step.parent) for step in steps[:3]] == [
        ("message", None),
        ("tool_call", None),
        ("tool_result", 1),
    ]
    assert steps[1].tool_calls[0].arguments == {"x": "1", "y": "2"}


def test_a_graded_value_is_a_number(tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", row(evaluation={"score": 0.4}))

    assert attempts(path)[0].outcome == "number"


def test_a_number_that_comes_again_without_an_epoch_is_another_try(tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", row("a"), row("b"), row("a"))

    assert [(one.case, one.index) for one in attempts(path)] == [("t/a", 1), ("t/a", 2), ("t/b", 1)]


def test_the_answer_that_was_taken_out_of_the_text_is_kept(tmp_path):
    taken = [{"turn_idx": 0, "extracted_value": "4", "extraction_method": "regex", "is_terminal": True}]
    path = write_rows(tmp_path / "rows.jsonl", row(answer_attribution=taken))
    (attempt,) = attempts(path)

    assert (attempt.output.answer, attempt.output.extraction) == ("4", "regex")


def test_a_lower_score_may_be_better(log):
    def turn(document):
        document["evaluation_results"][0]["metric_config"]["lower_is_better"] = True
        return document

    change(next(log.glob("*3.json")), turn)

    assert runs(log)[0].scorers[0].lower_is_better


def test_a_metric_that_is_no_mean_is_not_made_again(log):
    def rename(document):
        document["evaluation_results"][0]["metric_config"] |= {"metric_name": "elo", "metric_kind": "rating"}
        return document

    change(next(log.glob("*3.json")), rename)

    assert runs(log)[0].reported[0].metric == "elo"


# files


def test_instances_under_the_name_that_the_summary_gives_belong_to_it(log):
    def rename(document):
        document["detailed_evaluation_results"]["file_path"] = "data/elsewhere/instances.jsonl"
        return document

    change(next(log.glob("*3.json")), rename)
    next(log.glob(f"*{SAMPLES}")).rename(log / "instances.jsonl")

    assert [one.path.suffix for one in sources.find(log)] == [".json"]
    assert len(attempts(log)) == 14


def test_numbers_of_many_benchmarks_without_instances_are_one_run(log):
    next(log.glob(f"*{SAMPLES}")).unlink()

    def names(document):
        for at, one in enumerate(document["evaluation_results"]):
            one["evaluation_name"] = f"benchmark {at}"
        return document

    change(next(log.glob("*3.json")), names)
    (run,) = runs(log)

    assert len(run.reported) == 4


@pytest.mark.parametrize(
    ("told", "type_", "message"),
    [
        ("ValueError('bad')", "ValueError", "bad"),
        ("openai.RateLimitError: Error code: 429", "RateLimitError", "Error code: 429"),
        ("it just broke", "error", "it just broke"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'", "KeyError", "'x'"),
    ],
)
def test_an_error_is_taken_apart(told, type_, message):
    error = error_of(told, runs(ALONE)[0].ref)

    assert (error.type, error.message) == (type_, message)


def test_rows_of_an_evaluation_that_the_summary_does_not_name_are_a_run_too(log):
    change_rows(next(log.glob(f"*{SAMPLES}")), lambda one: one | {"evaluation_name": "other"})

    assert [run.suite for run in runs(log)] == ["demo", "other"]
    assert json.dumps([one.case for one in attempts(log)][:1]) == '["other/crash"]'
