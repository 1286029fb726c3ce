"""A simulated user against its instruction, and agents against the last tool result."""

import pytest
from tests.transcript.transcripts import SIMULATED, SOURCES, agent, call, logged, read_all, user

from errata.transcript.evidence_log import evidence_log

TASK = "You are mia_li_3668. Fly to Seattle on May 20 with reservation H9ZU1C. Pay at most $300."
OPEN = {"actions": [{"name": "book_flight", "kwargs": {"reservation_id": "H9ZU1C"}}]}


def flagged(kind, *steps, expected=OPEN, task=TASK):
    return logged(*steps, task=task, expected=expected, usage=SIMULATED, kind=kind)


def test_a_user_that_agrees_and_stops_leaves_the_action_open():
    [found] = flagged(
        "user_stopped_early", agent("Shall I book it? Please confirm."), user("Yes, go ahead. ###STOP###")
    )

    assert (found.step, found.related_step, found.strength) == (1, 0, "strong")
    assert "book_flight is still open" in found.text


@pytest.mark.parametrize(
    "steps",
    [
        (agent("Shall I book it?"), user("Yes, go ahead.")),
        (agent("That is not possible."), user("All right. ###STOP###")),
        (agent("", call("book_flight", reservation_id="H9ZU1C")), agent("Anything else?"), user("No. ###STOP###")),
    ],
    ids=["goes on", "was refused", "was done"],
)
def test_a_user_that_stops_when_all_is_said_did_not_stop_early(steps):
    assert not flagged("user_stopped_early", *steps)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("My user id is mia_lee_1111.", "user id"),
        ("It is reservation K9ZZ1D.", "code"),
    ],
)
def test_a_value_that_differs_from_the_instruction_contradicts_it(text, shape):
    [found] = flagged("user_contradicts_task", agent("How can I help?"), user(text))

    assert (found.step, found.argument, found.strength) == (1, shape, "strong")
    assert found.quote == text


def test_a_value_of_a_kind_that_the_instruction_lacks_is_invented():
    [found] = flagged("user_invents", agent("Your email?"), user("It is mia@example.com."))

    assert (found.step, found.argument) == (1, "email address")


@pytest.mark.parametrize(
    "text",
    [
        "I am mia_li_3668 and my code is H9ZU1C.",
        "Flight HAT0021 on May 24 sounds good.",
        "I pay $300 at most, not $412.",
    ],
)
def test_values_of_the_instruction_and_those_the_agent_offered_are_fine(text):
    offer = agent("There is HAT0021 on May 24 for $412.")

    assert not flagged("user_contradicts_task", offer, user(text))
    assert not flagged("user_invents", offer, user(text))


def test_a_person_who_is_not_simulated_is_not_compared():
    assert not logged(agent("Hi"), agent("Hi"), task=TASK, expected=OPEN, kind="user_contradicts_task")


def test_real_users_that_barred_the_agent_are_flagged():
    """tau-bench airline: task 45 agrees and stops, task 16 denies its own id."""
    rows = {(attempt.case.rpartition("/")[2], attempt.index): (attempt, case)
            for attempt, case in read_all(SOURCES / "tau_bench/tau_cut/data/gpt-4o-airline.json")}  # fmt: skip
    kinds = {name: {one.kind for one in evidence_log(*rows[name])} for name in (("45", 2), ("16", 2), ("23", 3))}

    assert "user_stopped_early" in kinds["45", 2]
    assert "user_contradicts_task" in kinds["16", 2]
    assert not {"user_stopped_early", "user_contradicts_task"} & kinds["23", 3]


def test_an_action_reported_as_done_that_was_never_made_is_flagged():
    expected = {"actions": [{"name": "update_baggages", "kwargs": {"reservation_id": "H9ZU1C"}}]}
    looked = agent("", call("get_reservation", '{"bags": 1}', reservation_id="H9ZU1C"))

    [found] = flagged("action_not_made", looked, agent("One checked bag has been added."), expected=expected)
    assert (found.step, found.tool, found.strength) == (1, "update_baggages", "strong")
    for text in ("One bag can be added.", "I have reviewed your bags.", "Your meal has been added."):
        assert not flagged("action_not_made", looked, agent(text), expected=expected)


def test_another_amount_than_the_instruction_s_is_made_up_but_contradicts_nothing():
    """Step 53 of tau-bench, airline 9: the user puts a price on its own reservation."""
    steps = (agent("What does it cost?"), user("The total cost of the reservation is $1,200."))
    [found] = flagged("user_invents", *steps)

    assert not flagged("user_contradicts_task", *steps)
    assert found.text == "The simulated user gives the amount $1,200; its instruction does not name it."
