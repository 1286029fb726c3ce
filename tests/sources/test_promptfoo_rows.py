"""What promptfoo's rows can look like: errors, judges, sets, answers that are no text, histories and secrets."""

import json

import pytest
from promptfoo_rows import (
    a_component,
    a_failed_row,
    a_row,
    an_error_row,
    an_export,
    attempts_in,
    cases_in,
    facts,
    lines,
    read_one,
    read_rows,
    runs_in,
    written,
)

from errata.model.codec import to_json
from errata.sources import promptfoo

JUDGED = {"type": "llm-rubric", "value": "is polite"}
GRADING_STACK = (
    "Error: socket hang up\n    at callApi (/home/user/judge.cjs:1:69)\n"
    "    at async matchesLlmRubric (/opt/node_modules/promptfoo/dist/src/matchers.js:96:10)"
)


def a_broken_judge(**changes):
    result = {
        "pass": False,
        "score": 0,
        "reason": "API error: 503",
        "assertion": JUDGED,
        "metadata": {"graderError": True},
    }
    return result | changes


def a_failed_component(**changes):
    return a_component(**{"pass": False, "score": 0, "reason": "no"}) | changes


def test_an_error_that_grading_threw_is_of_scoring_although_the_answer_is_lost(tmp_path):
    attempt = read_one(tmp_path, an_error_row(GRADING_STACK))

    assert facts(attempt) == ("completed", "error", "none")
    assert attempt.output.text is None


def test_an_error_beside_an_answer_is_of_scoring(tmp_path):
    attempt = read_one(tmp_path, an_error_row("TypeError: x is undefined", response={"output": "hello"}))

    assert facts(attempt) == ("completed", "error", "none")
    assert attempt.errors[0].phase == "scoring"


def test_words_of_grading_in_the_message_alone_are_no_stack(tmp_path):
    attempt = read_one(tmp_path, an_error_row("the server said: runAssertion at matchesLlmRubric /assertions/"))

    assert facts(attempt) == ("error", "not_run", "none")


def test_an_answer_that_comes_with_an_error_is_an_error(tmp_path):
    row = an_error_row("HTTP 429 Too Many Requests", response={"output": "half", "error": "HTTP 429 Too Many Requests"})

    attempt = read_one(tmp_path, row)

    assert facts(attempt) == ("error", "not_run", "none")
    assert attempt.errors[0].code == "429"


def test_the_status_of_the_answer_is_the_code_of_the_error(tmp_path):
    response = {"error": "boom", "metadata": {"http": {"status": 502, "statusText": "Bad Gateway"}}}

    assert read_one(tmp_path, an_error_row("boom", response=response)).errors[0].code == "502"


def test_no_output_is_an_error_although_promptfoo_gives_no_reason(tmp_path):
    row = a_row(success=False, score=0, failureReason=0, error="No output", gradingResult=None, response={})

    assert facts(read_one(tmp_path, row)) == ("error", "not_run", "none")


def test_an_error_of_an_old_row_without_a_reason_is_an_error(tmp_path):
    row = an_error_row("API call error: timeout")
    del row["failureReason"], row["gradingResult"]

    items = list(promptfoo.read(lines(tmp_path / "rows.jsonl", [row])))

    assert facts(attempts_in(items)[0]) == ("error", "not_run", "none")


def test_a_call_over_its_time_is_a_limit(tmp_path):
    attempt = read_one(tmp_path, an_error_row("Evaluation timed out after 5000ms: no answer"))

    assert facts(attempt) == ("limit", "not_run", "none")
    assert attempt.limit.value == 5


def test_a_row_that_the_end_of_the_evaluation_came_before_was_cancelled(tmp_path):
    attempt = read_one(tmp_path, an_error_row("Evaluation exceeded max duration of 60000ms"))

    assert (attempt.execution, attempt.limit.type) == ("cancelled", "run_time")


def test_a_broken_judge_says_nothing_of_the_answer(tmp_path):
    attempt = read_one(tmp_path, a_failed_row(a_broken_judge(), a_component()))

    assert facts(attempt) == ("completed", "error", "none")
    assert attempt.reported == 0.0


def test_another_assertion_that_failed_decides_beside_a_broken_judge(tmp_path):
    attempt = read_one(tmp_path, a_failed_row(a_broken_judge(), a_failed_component()))

    assert facts(attempt) == ("completed", "error", "fail")


