"""Samples of an Inspect log: what went wrong, who said so, and what was said."""

import json

import pytest
from inspect_ai_logs import (
    attempt,
    attempts,
    changed,
    first_with,
    items,
    log,
    raw,
    rezipped,
    run,
    scored,
    unreadables,
)

from errata.model import Attempt, Case

DEMO = log("demo_json")
MIXED = log("mixed_json")
SCORER = log("scorer_json")
FAILED = log("failed_json")


def test_an_error_of_the_subject_is_no_outcome():
    crash = attempt(DEMO, "crash")

    assert (crash.execution, crash.measurement, crash.outcome) == ("error", "not_run", "none")
    assert crash.reported_counted is False


def test_an_error_names_its_type_its_code_and_its_frame():
    error = attempt(DEMO, "crash").errors[-1]

    assert (error.type, error.code, error.frame, error.phase) == (
        "ConnectionError", "503", "inspect_task.py:37 in solve", "subject",
    )  # fmt: skip


def test_an_error_that_was_tried_again_in_vain_is_kept_and_not_recovered():
    assert [error.recovered for error in attempt(DEMO, "crash").errors] == [False, False]


def test_an_error_that_was_tried_again_with_success_is_recovered():
    flip = attempt(MIXED, "flip")

    assert flip.outcome == "pass"
    assert [(error.type, error.code, error.recovered) for error in flip.errors] == [("ConnectionError", "429", True)]


def test_steps_before_a_retry_belong_to_the_first_try():
    assert {step.try_ for step in attempt(MIXED, "flip").steps} == {1, 2}


def test_a_siblings_cancellation_is_collateral():
    cancelled = [one for one in attempts(FAILED).values() if one.execution == "cancelled"]

    assert sorted(one.case for one in cancelled) == ["demo/limit", "demo/tool", "demo/toolerr"]
    assert all(one.errors[-1].collateral and one.measurement == "not_run" for one in cancelled)
    assert attempt(FAILED, "crash").errors[-1].collateral is False


def test_an_interrupted_run_has_cancelled_samples():
    read = {case: one.execution for (case, _), one in attempts(log("cancelled_eval")).items()}

    assert read == {"a": "completed", "b": "completed", "group/e": "completed", "c": "cancelled", "d": "cancelled"}


def test_a_swallowed_time_out_is_scored_as_read_and_told_as_an_error():
    flaky = attempt(DEMO, "flaky")

    assert (flaky.execution, flaky.measurement, flaky.outcome) == ("completed", "scored", "fail")
    assert flaky.checks[0].reason_code == "no_response"
    (error,) = flaky.errors
    assert (error.type, error.phase, error.ref.pointer) == ("TimeoutError", "subject", "/samples/1/events/7")


def test_a_limit_and_a_pass_are_both_kept(tmp_path):
    limit = {"type": "time", "limit": 60}
    read = first_with(tmp_path, limit=limit, scores={"s": {"value": "C"}})

    assert (read.execution, read.measurement, read.outcome) == ("limit", "scored", "pass")


def test_the_reason_of_an_old_limit_stands_in_its_event(tmp_path):
    event = {"event": "sample_limit", "type": "token", "message": "Token limit exceeded"}
    read = first_with(tmp_path, limit={"type": "token", "limit": 9}, scores={"s": {"value": "I"}}, events=[event])

    assert read.limit.reason == "Token limit exceeded"


def test_a_scorer_that_breaks_is_no_error_of_the_subject():
    boom = attempt(SCORER, "boom")

    assert (boom.execution, boom.measurement, boom.outcome) == ("completed", "error", "none")
    assert (boom.errors[-1].type, boom.errors[-1].phase) == ("ValueError", "scoring")


def test_without_events_the_traceback_tells_that_a_scorer_broke(tmp_path):
    _, samples = raw(SCORER)
    read = first_with(tmp_path, error=samples[0]["error"], events=[])

    assert (read.execution, read.measurement) == ("completed", "error")


def test_a_sandbox_that_does_not_start_is_the_environments():
    read = attempt(log("real_converted", "data_cvebench_empty_choices.json"), "CVE-2024-36858-one_day")

    assert (read.execution, read.errors[0].phase, read.output.text) == ("error", "environment", None)


@pytest.mark.trap(13)
def test_a_bare_nan_is_a_score_without_a_verdict(tmp_path):
    unscored = scored(tmp_path, float("nan"))

    assert (unscored.execution, unscored.measurement, unscored.outcome) == ("completed", "unscored", "none")
    assert (unscored.checks[0].status, unscored.reported_counted) == ("unscored", False)


def test_the_reason_of_an_older_unscored_sample_stands_in_its_metadata(tmp_path):
    read = scored(tmp_path, float("nan"), metadata={"unscored_reason": "invalid_response_format"})

    assert read.checks[0].reason_code == "invalid_response_format"


