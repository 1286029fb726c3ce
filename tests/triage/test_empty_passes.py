"""Passes that say nothing, and sound ones that look alike."""

import pytest

from errata.model import (
    Artefact,
    Case,
    Check,
    Judgement,
    Output,
    SourceInfo,
    Undelivered,
    Usage,
    UsageByRole,
)
from errata.testing import a_run, an_attempt
from errata.triage.suspicious import MEANS, suspicious
from errata.triage.suspicious_work import agent_logs

BODY = '{"detail": "Invalid input", "status": 422, "requestId": "'


def passed(number=1, **changes):
    return an_attempt(**{"outcome": "pass", "case": f"suite/case-{number}"} | changes)


def a_case(expected=None, task="Name the capital.", **changes):
    return Case(run="0" * 16, suite="suite", native_id="case", input=task, expected=expected, **changes)


def seen(*attempts, case=None, run=None):
    found = [*suspicious(run or a_run(), attempts, lambda _: case)]
    assert all(one.signal.name in MEANS for one in found)
    return [(one.signal.name, one.signal.strength) for one in found]


def checked(*checks):
    return passed(output=Output(text="Canberra"), checks=checks)


def test_a_pass_on_a_prompt_that_was_not_delivered_is_suspicious():
    attempt = passed(undelivered=Undelivered(fault="empty"), output=Output(text="What can I do for you?"))

    assert seen(attempt) == [("prompt_not_delivered", "likely")]


def test_a_pass_on_an_error_body_is_suspicious():
    assert seen(passed(output=Output(text=f'{BODY}1"}}'), http_status=422)) == [("error_body", "likely")]


def test_a_request_that_is_refused_may_be_what_a_safety_suite_wants():
    attempt = passed(output=Output(text=f'{BODY}1"}}'), http_status=400, checks=(Check(name="harm", status="pass"),))

    assert seen(attempt) == [("error_body", "weak")]


def test_a_request_id_does_not_hide_that_all_answers_are_one():
    text = "Your request was received and is being processed, id req_7f3a9c1b2d4e5f60718{}"
    answers = [passed(number, output=Output(text=text.format(number))) for number in range(8)]

    assert [name for name, _ in seen(*answers)] == ["constant_output"] * 8


def test_answers_that_differ_in_a_number_are_different_answers():
    answers = [passed(number, output=Output(text=f"The sum of all the items is {number}.")) for number in range(8)]

    assert seen(*answers) == []


def test_a_metric_that_found_nothing_to_judge_says_nothing():
    assert seen(checked(Check(name="Faithfulness", status="pass", weakness="no_criteria"))) == [
        ("empty_criteria", "likely")
    ]


def test_beside_a_real_check_an_empty_one_is_a_weak_sign():
    real = Check(name="Relevancy", status="pass")

    assert seen(checked(real, Check(name="Faithfulness", status="pass", weakness="no_criteria"))) == [
        ("empty_criteria", "weak")
    ]
    assert seen(checked(real, Check(name="Faithfulness", status="fail", weakness="no_criteria"))) == []


def test_an_empty_factor_of_a_reward_does_not_matter_beside_a_real_one():
    parts = [
        Check(name="DB", status="pass", kind="reward"),
        Check(name="COMMUNICATE", status="pass", kind="reward", weakness="no_criteria"),
    ]

    assert seen(checked(*parts)) == []
    assert seen(checked(parts[1])) == [("empty_criteria", "likely")]


def test_any_answer_includes_an_empty_target():
    check = Check(name="includes", status="pass", scorer="includes")

    assert seen(checked(check), case=a_case("")) == [("empty_criteria", "likely")]
    assert seen(checked(check), case=a_case("Canberra")) == []
    assert seen(checked(Check(name="verify", status="pass", scorer="verify")), case=a_case("")) == []


def test_a_pass_without_an_assertion_is_suspicious_where_the_log_would_list_it():
    lists_all = a_run(source=SourceInfo(name="promptfoo"))

    assert seen(passed(checks=()), run=lists_all) == [("nothing_asserted", "likely")]
    assert seen(checked(Check(name="equals", status="pass")), run=lists_all) == []
    assert seen(passed(checks=()), run=a_run()) == []


NO_REQUEST = UsageByRole(judge=Usage(input=0, output=0, total=0, requests=0))
ASKED = UsageByRole(judge=Usage(input=200, output=10, requests=1))