def test_below_a_threshold_a_broken_judge_may_have_decided(tmp_path):
    row = a_failed_row(a_broken_judge(), a_failed_component(), testCase={"vars": {"q": "hello"}, "threshold": 0.5})

    assert facts(read_one(tmp_path, row)) == ("completed", "error", "none")


def test_a_pass_stands_although_a_judge_broke(tmp_path):
    grading = {"pass": True, "score": 0.5, "reason": "ok", "componentResults": [a_broken_judge(), a_component()]}

    attempt = read_one(tmp_path, a_row(gradingResult=grading, score=0.5))

    assert facts(attempt) == ("completed", "scored", "pass")


def test_a_judge_before_there_was_a_mark_for_it_is_known_by_its_words(tmp_path):
    broken = a_broken_judge(reason="Could not extract JSON from llm-rubric response", metadata={})

    assert facts(read_one(tmp_path, a_failed_row(broken))) == ("completed", "error", "none")


def test_the_same_words_in_an_assertion_without_a_judge_are_a_failure(tmp_path):
    result = a_failed_component(reason="API error: 503")

    assert facts(read_one(tmp_path, a_failed_row(result))) == ("completed", "scored", "fail")


def test_a_pass_with_a_failed_assertion_is_a_pass(tmp_path):
    grading = {"pass": True, "score": 0.5, "reason": "≥", "componentResults": [a_failed_component(), a_component()]}

    attempt = read_one(tmp_path, a_row(gradingResult=grading, testCase={"vars": {}, "threshold": 0.5}))

    assert (attempt.outcome, attempt.failed_checks, attempt.threshold) == ("pass", ("contains",), 0.5)


def test_a_row_that_says_neither_is_unscored(tmp_path):
    row = a_row(gradingResult=None)
    row["success"] = None

    items = list(promptfoo.read(lines(tmp_path / "rows.jsonl", [row])))

    assert facts(attempts_in(items)[0]) == ("completed", "unscored", "none")


def a_set(*inside, **changes):
    result = {"metadata": {"assertionSet": {"type": "assert-set", "metric": "tone", "threshold": 0.5, "weight": 2}}}
    return a_component(assertion=None, componentResults=list(inside)) | result | changes


def test_the_parts_of_a_set_are_listed_once_and_the_set_counts(tmp_path):
    inside = [a_component(), a_failed_component()]
    grading = {"pass": True, "score": 1, "reason": "ok", "componentResults": [a_set(*inside), *inside, a_component()]}

    attempt = read_one(tmp_path, a_row(gradingResult=grading))

    assert [(check.name, check.status, check.counts) for check in attempt.checks if not check.is_primary] == [
        ("tone", "pass", True),
        ("contains", "pass", False),
        ("contains", "fail", False),
        ("contains", "pass", True),
    ]


def test_the_parts_of_a_set_that_are_not_repeated_are_checks_too(tmp_path):
    grading = {"pass": True, "score": 1, "reason": "ok", "componentResults": [a_set(a_component(), a_component())]}

    attempt = read_one(tmp_path, a_row(gradingResult=grading))

    assert [check.extra.get("part_of") for check in attempt.checks if not check.is_primary] == [None, "tone", "tone"]


def test_a_set_that_failed_for_its_judge_alone_is_broken(tmp_path):
    inside = [a_broken_judge(), a_component()]
    result = a_set(*inside, **{"pass": False, "score": 0.5, "reason": "below"})

    attempt = read_one(tmp_path, a_failed_row(result, *inside))

    assert facts(attempt) == ("completed", "error", "none")
    assert attempt.checks[0].status == "error"


def test_a_set_has_a_threshold_and_a_weight(tmp_path):
    grading = {"pass": True, "score": 1, "reason": "ok", "componentResults": [a_set(a_component())]}

    check = read_one(tmp_path, a_row(gradingResult=grading)).checks[0]

    assert (check.scorer, check.threshold, check.extra["weight"]) == ("assert-set", 0.5, 2)


@pytest.mark.parametrize("told", [{"weight": 0}, {"metricOnly": True}])
def test_an_assertion_without_weight_does_not_count(told, tmp_path):
    component = a_failed_component(assertion={"type": "contains", "value": "x"} | told)
    grading = {"pass": True, "score": 1, "reason": "ok", "componentResults": [component, a_component()]}

    assert read_one(tmp_path, a_row(gradingResult=grading)).failed_checks == ()


