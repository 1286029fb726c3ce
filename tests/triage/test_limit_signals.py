"""Limits: when one decides, when it is only listed, and when the subject repeated itself until it was reached."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from errata.model import Attempt, Case, Check, Limit, Output, Step, ToolCall, ToolResult
from errata.model.step import Actor
from errata.sources import tau_bench
from errata.testing import a_run, an_attempt
from errata.triage import attribute, built_in, observe
from errata.triage.limits import repeated_call, repeated_text

CUT = Path(__file__).parents[1] / "fixtures" / "sources" / "tau_bench" / "tau_cut" / "data" / "gpt-4o-airline.json"
TURNS = {"execution": "limit", "limit": Limit(type="turn", value=30)}
FAILED = Check(name="tests", status="fail", explanation="expected 3, got 4")


def attributed(attempt, case=None):
    rules = built_in()
    return attribute(attempt, observe(a_run(), attempt, case, None, rules), rules=rules)


def calls(*made, result="ok"):
    return tuple(
        Step(
            index=at,
            actor=Actor(role="assistant"),
            kind="tool_call",
            tool_calls=(ToolCall(name="bash", arguments={"command": command}, result=ToolResult(text=result)),),
        )
        for at, command in enumerate(made)
    )


def said(*texts):
    return tuple(Step(index=at, actor=Actor(role="assistant"), text=text) for at, text in enumerate(texts))


def rows(path=CUT):
    """Attempts with their cases, by task and trial."""
    items = [*tau_bench.read(path)]
    cases = {item.key: item for item in items if isinstance(item, Case)}
    made = [item for item in items if isinstance(item, Attempt)]
    return {(item.case.rpartition("/")[2], item.index): (item, cases.get(item.case)) for item in made}


def test_a_limit_before_the_last_required_reply_is_the_budgets():
    found = attributed(*rows()["2", 2])

    assert (found.owner, found.confidence, found.decided_by) == ("budget", "likely", "limit_during_changes")


def test_turns_used_up_without_the_expected_changes_are_presumed_to_be_the_models():
    found = attributed(*rows()["9", 4])

    assert (found.owner, found.decided_by, found.proof, found.also) == (
        "model", "turns_used_up", "presumed", ("budget",)
    )  # fmt: skip


def test_a_dialogue_cut_off_after_all_expected_changes_is_the_budgets():
    attempt, case = rows()["9", 4]
    case = replace(case, expected={"actions": []})
    reads = tuple(replace(step, tool_calls=()) for step in attempt.steps)
    found = attributed(replace(attempt, steps=reads), case)

    assert (found.owner, found.confidence, found.decided_by) == ("budget", "likely", "limit_during_changes")


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit(type="turn", reason="neither side ended it"), "turn limit: neither side ended it"),
        (Limit(type="message", value=6, reason="exceeded"), "message limit of 6: exceeded"),
        (Limit(type="time", value=1800), "time limit of 1800"),
    ],
)
def test_people_see_the_kind_of_a_limit_apart_from_its_reason(limit, words):
    attempt = an_attempt(execution="limit", limit=limit)
    (evidence,) = [one for one in attributed(attempt).signals if one.name == "limit_reached"]

    assert (evidence.words, evidence.quote) == (words, limit.reason)


def test_a_limit_reached_while_one_refused_call_repeats_is_a_loop_of_the_model():
    found = attributed(*rows()["9", 3])

    assert (found.owner, found.decided_by, found.proof, found.also) == ("model", "loop", "shown", ("budget",))


def test_a_limit_that_does_not_explain_the_failure_is_listed_beside_the_model():
    found = attributed(*rows()["9", 4])

    assert (found.owner, found.proof, found.also) == ("model", "presumed", ("budget",))


@pytest.mark.parametrize("same", ["git status", "ls"])
def test_one_call_over_and_over_is_a_loop(same):
    attempt = an_attempt(checks=(FAILED,), steps=calls(*["make"], *[same] * 64), **TURNS)
    found = attributed(attempt)

    assert (found.owner, found.decided_by, found.proof_reason) == ("model", "loop", "self_evident")
    assert found.signals[0].words.startswith("64 times: bash(")


@pytest.mark.parametrize(
    "steps",
    [
        calls(*[f"pytest -k test_{number}" for number in range(64)]),
        calls(*["make", "vim a.c"] * 32),
        calls(*["sleep 60; tail build.log"] * 64),
        said(*["ok"] * 40),
    ],
)
def test_different_calls_waiting_and_short_replies_are_no_loop(steps):
    assert repeated_call(an_attempt(steps=steps, **TURNS)) is None


def test_one_message_over_and_over_is_a_loop():
    assert repeated_call(an_attempt(steps=said(*["I will now look at the file again."] * 12))) is not None


def test_three_refused_calls_without_a_limit_are_no_loop():
    steps = calls(*["deploy"] * 3, result="Error: not now")

    assert repeated_call(an_attempt(steps=steps)) is None
    assert repeated_call(an_attempt(steps=steps, **TURNS)) is not None


@pytest.mark.req("B-14")
@pytest.mark.parametrize(
    ("changes", "owner"),
    [
        ({"output": Output(text="")}, "budget"),
        ({"checks": (Check(name="file", status="fail", explanation="/app/out.txt does not exist"),)}, "budget"),
        ({"steps": calls("ls", "make")}, "budget"),
        ({"output": Output(text="The answer is"), "limit": Limit(type="token", value=64)}, "budget"),
        # finished, and refused for another reason
        ({"checks": (FAILED,), "output": Output(text="I am done: 4")}, "model"),
        ({"checks": (FAILED,)}, "model"),
        ({"steps": said("I am done, the answer is 4.")}, "model"),
        ({"output": Output(text="4", answer="4"), "limit": Limit(type="token", value=64)}, "model"),
    ],
)
def test_a_limit_decides_only_where_the_unfinished_work_explains_the_failure(changes, owner):
    found = attributed(an_attempt(**TURNS | changes))

    assert found.owner == owner
    assert found.confidence != "certain"
    assert owner == "budget" or found.also == ("budget",)


def test_a_final_answer_decides_where_the_transcript_holds_only_the_task():
    task = (Step(index=0, actor=Actor(role="user"), text="Find the flag."),)
    answered = an_attempt(
        steps=task, output=Output(text="I have submitted it.", answer="i have"), checks=(FAILED,), **TURNS
    )
    cut_off = an_attempt(steps=task, checks=(FAILED,), **TURNS)

    assert attributed(answered).owner == "model"
    assert attributed(cut_off).owner == "budget"


def test_a_limit_that_the_harness_names_as_the_only_failed_check_is_certain():
    checks = (
        Check(name="latency", kind="limit", status="fail", explanation="5 s > 3 s"),
        Check(name="a", status="pass"),
    )
    found = attributed(an_attempt(checks=checks))

    assert (found.owner, found.confidence, found.decided_by) == ("budget", "certain", "limit_exceeded")


@pytest.mark.parametrize(
    "text",
    [
        "Solve it: " + "The graph of $y=1. " * 40,
        "1." * 300,
        "1) 2) 3) " + "29) " * 120,
        "a list of the 1000 dollars in a fund that compounds annually at a constant interest rate.\n" * 14,
    ],
)
def test_a_text_that_ends_in_repetitions_is_a_loop(text):
    found = attributed(an_attempt(output=Output(text=text)))

    assert (found.owner, found.decided_by, found.proof) == ("model", "loop", "shown")


def test_the_reason_that_a_check_gives_is_shown_before_the_repetition():
    found = attributed(an_attempt(output=Output(text="1." * 300), checks=(FAILED,)))

    assert (found.decided_by, found.proof_reason) == ("check_failed", "self_evident")
    assert "loop" in [one.name for one in found.signals]


@pytest.mark.parametrize(
    "text",
    [
        "-" * 400,
        "| a | b |\n" + "".join(f"| {number} | {number * 7} |\n" for number in range(80)),
        "ha " * 20,
        "x = [" + ", ".join(["0"] * 200) + "]\nprint(x)",
        "The answer is 4. " * 3,
    ],
)
def test_rulers_tables_and_short_repetitions_are_no_loop(text):
    assert repeated_text(text) == ""


def test_a_repetition_that_the_case_expects_is_no_loop():
    case = Case(run="r", suite="s", native_id="c", expected="yes! " * 100)
    attempt = an_attempt(output=Output(text="yes! " * 99))

    assert attributed(attempt, case).decided_by == "check_failed"
