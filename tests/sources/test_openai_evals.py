"""What is special about OpenAI evals: events of many samples in turn, a report anywhere, judges among the answers."""

from pathlib import Path
from typing import Any

from changed_logs import FIXTURES, attempts, by_case, cases, facts, runs, write_rows

MATCH = FIXTURES / "openai_evals" / "match" / "data"
JUDGED = FIXTURES / "openai_evals" / "judged" / "data"
SPEC = {"spec": {"completion_fns": ["m"], "eval_name": "t.dev.v0", "base_eval": "t", "split": "dev", "run_id": "r1"}}


def event(number: int, sample: str, kind: str, **data: Any) -> dict[str, Any]:
    made = {"run_id": "r1", "event_id": number, "sample_id": sample, "type": kind, "data": data, "created_by": ""}
    return made | {"created_at": "2026-03-04 10:00:00+00:00"}


def log(folder: Path, *rows: Any) -> Path:
    return write_rows(folder / "log.jsonl", SPEC, *rows)


def test_the_events_of_a_sample_are_one_attempt_wherever_they_stand():
    assert sorted(by_case(MATCH)) == [f"tides.dev.{at}" for at in range(4)]
    assert facts(by_case(MATCH)["tides.dev.2"]) == ("completed", "scored", "pass")


def test_an_error_without_a_verdict_is_no_wrong_answer():
    broken = by_case(MATCH)["tides.dev.1"]

    assert facts(broken) == ("error", "not_run", "none")
    assert [(error.type, error.message, error.phase) for error in broken.errors] == [
        ("APITimeoutError", "Request timed out.", "")
    ]


def test_what_was_asked_is_the_raw_sample_or_else_the_prompt():
    asked = cases(MATCH)

    assert asked["tides.dev.0"].expected == ["spring", "syzygy"]
    assert asked["tides.dev.3"].input[1]["content"] == "How many high waters has a day?"


def test_a_judge_is_told_from_the_subject():
    first = by_case(JUDGED)["tide-facts.dev.0"]

    assert first.output.text == "The moon pulls the water."
    assert [step.actor.role for step in first.steps] == ["user", "assistant", "user", "judge"]
    assert runs(JUDGED)[0].roles == {"judge": "judge-1"}


def test_a_judge_that_names_no_choice_gave_no_verdict_although_it_counts_as_the_lowest():
    invalid = by_case(JUDGED)["tide-facts.dev.2"]

    assert facts(invalid) == ("completed", "error", "none")
    assert (invalid.reported, invalid.reported_counted, invalid.judgements[0].valid) == (0.0, True, False)
    assert [error.phase for error in invalid.errors] == ["scoring"]


def test_a_judge_whose_request_was_refused_leaves_a_broken_measurement():
    refused = by_case(JUDGED)["tide-facts.dev.3"]

    assert facts(refused) == ("completed", "error", "none")
    assert (refused.output.text, refused.judgements) == ("A wave.", ())


def test_a_sample_without_a_verdict_in_a_run_that_ended_is_unscored(tmp_path):
    path = log(tmp_path, event(0, "t.dev.0", "sampling", prompt="Q", sampled="A"), {"final_report": {"accuracy": 1}})

    assert facts(attempts(path)[0]) == ("completed", "unscored", "none")


def test_a_run_without_a_report_did_not_end(tmp_path):
    path = log(tmp_path, event(0, "t.dev.0", "sampling", prompt="Q", sampled="A"))

    assert (runs(path)[0].native_status, facts(attempts(path)[0])) == ("started", ("unfinished", "not_run", "none"))


def test_several_matches_of_one_sample_are_averaged(tmp_path):
    path = log(tmp_path, *(event(at, "t.dev.0", "match", correct=at == 0) for at in range(2)), {"final_report": {}})
    (attempt,) = attempts(path)

    assert (attempt.reported, attempt.outcome) == (0.5, "number")
    assert [check.name for check in attempt.checks] == ["match", "match 2"]


def test_metrics_decide_where_nothing_is_matched(tmp_path):
    path = log(tmp_path, event(0, "t.dev.0", "metrics", accuracy=1.0, f1_score=0.5), {"final_report": {"accuracy": 1}})
    (attempt,) = attempts(path)

    assert [(check.name, check.counts) for check in attempt.checks] == [("accuracy", True), ("f1_score", False)]
    assert attempt.outcome == "pass"


def test_calls_of_functions_are_steps(tmp_path):
    path = log(tmp_path, event(0, "t.dev.0", "function_call", name="f", arguments={"x": 1}))
    ((call,),) = (step.tool_calls for step in attempts(path)[0].steps)

    assert (call.name, call.arguments) == ("f", {"x": 1})
