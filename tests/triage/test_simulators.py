"""Simulated users that made their own case impossible, on rows of tau-bench."""

import pytest
from msgspec.structs import replace
from tests.triage.test_limit_signals import attributed, rows

from errata.model import ToolCall, ToolResult


@pytest.mark.parametrize(
    ("task", "trial", "rule"), [("45", 2, "user_stopped_early"), ("16", 2, "user_denies_instruction")]
)
def test_a_user_that_bars_the_agent_from_acting_is_the_simulators(task, trial, rule):
    found = attributed(*rows()[task, trial])

    assert (found.owner, found.confidence, found.decided_by) == ("simulator", "likely", rule)


def test_a_user_without_its_id_is_no_excuse_where_the_agent_could_look_things_up():
    """It gave its reservation, and the agent changed that wrongly."""
    assert attributed(*rows()["23", 3]).owner == "model"


@pytest.mark.parametrize(("tool", "owner"), [("search_direct_flight", "simulator"), ("get_user_details", "model")])
def test_a_search_that_anybody_can_make_does_not_replace_the_id_that_the_user_denies(tool, owner):
    attempt, case = rows()["16", 2]
    searched = ToolCall(name=tool, result=ToolResult(text='[{"flight_number": "HAT001"}]'))
    steps = (replace(attempt.steps[0], tool_calls=(searched,)), *attempt.steps[1:])

    assert attributed(replace(attempt, steps=steps), case).owner == owner


@pytest.mark.parametrize("last", ["Thank you for your help. ###STOP###", "Sure, please go ahead and issue it."])
def test_a_user_that_only_thanks_or_only_agrees_did_not_stop_early(last):
    attempt, case = rows()["45", 2]
    steps = (*attempt.steps[:-1], replace(attempt.steps[-1], text=last))

    assert attributed(replace(attempt, steps=steps), case).owner == "model"
