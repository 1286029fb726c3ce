"""What is special about OpenTelemetry traces: names of two conventions and of every era, and no verdict in most."""

import json

import pytest
from changed_logs import FIXTURES, attempts, cases, facts, runs, unreadables, write_rows
from otlp_traces import TRACE, attributes, batch, chat, document, evaluation, event, message, span

GENAI = FIXTURES / "otlp" / "genai" / "data"
OPENINFERENCE = FIXTURES / "otlp" / "openinference" / "data"
FAILED = {"code": 2, "message": "503 upstream"}
CALL = {"type": "tool_call", "id": "c1", "name": "lookup", "arguments": {"order": 9}}


def test_a_trace_that_nobody_evaluated_has_no_verdict():
    (attempt,) = attempts(OPENINFERENCE)

    assert facts(attempt) == ("completed", "not_run", "none")


def test_an_event_of_an_evaluation_is_the_verdict():
    (attempt,) = attempts(GENAI)
    (check,) = attempt.checks

    assert facts(attempt) == ("completed", "scored", "fail")
    assert (check.name, check.value, check.reason_code, check.explanation) == (
        "correctness",
        0.0,
        "fail",
        "did not refund",
    )
    assert attempt.steps[check.step].text == "I cannot find the order."


@pytest.mark.parametrize(
    ("told", "outcome"),
    [
        ({"score__value": 1.0}, "pass"),
        ({"score__value": 0.4}, "number"),
        ({"score__value": 0.0, "score__label": "pass"}, "pass"),
        ({"score__label": "incorrect"}, "fail"),
        ({"score__value": 4.0}, "none"),
        ({"score__label": "relevant"}, "none"),
    ],
)
def test_a_word_goes_before_a_number_and_an_unknown_scale_decides_nothing(tmp_path, told, outcome):
    path = document(tmp_path, chat(1, "A", "Q", parent=0, events=[evaluation(name="m", **told)]))

    assert facts(attempts(path)[0]) == ("completed", "scored", outcome)


def test_an_evaluation_that_broke_is_no_verdict(tmp_path):
    broken = event("gen_ai.evaluation.result", gen_ai__evaluation__name="judge", error__type="timeout")
    (attempt,) = attempts(document(tmp_path, chat(1, "A", "Q", parent=0, events=[broken])))

    assert facts(attempt) == ("completed", "error", "none")
    assert [error.phase for error in attempt.errors] == ["scoring"]


