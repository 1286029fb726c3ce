"""What is special about BFCL: scores name the failures alone, and an inference that broke is a text like any other."""

import json
from typing import Any

from changed_logs import FIXTURES, attempts, by_case, change_rows, copy_of, facts, runs, unreadables, write_rows

SIMPLE = FIXTURES / "bfcl" / "simple" / "data"
BROKE = "Error during inference: Error code: 503 - overloaded"


def header(correct: int, total: int) -> dict[str, Any]:
    return {"accuracy": correct / total, "correct_count": correct, "total_count": total}


def category(root, name: str, results: list[Any], scores: list[Any], group: str = "") -> Any:
    """The results and the scores of a model called `m`."""
    write_rows(root / "result" / "m" / group / f"BFCL_v4_{name}_result.json", *results)
    write_rows(root / "score" / "m" / group / f"BFCL_v4_{name}_score.json", *scores)
    return root


def answered(ident: str, result: Any = "text") -> dict[str, Any]:
    return {"id": ident, "result": result, "input_token_count": 5, "output_token_count": 2, "latency": 0.5}


def test_what_the_scores_do_not_name_is_right():
    assert facts(by_case(SIMPLE)["simple_python_0"]) == ("completed", "scored", "pass")


def test_a_call_that_the_provider_refused_is_an_error_although_it_is_scored_like_a_refusal():
    broken = by_case(SIMPLE)["simple_python_2"]
    (error,) = broken.errors

    assert facts(broken) == ("error", "scored", "none")
    assert (error.type, error.code, error.phase) == ("RateLimitError", "429", "subject")
    assert (broken.checks[0].status, broken.checks[0].reason_code) == ("not_run", "ast_decoder:decoder_failed")
    assert (broken.reported, broken.reported_counted) == (0.0, True)


def test_an_inference_that_broke_is_no_pass_where_no_call_should_be_made(tmp_path):
    rows = [answered("irrelevance_0"), {"id": "irrelevance_1", "result": BROKE, "traceback": ""}]
    log = category(tmp_path, "irrelevance", rows, [header(2, 2)])
    first, second = attempts(log)

    assert (facts(first), facts(second)) == (("completed", "scored", "pass"), ("error", "scored", "none"))
    assert second.reported == 1.0


def test_a_model_may_say_that_there_was_an_error(tmp_path):
    log = category(
        tmp_path, "simple", [answered("simple_0", BROKE)], [header(0, 1), {"id": "simple_0", "valid": False}]
    )

    assert facts(attempts(log)[0]) == ("completed", "scored", "fail")


def test_a_model_that_was_stopped_after_too_many_steps_ran_into_a_limit(tmp_path):
    result = {"error_message": ["Model was force-terminated"], "error_type": "multi_turn:force_terminated"}
    score = [header(0, 1), {"id": "multi_turn_base_0", "valid": False, "error": result}]
    log = category(tmp_path, "multi_turn_base", [answered("multi_turn_base_0", [[["f(x=1)"]]])], score, "multi_turn")
    (attempt,) = attempts(log)

    assert facts(attempt) == ("limit", "scored", "fail")
    assert attempt.limit.reason == "Model was force-terminated"


def test_a_failure_that_is_told_twice_is_one_attempt(tmp_path):
    """A broken inference of several turns is written once as that, and once for its length."""
    kinds = ("multi_turn:inference_error", "multi_turn:force_terminated")
    result = [{"id": "multi_turn_base_0", "valid": False, "error": {"error_type": kind}} for kind in kinds]
    log = category(tmp_path, "multi_turn_base", [{"id": "multi_turn_base_0", "result": BROKE}], [header(0, 1), *result])
    (attempt,) = attempts(log)

    assert facts(attempt) == ("error", "scored", "none")
    assert [check.reason_code for check in attempt.checks] == list(kinds)


def test_turns_and_steps_are_told_apart(tmp_path):
    result = [[[{"ls": "{}"}], "There is one file."], ["Done."]]
    log = category(tmp_path, "multi_turn_base", [answered("multi_turn_base_0", result)], [header(1, 1)])
    (attempt,) = attempts(log)

    assert [(step.extra["turn"], step.text, len(step.tool_calls)) for step in attempt.steps] == [
        (0, "", 1),
        (0, "There is one file.", 0),
        (1, "Done.", 0),
    ]
    assert attempt.output.text == "Done."


def test_tokens_and_times_of_all_steps_are_summed(tmp_path):
    row = answered("a") | {"input_token_count": [[1, 2], [3]], "latency": [[0.5], [1.0]]}
    (attempt,) = attempts(category(tmp_path, "multi_turn_base", [row], [header(1, 1)]))

    assert (attempt.usage.subject.input, attempt.duration) == (6, 1.5)


def test_the_log_of_an_inference_is_its_transcript(tmp_path):
    log_of = [
        [{"role": "state_info", "content": {"cwd": "/"}}],
        {
            "begin_of_turn_query": [{"role": "user", "content": "List"}],
            "step_0": [{"role": "tool", "content": "a.txt"}],
        },
    ]
    (attempt,) = attempts(category(tmp_path, "x", [answered("a") | {"inference_log": log_of}], [header(1, 1)]))

    assert [(step.actor.role, step.kind, step.text) for step in attempt.steps] == [
        ("environment", "log", '{"cwd":"/"}'),
        ("user", "message", "List"),
        ("tool", "tool_result", "a.txt"),
    ]


# where results and scores do not add up


def test_results_that_were_never_scored_have_no_outcome(tmp_path):
    log = copy_of("bfcl/simple", tmp_path) / "bfcl" / "result"

    assert {facts(one) for one in attempts(log)} == {("completed", "not_run", "none"), ("error", "not_run", "none")}


def test_scores_alone_tell_of_the_failures_and_how_many_there_were(tmp_path):
    log = copy_of("bfcl/simple", tmp_path) / "bfcl" / "score"
    (run,) = runs(log)

    assert (run.expected_cases, [one.outcome for one in attempts(log)]) == (4, ["fail", "none", "fail"])


def test_where_rows_were_added_after_the_scoring_nobody_knows_what_was_right(tmp_path):
    log = copy_of("bfcl/simple", tmp_path)
    path = next(log.rglob("*_result.json"))
    path.write_text(path.read_text() + json.dumps(answered("simple_python_4")) + "\n")
    (run,) = runs(log)

    assert facts(by_case(log)["simple_python_0"]) == ("completed", "not_run", "none")
    assert not by_case(log)["simple_python_0"].is_failure
    assert run.reported[0].metric == "accuracy of rows that are not named"


def test_each_category_of_each_model_is_a_run(tmp_path):
    category(tmp_path, "simple_python", [answered("simple_python_0")], [header(1, 1)], "non_live")
    category(tmp_path, "live_simple", [answered("live_simple_0")], [header(1, 1)], "live")
    write_rows(tmp_path / "result" / "n" / "BFCL_v4_live_simple_result.json", answered("live_simple_0"))
    found = {(run.subject.model, run.suite) for run in runs(tmp_path)}

    assert found == {("m", "BFCL_v4_simple_python"), ("m", "BFCL_v4_live_simple"), ("n", "BFCL_v4_live_simple")}


def test_rows_without_an_id_cost_only_themselves(tmp_path):
    log = copy_of("bfcl/simple", tmp_path)
    change_rows(next(log.rglob("*_result.json")), lambda row: row | {"id": None} if row["id"].endswith("0") else row)

    assert [one.why for one in unreadables(log)] == ["a row without an id"]
    assert len(attempts(log)) == 3
