"""Dialogues with a simulated user: what the subject changed, beside what it was expected to change."""

import pytest

from errata.model import Actor, Case, Check, Step, ToolCall, ToolResult, Usage, UsageByRole
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe

BOOK = ToolCall(name="book_flight", arguments={"flight": "HAT136"}, result=ToolResult(text='{"id": "A1"}'))
CANCEL = ToolCall(name="cancel_flight", arguments={"id": "B2"}, result=ToolResult(text='{"status": "cancelled"}'))
OTHER = ToolCall(name="book_flight", arguments={"flight": "HAT999"}, result=ToolResult(text='{"id": "A1"}'))
REFUSED = ToolCall(name="cancel_flight", arguments={"id": "B2"}, result=ToolResult(text="Error: not allowed"))
READ = ToolCall(name="get_user_details", arguments={"id": "mia"}, result=ToolResult(text="{}"))
EXPECTED = {"actions": [{"name": "book_flight", "kwargs": {"flight": "HAT136"}}]}


def triaged(*calls, expected=EXPECTED, passed_by=None, simulated=True, users_text=""):
    steps = tuple(
        Step(index=at, actor=Actor(role="assistant"), kind="tool_call", tool_calls=(call,))
        for at, call in enumerate(calls)
    )
    steps += (Step(index=len(calls), actor=Actor(role="user"), text=users_text),) if users_text else ()
    usage = UsageByRole(simulator=Usage(cost=0.01)) if simulated else UsageByRole()
    attempt = an_attempt(checks=(Check(name="reward", status="fail"),), steps=steps, usage=usage)
    case = Case(run=attempt.run, suite="s", native_id="1", input="You are Mia.", expected=expected)
    return attribute(attempt, observe(a_run(), attempt, case, RunWide(), built_in()), passed_by=passed_by)


def attributed(*calls, **more):
    found = triaged(*calls, **more)
    return found.owner, found.proof, found.proof_reason


def test_a_change_that_nobody_was_to_make_is_the_models():
    assert attributed(BOOK, CANCEL) == ("model", "shown", "self_evident")


def test_where_nothing_was_to_change_every_change_is_one_too_many():
    assert attributed(READ, CANCEL, expected={"actions": []}) == ("model", "shown", "self_evident")


@pytest.mark.parametrize("calls", [(READ,), (REFUSED,)], ids=["nothing done", "a refused call"])
def test_another_attempts_pass_shows_little_where_the_user_is_simulated(calls):
    assert attributed(*calls, passed_by="a") == ("model", "presumed", "simulated_user")


def test_a_change_against_the_words_of_the_user_is_the_models_where_somebody_passed():
    users_text = "Please book hat136 for me."

    assert attributed(OTHER, passed_by="a", users_text=users_text) == ("model", "shown", "passed_elsewhere")
    assert attributed(OTHER, users_text=users_text) == ("model", "presumed", "no_other_result")


@pytest.mark.parametrize(
    "users_text",
    [
        "",
        "Any flight will do.",
        "Please book HAT999.",
        "I had HAT136 before. Please book HAT999.",
        "My number is HAT1366.",
    ],
)
def test_a_wrong_change_that_the_user_may_have_asked_for_is_not_supported_by_another_attempts_pass(users_text):
    assert attributed(OTHER, passed_by="a", users_text=users_text) == ("model", "presumed", "simulated_user")


def test_short_values_and_truth_values_that_the_user_happens_to_say_contradict_nothing():
    wanted = {"actions": [{"name": "book_flight", "kwargs": {"bags": 3, "insured": True}}]}
    made = ToolCall(name="book_flight", arguments={"bags": 2, "insured": False}, result=ToolResult(text="{}"))

    found = attributed(made, expected=wanted, passed_by="a", users_text="There are 3 of us. True!")

    assert found == ("model", "presumed", "simulated_user")


def test_without_a_simulated_user_a_pass_of_somebody_else_is_enough():
    assert attributed(READ, passed_by="a", simulated=False) == ("model", "shown", "passed_elsewhere")


def test_calls_are_compared_only_where_the_log_says_what_was_expected():
    assert attributed(CANCEL, expected={"outputs": ["327"]}) == ("model", "presumed", "no_other_result")


@pytest.mark.parametrize(
    ("calls", "name", "quote"),
    [
        ((OTHER,), "wrote_otherwise", "book_flight with flight HAT999 (expected HAT136)"),
        ((CANCEL,), "wrote_otherwise", "book_flight(flight=HAT136) never made; cancel_flight(id=B2) not expected"),
        ((BOOK, CANCEL), "wrote_too_much", "cancel_flight(id=B2)"),
        ((READ,), "never_wrote", "book_flight(flight=HAT136)"),
    ],
)
def test_the_evidence_names_what_differs_from_the_expected_changes(calls, name, quote):
    assert (name, quote) in [(one.name, one.words) for one in triaged(*calls).signals]