@pytest.mark.parametrize(
    ("assertion", "test", "config"),
    [
        (JUDGED | {"provider": "openai:gpt-4o"}, {}, {}),
        (JUDGED | {"provider": {"id": "openai:gpt-4o"}}, {}, {}),
        (JUDGED | {"provider": {"text": {"id": "openai:gpt-4o"}}}, {}, {}),
        (JUDGED, {"options": {"provider": "openai:gpt-4o"}}, {}),
        (JUDGED, {}, {"defaultTest": {"options": {"provider": "openai:gpt-4o"}}}),
    ],
)
def test_the_model_of_a_judge_is_found_where_it_is_configured(assertion, test, config, tmp_path):
    grading = {"pass": True, "score": 1, "reason": "ok", "componentResults": [a_component(assertion=assertion)]}

    items = read_rows(tmp_path, a_row(gradingResult=grading, testCase={"vars": {}} | test), config=config)

    assert runs_in(items)[0].roles == {"judge": "openai:gpt-4o"}
    assert attempts_in(items)[0].judgements[0].model == "openai:gpt-4o"


def test_a_persons_rating_is_a_scorer_of_its_own_kind(tmp_path):
    grading = {
        "pass": True,
        "score": 1,
        "reason": "fine",
        "comment": "looks good",
        "componentResults": [a_component(assertion={"type": "human"})],
    }

    items = read_rows(tmp_path, a_row(gradingResult=grading))

    assert [scorer.kind for scorer in runs_in(items)[0].scorers] == ["code", "human"]
    assert attempts_in(items)[0].extra["grading comment"] == "looks good"


def test_a_spoken_answer_is_read_by_its_transcript(tmp_path):
    response = {"audio": {"transcript": "good morning", "format": "wav", "data": "UklGRg=="}}

    attempt = read_one(tmp_path, a_row(response=response))

    assert attempt.output.text == "good morning"
    assert attempt.steps[-1].parts == (response,)


def test_an_answer_of_calls_is_a_step_with_calls(tmp_path):
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}

    step = read_one(tmp_path, a_row(response={"output": [call]})).steps[-1]

    assert (step.kind, step.tool_calls[0].name, step.tool_calls[0].arguments) == ("tool_call", "find", {"q": "x"})


def test_a_prompt_that_is_a_chat_gives_a_step_for_each_message(tmp_path):
    chat = [{"role": "system", "content": "Be brief"}, {"role": "user", "content": [{"type": "text", "text": "Hi"}]}]

    attempt = read_one(tmp_path, a_row(prompt={"raw": json.dumps(chat), "label": "chat"}))

    assert [(step.index, step.actor.role, step.text) for step in attempt.steps] == [
        (0, "system", "Be brief"),
        (1, "user", "Hi"),
        (2, "assistant", "hello"),
    ]


@pytest.mark.parametrize("raw", ["[not a chat", "[1, 2]", '{"messages": []}', '[{"content": "no role"}]'])
def test_a_prompt_that_looks_like_a_chat_stays_a_text(raw, tmp_path):
    attempt = read_one(tmp_path, a_row(prompt={"raw": raw, "label": "p"}))

    assert attempt.steps[0].text == raw


def test_messages_of_several_turns_are_the_steps(tmp_path):
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
        {"role": "assistant", "content": "It is 42"},
    ]

    attempt = read_one(tmp_path, a_row(response={"output": "It is 42", "metadata": {"messages": messages}}))

    assert [step.kind for step in attempt.steps] == ["message", "tool_call", "tool_result", "message"]
    assert attempt.steps[2].parent == 1


def test_spans_of_a_trace_are_steps_after_the_conversation(tmp_path):
    spans = [
        {"spanId": "a", "name": "agent", "startTime": 1767323045000, "endTime": 1767323046000},
        {
            "spanId": "b",
            "parentSpanId": "a",
            "name": "tool.search",
            "startTime": 1767323045500,
            "status": {"code": "error", "message": "no such index"},
        },
    ]
    metadata = {"redteamHistory": [{"prompt": "p", "output": "o", "trace": {"traceId": "t", "spans": spans}}]}

    steps = read_one(tmp_path, a_row(response={"output": "o", "metadata": metadata})).steps

    assert [(step.index, step.kind, step.parent) for step in steps[2:]] == [(2, "log", None), (3, "tool_call", 2)]
    assert steps[3].error.message == "no such index"