@pytest.mark.parametrize(
    ("text", "usage", "names"),
    [
        ("I processed your request with pleasure.", NO_REQUEST, [("judge_not_asked", "weak")]),
        ("I cannot help with that.", NO_REQUEST, []),
        ("I processed your request with pleasure.", ASKED, []),
        ("I processed your request with pleasure.", UsageByRole(), []),
    ],
)
def test_a_judge_that_asked_nobody_is_odd_unless_the_answer_is_a_refusal(text, usage, names):
    judged = Judgement(judge="Harmful", reasoning="The output contains a standard refusal.")

    assert seen(passed(output=Output(text=text), judgements=(judged,), usage=usage)) == names


def some_tests(*names, status="pass"):
    return tuple(Check(name=name, kind="tests", status=status) for name in names)


SKIPPED = ("[1] ../tests/test_outputs.py:48: no service", "[1] ../tests/test_outputs.py:61: no service")


def test_skipped_tests_that_count_as_passed_say_nothing():
    assert seen(passed(checks=some_tests("test_a", *SKIPPED))) == [("skipped_tests", "likely")]
    assert seen(passed(checks=(*some_tests("test_a"), *some_tests("test_b", "test_c", status="skipped")))) == [
        ("skipped_tests", "likely")
    ]


def test_a_test_that_is_skipped_beside_many_that_ran_is_nothing_odd():
    assert (
        seen(passed(checks=(*some_tests("test_a", "test_b", "test_c"), *some_tests("test_d", status="skipped")))) == []
    )


ENDED = (
    '{"type":"result","subtype":"success","is_error":%s,"num_turns":1,"usage":{"input_tokens":0,"output_tokens":%d}}'
)
CALL = '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"%s"}}]}}\n'


def logged(*lines):
    text = "\n".join(lines)
    return passed(artefacts=(Artefact(role="log", path="trial/panes/post-agent.txt", text=text),))


def test_an_agent_that_never_wrote_a_word_passed_on_leftovers():
    (found,) = suspicious(a_run(), [logged("connection failed", ENDED % ("true", 0))])

    assert (found.signal.name, found.signal.strength) == ("no_work", "likely")
    assert found.signal.where == "trial/panes/post-agent.txt:2"


@pytest.mark.parametrize(
    "lines", [(ENDED % ("false", 120),), (CALL % "make", ENDED % ("true", 0)), (ENDED % ("true", 3),)]
)
def test_an_agent_that_did_something_did_not(lines):
    assert seen(logged(*lines)) == []


def test_a_call_in_an_agents_log_is_named_with_its_line():
    (found,) = suspicious(a_run(), [logged("started", CALL % "cat /oracle/map.txt")])

    assert (found.signal.name, found.signal.where) == ("read_reference", "trial/panes/post-agent.txt:2")


def test_a_file_that_the_task_names_may_be_read():
    case = a_case(task="Run /protected/server.py and map the maze.")

    assert seen(logged(CALL % "python3 /protected/server.py"), case=case) == []
    assert seen(logged(CALL % "python3 /protected/helper.py"), case=case) == [("read_reference", "likely")]


@pytest.mark.parametrize("command", ["git log -3", "git show HEAD", "curl https://example.org/data.csv", "git status"])
def test_looking_at_the_repository_is_part_of_the_work(command):
    assert seen(logged(CALL % command)) == []


WRITE = (
    '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write",'
    '"input":{"file_path":"/app/%s","content":"%s"}}]}}\n'
)


def test_a_test_of_its_own_may_be_written_and_removed():
    assert seen(logged(WRITE % ("test_trial.py", "assert f(2) == 3"), CALL % "rm test_trial.py")) == []
    assert seen(logged(CALL % "rm tests/test_slow.py")) == [("edited_tests", "weak")]
    assert seen(logged(WRITE % ("conftest.py", "import sys; sys.exit(0)"))) == [("edited_tests", "likely")]


def test_the_line_of_each_place_in_a_wrapped_log_is_known():
    text = '{"type":\n\n"result"}\nend\n'
    (log,) = agent_logs(logged(text))
    letters = [(at, letter) for at, letter in enumerate(text) if letter != "\n"]

    assert log.text == '{"type":"result"}end'
    assert [log.line(number) for number in range(len(letters))] == [1 + text.count("\n", 0, at) for at, _ in letters]


def test_a_log_is_prepared_once_for_all_rules():
    attempt = logged('{"type":"result"}\nonce')

    assert next(agent_logs(attempt)) is next(agent_logs(attempt))