def test_a_sample_that_was_scored_although_it_broke_has_no_outcome():
    late = attempt(MIXED, "late")

    assert (late.execution, late.measurement, late.outcome, late.reported) == ("error", "scored", "none", 0.0)


def test_samples_that_were_never_scored_are_no_failures():
    read = items(log("real_logs", "*dPiJifoWeEQBrfWsAopzWr.eval"), Attempt)

    assert {(one.execution, one.measurement, one.outcome) for one in read} == {("completed", "not_run", "none")}
    assert not any(one.is_failure for one in read)


VALUES = [
    ("C", "pass", 1.0),
    ("I", "fail", 0.0),
    ("P", "partial", 0.5),
    ("N", "fail", 0.0),
    (1, "pass", 1.0),
    (0, "fail", 0.0),
    (0.65, "number", 0.65),
    (7, "number", 7.0),
    (True, "pass", 1.0),
    (False, "fail", 0.0),
    ("yes", "pass", 1.0),
    ("No", "fail", 0.0),
    ("0.5", "number", 0.5),
    ("banana", "none", 0.0),
    ([1, 1], "pass", 1.0),
    ([0, "I"], "fail", 0.0),
    ([1, 0], "number", 0.5),
    ({"first": 1, "second": 0}, "pass", 1.0),
]


@pytest.mark.parametrize(("value", "outcome", "number"), VALUES, ids=lambda value: str(value))
def test_a_value_has_an_outcome_and_a_number(tmp_path, value, outcome, number):
    read = scored(tmp_path, value)

    assert (read.measurement, read.outcome, read.reported, read.threshold) == ("scored", outcome, number, None)


def test_no_answer_is_a_failure_with_a_reason():
    check = attempt(MIXED, "image").checks[0]

    assert (check.status, check.value, check.reason_code) == ("fail", "N", "noanswer")


def test_a_score_with_several_dimensions_has_a_check_for_each():
    checks = {check.name: check for check in attempt(DEMO, "ok").checks}

    assert (checks["brevity"].value, checks["politeness"].value) == (1.0, 0.5)
    assert {checks[name].scorer for name in ("brevity", "politeness")} == {"multi"}
    assert checks["brevity"].kind == "dimension"


def test_only_the_primary_scorer_counts():
    checks = attempt(DEMO, "ok").checks

    assert [check.name for check in checks if check.counts] == ["includes"]
    assert [check.name for check in checks if check.is_primary] == ["includes"]


def test_the_primary_scorer_is_the_one_of_the_headline(tmp_path):
    header, _ = raw(DEMO)
    results = header["results"] | {"headline": {"scorer": "multi", "score": "politeness", "metric": "mean"}}
    ok = attempt(changed(DEMO, tmp_path / "log.json", results=results), "ok")

    assert (ok.outcome, ok.reported, ok.native_status) == ("number", 0.5, "0.5")


def test_an_edited_score_keeps_its_history():
    edited = attempt(MIXED, "edited")
    before, after = edited.checks[0].history

    assert edited.outcome == "pass"
    assert (before.value, after.value, after.by, after.why) == ("I", "C", "ann", "the target was wrong")
    assert after.at is not None


def test_an_invalidated_sample_says_by_whom_and_why():
    invalidated = attempt(MIXED, "label").invalidated

    assert (invalidated.by, invalidated.why) == ("bob", "a broken sample")


def test_the_exchange_with_a_judge_is_a_judgement():
    (judgement,) = attempt(DEMO, "ok").judgements

    assert (judgement.judge, judgement.model) == ("model_graded_qa", "mockllm/judge")
    assert judgement.reasoning.endswith("GRADE: I")
    assert "[Task]: What is 2+2?" in judgement.raw[0]["content"]


def test_a_judges_call_that_no_score_keeps_is_a_step():
    (step,) = [step for step in attempt(MIXED, "think").steps if step.actor.role == "judge"]

    assert (step.actor.name, step.text) == ("asks", "quite good")
    assert step.parts[0]["messages"][0]["content"] == "How good is it?"


def test_the_text_of_a_failed_tool_stands_in_its_error():
    _, samples = raw(DEMO)
    message = next(one for one in samples if one["id"] == "toolerr")["messages"][2]
    call, result = attempt(DEMO, "toolerr").steps[1:3]

    assert message["content"] == ""
    assert (result.kind, result.text, result.error.type, result.parent) == (
        "tool_result",
        "x is out of range",
        "unknown",
        1,
    )
    assert (call.tool_calls[0].error.message, call.tool_calls[0].arguments) == ("x is out of range", {"x": 400, "y": 2})


def test_the_tool_error_of_an_early_log_is_a_text(tmp_path):
    read = first_with(tmp_path, messages=[{"role": "tool", "content": "", "tool_error": "no such file"}])

    assert (read.steps[0].text, read.steps[0].error.type) == ("no such file", "unknown")