def test_an_evaluation_in_the_logs_of_a_collector_is_found_by_its_trace(tmp_path):
    record = {"traceId": TRACE, "spanId": f"{1:016x}", "eventName": "gen_ai.evaluation.result"}
    record |= {"attributes": attributes({"gen_ai.evaluation.name": "m", "gen_ai.evaluation.score.value": 1.0})}
    logs = {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": [record]}]}]}
    path = write_rows(tmp_path / "traces.jsonl", logs, batch(chat(1, "A", "Q", parent=0)))

    assert facts(attempts(path)[0]) == ("completed", "scored", "pass")


def test_an_evaluator_span_tells_its_score_in_its_output_and_is_the_judges(tmp_path):
    judge = span(3, {"openinference.span.kind": "EVALUATOR", "output.value": '{"score": 1, "label": "ok"}'}, parent=1)
    asked = chat(4, "fine", "Is it?", parent=3, told={"gen_ai.usage.input_tokens": 7})
    (attempt,) = attempts(document(tmp_path, span(1), chat(2, "A", "Q"), judge, asked))

    assert facts(attempt) == ("completed", "scored", "pass")
    assert (attempt.usage.judge.input, attempt.usage.subject.input, attempt.output.text) == (7, None, "A")


def test_the_status_of_a_test_case_is_a_verdict(tmp_path):
    result = {"test.case.name": "low-water", "test.suite.name": "tides", "test.case.result.status": "fail"}
    path = document(tmp_path, span(1, result))

    assert facts(attempts(path)[0]) == ("completed", "scored", "fail")
    assert list(cases(path)) == ["low-water"]


def test_a_trace_whose_first_span_failed_has_no_outcome(tmp_path):
    broken = [event("exception", exception__type="openai.RateLimitError", exception__message="503 upstream")]
    call = chat(2, "", "Q", status=FAILED, events=broken)
    (attempt,) = attempts(document(tmp_path, span(1, status={"code": "STATUS_CODE_ERROR", "message": "gave up"}), call))

    assert facts(attempt) == ("error", "not_run", "none")
    assert [(one.type, one.message) for one in attempt.errors] == [
        ("RateLimitError", "503 upstream"),
        ("span_error", "gave up"),
    ]


def test_an_evaluation_of_a_trace_that_broke_fails_nobody(tmp_path):
    top = chat(1, "", "Q", parent=0, status=FAILED, events=[evaluation(name="m", score__value=0.0)])

    assert facts(attempts(document(tmp_path, top))[0]) == ("error", "scored", "none")


def test_what_was_tried_again_and_worked_was_recovered(tmp_path):
    again = [chat(2, "", "Q", name="chat", status=FAILED), chat(3, "A", "Q", name="chat")]
    (attempt,) = attempts(document(tmp_path, span(1), *again))

    assert (attempt.execution, [error.recovered for error in attempt.errors]) == ("completed", [True])


def test_a_tool_that_failed_is_the_tools_error():
    (attempt,) = attempts(GENAI)
    (call,) = attempt.steps[2].tool_calls

    assert [(error.type, error.phase, error.recovered) for error in attempt.errors] == [("TimeoutError", "tool", False)]
    assert (call.arguments, call.error.message, call.result) == ({"order": 9}, "db timeout", None)


def test_a_tool_span_without_an_id_answers_the_first_call_of_its_name():
    (attempt,) = attempts(OPENINFERENCE)

    assert [(call.id, call.error.message) for step in attempt.steps for call in step.tool_calls] == [
        ("call_1", "db timeout")
    ]


def test_a_tool_that_no_model_asked_for_is_a_step_of_its_own(tmp_path):
    result = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "clock", "gen_ai.tool.call.result": "14:05"}
    _, step = attempts(document(tmp_path, span(1), span(2, result, parent=1)))[0].steps

    assert (step.kind, step.actor.role, step.tool_calls[0].result.text) == ("tool_call", "tool", "14:05")


def test_spans_are_told_in_the_order_in_which_they_began_each_before_its_parts(tmp_path):
    spans = [span(5, parent=4), span(3, parent=2), span(4, parent=1), span(2, parent=1), span(1)]
    (attempt,) = attempts(document(tmp_path, *spans))

    assert [step.text for step in attempt.steps] == [f"span {number}" for number in (1, 2, 3, 4, 5)]
    assert [step.parent for step in attempt.steps] == [None, 0, 1, 0, 3]


def test_spans_whose_beginning_is_not_in_the_file_are_read_all_the_same(tmp_path):
    (attempt,) = attempts(document(tmp_path, chat(3, "B", "Q", parent=9), chat(2, "A", "Q", parent=9, status=FAILED)))

    assert (attempt.execution, attempt.extra["beginning"]) == ("completed", "not in this file")


def test_spans_that_are_each_others_parents_are_read_once(tmp_path):
    (attempt,) = attempts(document(tmp_path, span(1, parent=2), span(2, parent=1), span(3, parent=3)))

    assert sorted(step.text for step in attempt.steps) == ["span 1", "span 2", "span 3"]


def test_a_span_that_never_ended_is_unfinished(tmp_path):
    assert attempts(document(tmp_path, span(1, endTimeUnixNano="0")))[0].execution == "unfinished"


def test_what_was_said_before_is_not_said_again(tmp_path):
    answer = {"type": "tool_call_response", "id": "c1", "response": "paid"}
    history = ["Refund", message("assistant", CALL), {"role": "tool", "parts": [answer]}, "yes", "yes"]
    first = chat(2, "", "Refund", told={"gen_ai.output.messages": json.dumps([message("assistant", CALL)])})
    steps = attempts(document(tmp_path, span(1), first, chat(3, "Done", *history)))[0].steps

    assert [step.text for step in steps] == ["span 1", "Refund", "", "yes", "yes", "Done"]
    assert steps[2].tool_calls[0].result.text == "paid"


def test_a_framework_and_the_library_that_it_calls_tell_one_call(tmp_path):
    outer = chat(2, "A", "Q", told={"gen_ai.usage.input_tokens": 5})
    inner = chat(3, "A", "Q", parent=2, told={"gen_ai.usage.input_tokens": 5})
    (attempt,) = attempts(document(tmp_path, span(1), outer, inner))

    assert [step.kind for step in attempt.steps] == ["log", "log", "message", "model_call"]
    assert attempt.usage.subject.input == 5