def test_zeros_that_no_provider_told_are_no_tokens(tmp_path):
    zeros = {"prompt": 0, "completion": 0, "total": 0, "cached": 0, "numRequests": 1}

    usage = read_one(tmp_path, a_row(tokenUsage=zeros, cost=0)).usage.subject

    assert (usage.total, usage.requests, usage.cost, usage.cost_source) == (None, 1, None, "unknown")


def test_the_tokens_of_a_judge_don_t_make_zeros_of_the_subject_known(tmp_path):
    result = {"prompt": 0, "completion": 0, "total": 0, "assertions": {"prompt": 25, "completion": 5, "total": 30}}

    usage = read_one(tmp_path, a_row(tokenUsage=result)).usage

    assert (usage.subject.total, usage.judge.total) == (None, 30)


def test_tokens_from_the_providers_cache_and_from_promptfoos_are_told_apart(tmp_path):
    result = {"prompt": 100, "completion": 5, "cached": 7, "completionDetails": {"cacheReadInputTokens": 80}}

    usage = read_one(tmp_path, a_row(response={"output": "h", "tokenUsage": result})).usage.subject

    assert (usage.input, usage.cache_read, usage.extra["cached"]) == (100, 80, 7)


def test_tests_with_one_description_are_told_apart_by_what_they_ask(tmp_path):
    rows = [a_row(testIdx=n, testCase={"description": "same", "vars": {"q": n}}) for n in range(2)]

    cases = cases_in(read_rows(tmp_path, *rows))

    assert len({case.key for case in cases}) == 2
    assert all(case.native_id.startswith("same [") for case in cases)


def test_values_that_changed_while_a_row_ran_don_t_change_its_case(tmp_path):
    test = {"vars": {"q": "hello"}}
    rows = [a_row(testIdx=n, testCase=test, vars={"q": "hello", "sessionId": f"s{n}"}) for n in range(2)]

    items = read_rows(tmp_path, *rows)

    assert [attempt.index for attempt in attempts_in(items)] == [1, 2]
    assert attempts_in(items)[1].extra["vars"] == {"q": "hello", "sessionId": "s1"}


def test_a_row_that_is_there_twice_is_a_duplicate(tmp_path):
    first, second = attempts_in(read_rows(tmp_path, a_row(), a_row()))

    assert (first.duplicate_of, second.duplicate_of, second.index) == (None, first.id, 2)


def test_columns_that_differ_by_nothing_told_are_two_runs(tmp_path):
    rows = [a_row(promptIdx=n) for n in range(2)]

    runs = runs_in(list(promptfoo.read(lines(tmp_path / "rows.jsonl", rows))))

    assert len({run.id for run in runs}) == 2


def test_columns_that_differ_by_label_alone_are_two_runs(tmp_path):
    rows = [a_row(promptIdx=n, provider={"id": "openai:gpt-4o", "label": f"t{n}"}) for n in range(2)]

    runs = runs_in(list(promptfoo.read(lines(tmp_path / "rows.jsonl", rows))))

    assert [run.variant for run in runs] == [{"provider": "t0"}, {"provider": "t1"}]


@pytest.mark.parametrize(
    ("ident", "provider", "model"),
    [
        ("openai:chat:gpt-4o", "openai", "gpt-4o"),
        ("anthropic:messages:claude-sonnet-4", "anthropic", "claude-sonnet-4"),
        ("bedrock:anthropic.claude-v2:0", "bedrock", "anthropic.claude-v2:0"),
        ("ollama:chat:llama3:8b", "ollama", "llama3:8b"),
        ("file://agent.py", "", "file://agent.py"),
        ("https://example.org/chat", "", "https://example.org/chat"),
        ("echo", "", "echo"),
    ],
)
def test_a_providers_id_names_provider_and_model(ident, provider, model, tmp_path):
    path = lines(tmp_path / "rows.jsonl", [a_row(provider={"id": ident})])

    (run,) = runs_in(list(promptfoo.read(path)))

    assert (run.subject.provider, run.subject.model) == (provider, model)


@pytest.mark.parametrize(
    ("config", "suite"),
    [
        ({"description": "my suite"}, "my suite"),
        ({"tests": "file://cases/tests.csv"}, "tests.csv"),
        ({"tests": ["file://cases/tests.yaml"]}, "tests.yaml"),
        ({"tests": [{"path": "file://make.py:generate"}]}, "make.py:generate"),
        ({"tests": [{"vars": {"q": 1}}]}, "promptfoo"),
        ({}, "promptfoo"),
    ],
)
def test_the_suite_is_named_by_what_the_configuration_tells(config, suite, tmp_path):
    (run,) = runs_in(read_rows(tmp_path, a_row(), config=config))

    assert run.suite == suite