def test_an_answer_that_the_limit_kept_out_of_the_messages_is_told():
    _, samples = raw(DEMO)
    limit = next(one for one in samples if one["id"] == "limit")
    result = [step for step in attempt(DEMO, "limit").steps if step.actor.role == "assistant"]

    assert len([one for one in limit["messages"] if one["role"] == "assistant"]) == 3
    assert len(result) == len([event for event in limit["events"] if event["event"] == "model"]) - 1


def test_a_call_beside_the_conversation_is_told():
    texts = [step.text for step in attempt(MIXED, "sub").steps]

    assert "sub question" in texts
    assert "re: sub question" in texts


def test_an_image_in_the_log_itself_is_told_by_its_size(tmp_path):
    image = {"type": "image", "image": "data:image/png;base64," + "A" * 5000}
    read = first_with(tmp_path, messages=[{"role": "user", "content": [image]}])

    assert read.steps[0].parts[0]["image"].endswith("(5022 characters)")


def test_messages_are_found_in_the_pool_of_the_events(tmp_path):
    pool = [{"id": "m1", "role": "user", "content": "from the pool"}]
    output = {"choices": [{"message": {"id": "m2", "role": "assistant", "content": "answered"}, "stop_reason": "stop"}]}
    event = {"event": "model", "model": "m", "input": [], "input_refs": [[0, 1]], "output": output}
    read = first_with(tmp_path, messages=[], events=[event], events_data={"messages": pool, "calls": []})

    assert [step.text for step in read.steps] == ["from the pool", "answered"]


def test_commands_in_a_sandbox_are_steps():
    steps = attempt(log("real_logs", "log_message_deduplication.eval"), "0").steps

    assert "bash --login -c ls" in {step.extra.get("cmd") for step in steps if step.actor.name == "sandbox"}


def test_planned_samples_without_a_trace_are_missing(tmp_path):
    header, _ = raw(DEMO)
    path = changed(DEMO, tmp_path / "log.json", results=header["results"] | {"completed_samples": 4})
    read = attempts(path)

    assert len(read) == 14
    assert {key for key, one in read.items() if one.execution != "missing"} == {
        (name, 1) for name in ("ok", "crash", "flaky", "limit", "toolerr")
    }


def test_samples_that_were_measured_and_are_not_in_the_log_are_not_missing():
    """Trimmed: the log says that more were completed than it holds."""
    assert {one.execution for one in attempts(DEMO).values()}.isdisjoint({"missing"})
    assert len(items(DEMO, Case)) == 7


def test_a_sample_that_was_stopped_before_it_began_is_skipped(tmp_path):
    header, _ = raw(DEMO)
    stop = {"manager": "m", "early_stops": [{"id": "ok", "epoch": 2, "reason": "certain by now"}], "metadata": {}}
    path = changed(DEMO, tmp_path / "log.json", results=header["results"] | {"early_stopping": stop})

    assert (attempt(path, "ok", 2).execution, attempt(path, "ok", 2).stop_reason) == ("skipped", "certain by now")


def test_a_log_without_samples_names_its_cases_and_makes_up_no_attempts():
    path = log("real_logs", "*no-samples.json")

    assert attempts(path) == {}
    assert len(items(path, Case)) == 3


def test_a_sample_that_stands_there_twice_is_a_duplicate(tmp_path):
    data, samples = raw(SCORER)
    data["samples"] = [*samples, samples[1] | {"uuid": "another"}]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(data))

    assert attempt(path, "ok", 2).duplicate_of == attempt(path, "ok", 1).id


def test_a_run_that_was_killed_is_read_from_its_journal():
    path = log("unfinished_eval")
    read = {case: one.execution for (case, _), one in attempts(path).items()}

    assert (run(path).native_status, run(path).finished_at) == ("started", None)
    assert read == {"a": "completed", "b": "completed", "group/e": "completed", "c": "missing", "d": "missing"}


def test_a_sample_whose_member_is_lost_is_read_from_its_summary(tmp_path):
    path = rezipped(
        log("demo_eval"), tmp_path / "log", lambda name, data: None if name == "samples/ok_epoch_1.json" else data
    )
    read = attempt(path, "ok")

    assert (read.execution, read.outcome, read.extra["read_from"]) == ("completed", "pass", "summary")
    assert read.ref.member == "summaries.json"


def test_a_sample_that_only_began_is_unfinished(tmp_path):
    began = [{"id": "c", "epoch": 1, "input": "c", "target": "x", "completed": False}]
    path = rezipped(
        log("unfinished_eval"),
        tmp_path / "log",
        lambda name, data: json.dumps(began).encode() if name.endswith("summaries/1.json") else data,
    )

    assert attempt(path, "c").execution == "unfinished"


def test_a_damaged_sample_is_unreadable_and_its_score_is_kept(tmp_path):
    path = rezipped(
        log("demo_eval"), tmp_path / "log", lambda name, data: data[:50] if name == "samples/ok_epoch_1.json" else data
    )

    assert [one.ref.member for one in unreadables(path)] == ["samples/ok_epoch_1.json"]
    assert attempt(path, "ok").outcome == "pass"
