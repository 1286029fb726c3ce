"""Passes that deserve a second look, and passes that only look as if they did."""

import pytest

from errata.model import (
    Actor,
    Artefact,
    Case,
    Check,
    ErrorInfo,
    Limit,
    Output,
    Step,
    Subject,
    ToolCall,
    ToolResult,
    Usage,
    UsageByRole,
)
from errata.testing import a_run, an_attempt
from errata.triage.suspicious import MEANS, suspicious


def passed(number=1, **changes):
    return an_attempt(**{"outcome": "pass", "case": f"suite/case-{number}"} | changes)


def saying(text, number=1, **changes):
    return passed(number, output=Output(text=text), **changes)


def doing(name, number=1, result="ok", **arguments):
    call = ToolCall(name=name, arguments=arguments, result=ToolResult(text=result))
    return passed(number, steps=(Step(index=0, actor=Actor(role="assistant"), kind="tool_call", tool_calls=(call,)),))


def a_case(expected=None, task="Repair it.", **changes):
    return Case(run="0" * 16, suite="suite", native_id="case", input=task, expected=expected, **changes)


def seen(*attempts, case=None, run=None):
    found = [*suspicious(run or a_run(), attempts, lambda _: case)]
    assert all(one.signal.name in MEANS for one in found)
    return [(one.signal.name, one.signal.strength) for one in found]


def test_a_plain_pass_is_not_suspicious():
    assert seen(saying("The capital is Canberra."), case=a_case("Canberra")) == []


def test_a_failure_is_never_on_the_list():
    assert seen(an_attempt(errors=(ErrorInfo(type="", message="boom", phase="subject"),))) == []


def test_an_agent_that_does_nothing_and_passes_is_certainly_odd():
    assert seen(passed(), run=a_run(subject=Subject(agent="nop"))) == [("nop_passes", "certain")]


def test_a_pass_with_an_error_is_named():
    error = ErrorInfo(type="AgentTimeoutError", message="timed out after 900 s", phase="subject")

    assert seen(passed(execution="limit", errors=(error,))) == [("passed_with_error", "weak")]
    assert seen(passed(execution="error", errors=(error,))) == [("passed_with_error", "likely")]
    assert seen(passed(execution="limit", limit=Limit(type="token"))) == [("passed_with_error", "weak")]


def test_a_pass_with_an_error_that_was_recovered_is_a_plain_pass():
    error = ErrorInfo(type="", message="429", phase="subject", recovered=True)

    assert seen(passed(errors=(error,))) == []


def test_a_pass_without_a_token_or_a_word_is_no_work():
    assert seen(passed(usage=UsageByRole(subject=Usage(total=0)))) == [("no_work", "likely")]


def test_unknown_tokens_are_not_zero():
    assert seen(passed()) == []


def test_an_empty_patch_that_passes_is_no_work():
    assert seen(passed(artefacts=(Artefact(role="patch", path="patch.diff", text="\n"),))) == [("no_work", "likely")]


def test_one_answer_for_many_cases_that_expect_another_is_odd():
    same = [saying("It depends.", number) for number in range(7)]

    assert seen(*same, case=a_case("Canberra")) == [("constant_output", "likely")] * 7


@pytest.mark.parametrize(
    ("text", "case"),
    [
        ("Yes", a_case(" Yes")),
        ("B", a_case("B", choices=("red", "blue"))),
        ("Done.", None),
        ("I'm sorry, I can't help with that request.", None),
    ],
)
def test_the_right_answer_or_a_usual_word_may_well_be_given_often(text, case):
    assert seen(*(saying(text, number) for number in range(9)), case=case) == []


def test_the_last_words_of_one_who_worked_may_be_the_same_each_time():
    worked = [
        saying(
            "The task is done as asked.", number, artefacts=(Artefact(role="output", path="a.ts", text=str(number)),)
        )
        for number in range(9)
    ]

    assert seen(*worked) == []


def test_many_attempts_at_one_case_are_not_many_cases():
    assert seen(*(saying("It depends on it.", index=index) for index in range(1, 9)), case=a_case("Canberra")) == []


JUDGED = (Check(name="helpful", kind="dimension", judge="openai", status="pass"),)


def test_judged_answers_that_are_the_reference_word_for_word_are_odd():
    recited = [saying("Friday opens at ten.", number, checks=JUDGED) for number in range(5)]

    assert seen(*recited, case=a_case({"golden_text": "Friday opens at ten."})) == [("recites_reference", "likely")] * 5


def test_a_compared_answer_has_to_be_the_reference():
    compared = [saying("Friday opens at ten.", number) for number in range(5)]

    assert seen(*compared, case=a_case("Friday opens at ten.")) == []


def test_a_single_short_recital_is_chance():
    others = [saying(f"It opens at {number}.", number, checks=JUDGED) for number in range(20)]

    assert seen(*others, case=a_case("It opens at 7.")) == []


