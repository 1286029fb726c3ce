"""What is special about Braintrust: scorers that raise leave no score, trials share an input, and rows may be spans."""

from pathlib import Path
from typing import Any

from changed_logs import FIXTURES, attempts, by_case, cases, change, copy_of, facts, runs, unreadables, write_rows

from errata.model import Attempt

TRIALS = FIXTURES / "braintrust" / "trials" / "data"
SPANS = FIXTURES / "braintrust" / "spans" / "data"


def row(**changes: Any) -> dict[str, Any]:
    given = {"input": "2+2", "output": "4", "scores": {"exact": 1.0}, "expected": "4", "metadata": None, "tags": None}
    return given | {"error": None, "exc_info": None} | changes


def only(folder: Path, **changes: Any) -> Attempt:
    (attempt,) = attempts(write_rows(folder / "rows.jsonl", row(**changes)))
    return attempt


def of(path: Path, asked: str) -> list[Attempt]:
    key = {case.input: case.key for case in cases(path).values()}[asked]
    return [one for one in attempts(path) if one.case == key]


def test_trials_of_one_input_are_attempts_of_one_case():
    assert [one.index for one in of(TRIALS, "2+2")] == [1, 2]


def test_a_task_that_raised_was_not_measured():
    crashed = of(TRIALS, "crash")[0]

    assert (facts(crashed), crashed.reported_counted) == (("error", "not_run", "none"), False)
    assert [(one.type, one.message, one.frame) for one in crashed.errors] == [
        ("ConnectionError", "503 upstream", "/home/user/demo/bt.py:5 in task")
    ]


def test_a_scorer_that_raised_is_broken_and_the_one_that_decides_is_not():
    wrong = of(TRIALS, "capital")[0]

    assert facts(wrong) == ("completed", "scored", "fail")
    assert [(one.name, one.status, one.counts) for one in wrong.checks] == [
        ("exact", "fail", True),
        ("bad", "error", False),
    ]
    assert (wrong.checks[1].error.type, wrong.checks[1].error.message) == ("ValueError", "judge parse error")


def test_where_the_scorer_that_decides_raised_nothing_was_measured(tmp_path):
    raised = 'Traceback (most recent call last):\n  File "x.py", line 1, in s\nValueError: no JSON\n'
    one = only(tmp_path, scores={}, metadata={"scorer_errors": {"exact": raised}})

    assert facts(one) == ("completed", "error", "none")
    assert [(error.message, error.phase) for error in one.errors] == [("no JSON", "scoring")]


def test_a_row_that_broke_and_has_a_score_keeps_both(tmp_path):
    one = only(tmp_path, scores={"exact": 0.0}, error="TimeoutError('too late')")

    assert (facts(one), one.reported) == (("error", "scored", "none"), 0.0)


def test_the_scorer_that_the_summary_names_first_decides(tmp_path):
    log = copy_of("braintrust/trials", tmp_path) / "eval_result.json"
    change(log, lambda told: told["results"].reverse())

    assert [(score.name, score.value, score.headline) for score in runs(log)[0].reported] == [
        ("exact", 0.5, True),
        ("bad", 1.0, False),
    ]


def test_evaluations_that_were_never_sent_are_told_apart_by_what_they_hold(tmp_path):
    write_rows(tmp_path / "a" / "rows.jsonl", row())
    write_rows(tmp_path / "b" / "rows.jsonl", row(output="5"))
    write_rows(tmp_path / "copy" / "rows.jsonl", row())

    assert len({run.id for run in runs(tmp_path)}) == 2


def test_the_spans_of_a_trace_are_one_attempt_wherever_its_whole_stands():
    wrong, crashed = by_case(SPANS)["rec-1"], by_case(SPANS)["rec-2"]

    assert (facts(wrong), facts(crashed)) == (("completed", "scored", "fail"), ("error", "not_run", "none"))
    assert [(step.kind, step.parent) for step in wrong.steps] == [("log", None), ("model_call", 0), ("score", None)]
    assert (wrong.usage.subject.total, wrong.usage.subject.cost, wrong.duration) == (15, 0.0004, 1.5)


def test_a_span_of_a_scorer_that_raised_is_a_broken_check():
    (_, judge) = by_case(SPANS)["rec-1"].checks

    assert (judge.name, judge.status, judge.error.type) == ("judge", "error", "RateLimitError")


def test_a_row_without_an_input_is_unreadable(tmp_path):
    path = write_rows(tmp_path / "rows.jsonl", row(input=None), row())

    assert [one.why for one in unreadables(path)] == ["a row without an input"]
    assert len(attempts(path)) == 1