ERAS = {
    "gen_ai.prompt as an event": (
        {},
        [
            event("gen_ai.content.prompt", gen_ai__prompt='[{"role": "user", "content": "Q"}]'),
            event("gen_ai.content.completion", gen_ai__completion='[{"role": "assistant", "content": "A"}]'),
        ],
    ),
    "an event for each message": (
        {},
        [
            event("gen_ai.user.message", content="Q"),
            event("gen_ai.choice", index=0, finish_reason="stop", message='{"role": "assistant", "content": "A"}'),
        ],
    ),
    "events with JSON in them": (
        {},
        [
            event("gen_ai.user.message", gen_ai__event__content='{"content": "Q", "role": "user"}'),
            event("gen_ai.choice", gen_ai__event__content='{"index": 0, "message": {"content": "A"}}'),
        ],
    ),
    "an event of details": (
        {},
        [
            event(
                "gen_ai.client.inference.operation.details",
                gen_ai__input__messages=[message("user", "Q")],
                gen_ai__output__messages=[message("assistant", "A")],
            )
        ],
    ),
    "attributes that are no text": (
        {"gen_ai.input.messages": [message("user", "Q")], "gen_ai.output.messages": [message("assistant", "A")]},
        [],
    ),
    "OpenLLMetry": (
        {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Q",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "A",
        },
        [],
    ),
    "OpenInference with parts": (
        {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "Q",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "A",
        },
        [],
    ),
    "OpenInference with values alone": ({"input.value": "Q", "output.value": "A"}, []),
}


@pytest.mark.parametrize("era", ERAS)
def test_each_era_tells_what_was_asked_and_answered(tmp_path, era):
    result, events = ERAS[era]
    (attempt,) = attempts(
        document(tmp_path, span(1), span(2, result | {"gen_ai.request.model": "m"}, parent=1, events=events))
    )

    assert [(step.actor.role, step.text) for step in attempt.steps[1:]] == [("user", "Q"), ("assistant", "A")]


def test_traces_of_several_models_are_several_runs(tmp_path):
    other = chat(2, "B", "Q", parent=0, traceId="e" * 32, told={"gen_ai.request.model": "cirrus-1"})
    broken = span(3, traceId="d" * 32)
    path = document(tmp_path, chat(1, "A", "Q", parent=0), other, broken)

    assert [run.subject.model for run in runs(path)] == ["nimbus-2", "cirrus-1", ""]
    assert len({one.run for one in attempts(path)}) == 3


def test_a_trace_that_names_no_model_is_of_the_one_that_the_others_are_of(tmp_path):
    path = document(tmp_path, chat(1, "A", "Q", parent=0), span(3, traceId="d" * 32))

    assert len({one.run for one in attempts(path)}) == len(runs(path)) == 1


def test_traces_that_were_asked_the_same_are_tries_at_one_case(tmp_path):
    again = chat(2, "B", "Q", parent=0, traceId="e" * 32)
    path = document(tmp_path, chat(1, "A", "Q", parent=0), again)

    assert [one.index for one in attempts(path)] == [1, 2]
    assert [case.input for case in cases(path).values()] == ["Q"]


def test_the_run_keeps_its_id_while_a_collector_appends(tmp_path):
    first = batch(chat(1, "A", "Q", parent=0))
    path = write_rows(tmp_path / "traces.jsonl", first)
    before = runs(path)[0].id
    write_rows(path, first, batch(chat(2, "B", "R", parent=0, traceId="e" * 32)))

    assert [run.id for run in runs(path)] == [before]


def test_a_span_without_a_trace_is_told(tmp_path):
    path = document(tmp_path, chat(1, "A", "Q", parent=0), span(2, traceId=""))

    assert [one.why for one in unreadables(path)] == ["a span without a trace id"]
    assert len(attempts(path)) == 1


def test_values_of_environment_variables_are_not_kept(tmp_path):
    path = document(tmp_path, span(1), **{"process.environment_variable.HOME": "/home/eve"})

    assert runs(path)[0].environment["process.environment_variable.HOME"] == "[not kept]"
