"""What is special about LangSmith: crashes that are scored all the same, and evaluators whose crash is a comment."""

from pathlib import Path
from typing import Any

from changed_logs import FIXTURES, attempts, by_case, cases, facts, runs, write_rows

from errata.model import Attempt

ROWS = FIXTURES / "langsmith" / "repetitions" / "data"
RIGHT, WRONG, CRASHED = (
    "231bc821-dd0a-4079-a68c-f6f0fb531344",
    "a1c50760-0754-4d41-9702-0cd55f393c02",
    "7eabf33d-3335-4d34-9d59-6fe6a325a7de",
)


def feedback(key: str = "exact", score: Any = None, **others: Any) -> dict[str, Any]:
    return {"key": key, "score": score, "value": None, "comment": None, "extra": None} | others


def row(*told: dict[str, Any], example: str = "e1", **run: Any) -> dict[str, Any]:
    given = {"id": "r1", "run_type": "chain", "dotted_order": "2026", "session_name": "s", "outputs": {"a": "4"}}
    given |= {"start_time": "2026-11-15T19:31:42Z", "end_time": "2026-11-15T19:31:43Z", "error": None, "extra": {}}
    asked = {"id": example, "dataset_id": "d", "inputs": {"q": "2+2"}, "outputs": {"a": "4"}}
    return {"run": given | run, "example": asked, "evaluation_results": list(told)}


def only(folder: Path, *told: dict[str, Any], **run: Any) -> Attempt:
    (attempt,) = attempts(write_rows(folder / "rows.jsonl", row(*told, **run)))
    return attempt


def test_a_crash_has_no_outcome_although_evaluators_scored_it():
    crashed = by_case(ROWS)[CRASHED]

    assert (facts(crashed), crashed.reported) == (("error", "scored", "none"), 0.0)
    assert [(one.type, one.message, one.phase) for one in crashed.errors] == [("ConnectionError", "503 upstream", "")]


def test_an_evaluator_that_raised_is_broken_and_the_one_that_decides_is_not():
    wrong = by_case(ROWS)[WRONG]

    assert facts(wrong) == ("completed", "scored", "fail")
    assert [(one.name, one.status, one.counts) for one in wrong.checks] == [
        ("exact", "fail", True),
        ("judge", "error", False),
    ]
    assert (wrong.checks[1].error.type, wrong.checks[1].error.message) == ("ValueError", "judge parse")


def test_where_the_evaluator_that_decides_raised_nothing_was_measured(tmp_path):
    one = only(tmp_path, feedback(comment="ValueError('no JSON')", extra={"error": True}))

    assert (facts(one), one.reported_counted) == (("completed", "error", "none"), False)
    assert [error.phase for error in one.errors] == ["scoring"]


def test_the_text_of_an_exception_is_enough_to_know_that_an_evaluator_raised(tmp_path):
    assert only(tmp_path, feedback(comment="RateLimitError('429')")).measurement == "error"


def test_an_evaluator_that_said_nothing_has_not_scored(tmp_path):
    assert facts(only(tmp_path, feedback(comment="not sure"))) == ("completed", "unscored", "none")


def test_the_first_evaluator_that_says_yes_or_no_decides(tmp_path):
    one = only(tmp_path, feedback("similarity", 0.2), feedback("exact", True))

    assert (one.outcome, one.reported) == ("pass", 1.0)
    assert [(result.name, result.headline) for result in runs(tmp_path)[0].reported] == [
        ("similarity", False),
        ("exact", True),
    ]


def test_without_a_yes_or_no_the_first_number_decides(tmp_path):
    assert facts(only(tmp_path, feedback("similarity", 0.2), feedback("length", 0.9))) == (
        "completed",
        "scored",
        "number",
    )


def test_repetitions_of_an_example_are_attempts_of_one_case():
    assert [one.index for one in attempts(ROWS)] == [1, 1, 1, 2, 2, 2]
    assert cases(ROWS)[RIGHT].name == "2+2"


def test_the_model_is_what_all_rows_name(tmp_path):
    metadata = {"metadata": {"ls_model_name": "nimbus-2", "ls_provider": "acme"}}
    only(tmp_path, feedback(score=True), extra=metadata)

    assert (runs(tmp_path)[0].subject.model, runs(tmp_path)[0].subject.provider) == ("nimbus-2", "acme")


def test_the_runs_below_are_steps(tmp_path):
    inner = {"id": "c2", "name": "search", "run_type": "tool", "outputs": {"output": "14:05"}}
    outer = {"id": "c1", "name": "ask", "run_type": "llm", "outputs": {"a": "4"}, "child_runs": [inner]}
    one = only(tmp_path, feedback(score=True), child_runs=[outer], prompt_tokens=3, completion_tokens=1, total_tokens=4)

    assert [(step.kind, step.text, step.parent) for step in one.steps] == [
        ("model_call", "4", None),
        ("tool_result", "14:05", 0),
    ]
    assert one.usage.subject.total == 4


def test_a_run_that_never_ended_is_unfinished(tmp_path):
    assert only(tmp_path, end_time=None, outputs=None).execution == "unfinished"