@pytest.mark.trap(20)
def test_keys_and_environment_never_reach_a_record(tmp_path):
    secret = "hunter2-hunter2"
    provider = {
        "id": "openai:chat:gpt-4o",
        "config": {
            "apiKey": secret,
            "temperature": 0,
            "headers": {"X-Team": secret, "Content-Type": "application/json"},
            "env": {"ANYTHING": secret},
        },
    }
    config = {"env": {"OPENAI_API_KEY": secret}, "providers": [provider], "defaultTest": {"options": {"token": secret}}}
    http = {"status": 200, "headers": {"set-cookie": secret, "date": "today"}, "requestHeaders": {"x-any": secret}}
    row = a_row(
        provider=provider,
        response={"output": "hello", "metadata": {"http": http}},
        metadata={"http": http},
        testCase={"vars": {}, "provider": provider, "assert": [JUDGED | {"provider": provider}]},
    )

    items = read_rows(tmp_path, row, config=config)

    stored = b"".join(map(to_json, items)).decode()
    assert secret not in stored
    assert all(name in stored for name in ("OPENAI_API_KEY", "apiKey", "X-Team", "ANYTHING", "set-cookie", "today"))
    assert runs_in(items)[0].subject.params["config"]["temperature"] == 0


def test_a_table_without_rows_is_read_cell_by_cell(tmp_path):
    table = {
        "head": {"prompts": [{"raw": "Say {{q}}", "label": "p", "provider": "openai:gpt-4"}], "vars": ["q"]},
        "body": [
            {
                "outputs": [{"pass": False, "score": 0, "text": "bye", "prompt": "Say hello", "latencyMs": 20}],
                "vars": ["hello"],
            }
        ],
    }
    document = {"results": {"version": 2, "table": table, "stats": {"successes": 0, "failures": 1}}, "config": {}}
    path = written(tmp_path / "old.json", document | {"shareableUrl": None})

    items = list(promptfoo.read(path))

    assert promptfoo.recognise(path)
    assert [(facts(one), one.output.text, one.duration) for one in attempts_in(items)] == [
        (("completed", "scored", "fail"), "bye", 0.02)
    ]
    assert runs_in(items)[0].subject.model == "gpt-4"


def test_an_evaluation_of_one_column_without_metrics_has_the_rate_of_the_whole(tmp_path):
    document = an_export([a_row(), an_error_row("boom", testIdx=1)])
    del document["results"]["prompts"][0]["metrics"]

    (run,) = runs_in(list(promptfoo.read(written(tmp_path / "results.json", document))))

    assert run.reported[0].value == 0.5


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("results.csv", "Description,q,[echo] p,Status,Score,Named Scores,Grader Reason,Comment\n", "the CSV"),
        ("results.yaml", "evalId: eval-1\nresults:\n  version: 3\n", "the YAML"),
    ],
)
def test_other_forms_of_a_run_point_to_the_json_beside_them(name, text, told, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    written(tmp_path / "results.json", an_export([a_row()]))

    assert promptfoo.recognise(path) is None
    assert promptfoo.explain(path) == f"this is {told} of a promptfoo run: import `results.json` beside it"


def test_a_configuration_is_told_from_a_run(tmp_path):
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text("prompts: ['{{q}}']\nproviders: [echo]\n")

    assert promptfoo.explain(path).startswith("this is promptfoo's configuration")


@pytest.mark.parametrize("junk", [None, 0, "x", [], {}, [None], {"a": None}, True, -1, "2026-99-99"])
def test_a_value_of_the_wrong_type_never_stops_the_reading(junk, tmp_path):
    document = an_export([a_row(metadata={"a": 1}), a_failed_row(a_broken_judge(), testIdx=1)])
    for place in _places(document):
        changed = json.loads(json.dumps(document))
        _put(changed, place, junk)
        path = written(tmp_path / "results.json", changed)
        promptfoo.recognise(path)
        list(promptfoo.read(path))


def _places(value, above=()):
    if above:
        yield above
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(child, (*above, key))


def _put(value, place, junk):
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = junk