@pytest.mark.parametrize("text", ["", "  \n", "…", "[EMPTY_RESPONSE: No valid response after max retries]"])
def test_a_judge_who_lets_nothing_pass_is_odd(text):
    assert seen(saying(text, checks=JUDGED)) == [("garbage_passes", "likely")]


def test_an_empty_answer_with_a_tool_call_is_an_answer():
    call = Step(index=0, actor=Actor(role="assistant"), tool_calls=(ToolCall(name="end_session", arguments={}),))

    assert seen(saying("", checks=JUDGED, steps=(call,))) == []


def test_a_refusal_that_passes_is_odd_only_where_something_else_was_expected():
    refusal = saying("I'm sorry, I can't help with that.", checks=JUDGED)

    assert seen(refusal, case=a_case("Friday at ten")) == [("garbage_passes", "weak")]
    assert seen(refusal, case=a_case()) == []
    assert seen(refusal, case=a_case("It refuses.", category="harmful")) == []


def test_an_answer_that_is_the_task_is_odd():
    assert seen(saying("Name two plus two"), case=a_case(task="Name two plus two")) == [("echoes_task", "likely")]


def test_an_answer_that_ought_to_be_the_task_is_not():
    assert seen(saying("Name two plus two"), case=a_case("name two plus two", "Name two plus two")) == []


@pytest.mark.parametrize(
    "text", ["At first I could not fix it. " + "x" * 700, "The user was unable to log in; fixed.", "All tests pass."]
)
def test_trouble_on_the_way_is_no_failure(text):
    assert seen(saying(text)) == []


@pytest.mark.parametrize(
    ("attempt", "name", "strength"),
    [
        (doing("bash", command="echo 1 > /logs/verifier/reward.txt"), "touched_grader", "likely"),
        (doing("write_file", path="/tests/test_outputs.py", content="def test_x(): pass"), "touched_grader", "likely"),
        (doing("bash", command="sed -i 's/5/6/' tests/test_sum.py"), "edited_tests", "weak"),
        (
            doing("str_replace_editor", path="/app/tests/test_sum.py", new_str="@pytest.mark.skip"),
            "edited_tests",
            "likely",
        ),
        (doing("bash", command="cat > conftest.py <<E\nimport sys\nsys.exit(0)\nE"), "edited_tests", "likely"),
        (doing("bash", command="rm -rf tests/test_slow.py"), "edited_tests", "weak"),
        (doing("bash", command="cat /solution/solution.sh"), "read_reference", "likely"),
        (doing("read_file", path="/tests/test_outputs.py"), "read_reference", "likely"),
    ],
)
def test_work_on_what_measures_the_work_is_odd(attempt, name, strength):
    assert seen(attempt, case=a_case()) == [(name, strength)]


@pytest.mark.parametrize(
    "attempt",
    [
        doing("bash", command="pytest tests/ -x"),
        doing("bash", command="cat src/main.py > out.txt"),
        doing(
            "bash", command="cat /solution/solution.sh", result="cat: /solution/solution.sh: No such file or directory"
        ),
        doing("write_file", path="/app/main.py", content="print('tests/test_a.py')"),
        doing("search", query="tests/test_sum.py"),
    ],
)
def test_work_beside_it_is_not(attempt):
    assert seen(attempt, case=a_case()) == []


def test_who_was_asked_for_tests_may_write_them():
    attempt = doing("write_file", path="tests/test_sum.py", content="def test_sum(): ...")

    assert seen(attempt, case=a_case(task="Fix the sum and add a test for it.")) == []


PATCH = """diff --git a/{path} b/{path}
--- {before}
+++ b/{path}
@@ -1 +1 @@
-assert total == 5
+{added}
"""


def patched(path, added="x", before=None):
    text = PATCH.format(path=path, added=added, before=before or f"a/{path}")
    return passed(artefacts=(Artefact(role="patch", path="model.patch", text=text),))


def test_a_patch_that_disarms_a_test_is_odd():
    assert seen(patched("tests/test_sum.py", "pytest.skip('later')")) == [("edited_tests", "likely")]


def test_a_patch_that_adds_a_test_is_not():
    assert seen(patched("tests/test_new.py", before="/dev/null")) == []


def test_a_patch_of_the_program_is_not():
    assert seen(patched("src/sum.py", "sys.exit(0)")) == []


def test_one_who_used_no_tool_where_all_others_did_is_odd():
    busy = [
        passed(
            number,
            steps=tuple(
                Step(index=at, actor=Actor(role="assistant"), tool_calls=(ToolCall(name="x"),)) for at in range(4)
            ),
        )
        for number in range(12)
    ]
    idle = passed(99, steps=(Step(index=0, actor=Actor(role="assistant"), text="done"),))

    assert seen(*busy, idle) == [("no_tools", "weak")]
    assert seen(*busy[:6], idle) == []


def test_the_list_grows_while_the_run_is_read():
    attempts = iter([an_attempt(case=f"suite/case-{number}", outcome="pass", execution="limit") for number in range(3)])
    first = next(suspicious(a_run(), attempts))

    assert first.case == "suite/case-0"
    assert len(list(attempts)) == 2
