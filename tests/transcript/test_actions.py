"""Actions made beside actions expected: arguments, missing and unexpected actions, and what blocks an expected one."""

import pytest
from tests.transcript.transcripts import SOURCES, agent, call, logged, read_all, transcript, user

from errata.transcript.actions import compare_actions, expected_actions
from errata.transcript.tool_use import object_ids
from errata.transcript.wording import in_brief

ACTIONS = (
    "action_differs",
    "action_missing",
    "action_unexpected",
    "action_blocks",
)


def wanted(*calls):
    return {"actions": [{"name": name, "kwargs": arguments} for name, arguments in calls]}


def flagged(*steps, expected):
    return [one for one in logged(*steps, expected=expected) if one.kind in ACTIONS]


def test_a_wrong_argument_is_named_with_both_values_its_step_and_a_quote():
    [found] = flagged(
        user("Two bags, please."),
        agent("", call("update_bags", reservation_id="R1", total=3, paid_by={"card": "c_7"})),
        expected=wanted(("update_bags", {"reservation_id": "R1", "total": 2, "paid_by": {"card": "c_7"}})),
    )

    assert (found.kind, found.step, found.argument) == ("action_differs", 1, "total")
    assert found.quote == '"total": 3'
    assert "total is 3, expected 2" in found.text


def test_nested_arguments_are_compared_by_their_place():
    attempt, case = transcript(
        agent("", call("book", flights=[{"no": "H1", "date": "2024-05-20"}, {"no": "H2", "date": "2024-05-20"}])),
        expected=wanted(
            ("book", {"flights": [{"no": "H1", "date": "2024-05-20"}, {"no": "H3", "date": "2024-05-20"}]})
        ),
    )

    compared = compare_actions(attempt, case)

    assert compared is not None
    [pair] = compared.differing
    assert pair.differences == (("flights[1].no", "H2", "H3"),)


def test_equal_actions_match_in_any_order_as_a_multiset():
    steps = [agent("", call("send", amount=50)), agent("", call("cancel", id="A")), agent("", call("send", amount=50))]
    twice = wanted(("cancel", {"id": "A"}), ("send", {"amount": 50}), ("send", {"amount": 50}))
    once = wanted(("cancel", {"id": "A"}), ("send", {"amount": 50}))

    assert not flagged(*steps, expected=twice)
    [found] = flagged(*steps, expected=once)
    assert (found.kind, found.step) == ("action_unexpected", 2)


def test_leftover_actions_are_paired_by_the_object_they_are_about():
    found = flagged(
        agent("", call("update", reservation_id="B2", seats=4)),
        agent("", call("update", reservation_id="A1", seats=4)),
        expected=wanted(
            ("update", {"reservation_id": "A1", "seats": 2}), ("update", {"reservation_id": "B2", "seats": 3})
        ),
    )

    assert [(one.step, one.text.partition(": ")[2]) for one in found] == [
        (0, "seats is 4, expected 3."),
        (1, "seats is 4, expected 2."),
    ]


def test_an_action_that_ends_what_was_to_be_changed_blocks_it():
    found = flagged(
        agent("", call("cancel_reservation", reservation_id="R1")),
        agent("It is cancelled."),
        expected=wanted(("update_reservation", {"reservation_id": "R1", "cabin": "economy"})),
    )

    assert [(one.kind, one.step) for one in found] == [("action_blocks", 0), ("action_missing", 1)]


def test_ending_another_object_blocks_nothing():
    found = flagged(
        agent("", call("cancel_reservation", reservation_id="R9")),
        agent("It is cancelled."),
        expected=wanted(("update_reservation", {"reservation_id": "R1", "cabin": "economy"})),
    )

    assert {one.kind for one in found} == {"action_unexpected", "action_missing"}


@pytest.mark.parametrize(
    ("steps", "step", "words"),
    [
        ([agent("I cannot refund this order."), user("Oh."), agent("You're welcome!")], 0, "refuses it here"),
        ([agent("Done?"), agent("", call("transfer_to_human", summary="x"))], 1, "hands the case over"),
        ([agent("", call("refund", "Error: not allowed", order_id="1")), agent("Bye.")], 0, "was refused: Error"),
        ([agent("Here are your flights."), user("Hm."), agent("You're welcome!")], 0, "ends without it"),
    ],
)
def test_a_missing_action_is_flagged_where_it_was_given_up(steps, step, words):
    found = [
        one for one in flagged(*steps, expected=wanted(("refund", {"order_id": "1"}))) if one.kind != "call_failed"
    ]

    assert (found[0].kind, found[0].step) == ("action_missing", step)
    assert words in found[0].text


def test_refused_calls_and_lookups_are_no_actions():
    steps = [
        agent("", call("get_order", order_id="1"), call("refund", "Error: closed", order_id="1")),
        agent("", call("refund", order_id="1")),
    ]

    assert not flagged(*steps, expected=wanted(("refund", {"order_id": "1"})))


def test_what_the_user_has_to_do_is_not_expected_of_the_subject():
    actions = [{"name": "restart_phone", "arguments": {}, "requestor": "user"}]

    assert expected_actions(transcript(agent("Hi"), expected={"actions": actions})[1]) == ()


def test_without_a_list_of_actions_nothing_is_compared():
    for expected in (None, "42", {"answer": "42"}, ["a", "b"]):
        attempt, case = transcript(agent("", call("book", id="1")), expected=expected)
        assert compare_actions(attempt, case) is None


def test_the_turn_that_first_named_a_wrong_value_is_flagged_too():
    found = logged(
        user("I want to fly west."),
        agent("I suggest Denver-Intl for you."),
        user("Fine."),
        agent("", call("book", destination="Denver-Intl")),
        task="Fly to the coast.",
        expected=wanted(("book", {"destination": "Seattle"})),
    )

    named = next(one for one in found if one.kind == "value_named")
    differs = next(one for one in found if one.kind == "action_differs")
    assert (named.step, named.related_step, named.argument) == (1, 3, "destination")
    assert differs.related_step == 1
    assert "Denver-Intl" in named.quote


def test_expected_outputs_that_no_agent_states_are_listed():
    steps = [agent("You save 1,200 dollars in all."), user("Thanks"), agent("You're welcome!")]

    [found] = flagged(*steps, expected={"actions": [], "outputs": ["23553"]})
    assert (found.step, '"23553"' in found.text) == (0, True)
    assert not flagged(*steps, expected={"actions": [], "outputs": ["1200"]})


def test_whoever_asks_identifies_no_object():
    assert object_ids({"user_id": "mia_1", "reservation_id": "R1", "orderIDs": ["a", "b"]}) == {"R1", "a", "b"}
    assert object_ids({"amount": 5, "paid": True, "valid": "x"}) == frozenset()


def test_a_real_dialogue_shows_the_changes_that_nobody_expected():
    """tau-bench airline task 9, whose refused calls are results in steps of their own."""
    rows = {(attempt.case.rpartition("/")[2], attempt.index): (attempt, case)
            for attempt, case in read_all(SOURCES / "tau_bench/tau_cut/data/gpt-4o-airline.json")}  # fmt: skip
    for attempt, case in rows.values():
        compared = compare_actions(attempt, case)
        if compared is not None:
            assert not any(one.use.error for one in compared.made)
    assert rows


def test_a_value_from_a_tool_s_result_is_not_the_agent_s():
    """Messages 4 and 5 of tau2-bench, airline 22: the result lists every payment method, the expected one first."""
    profile = '{"payment_methods": {"gift_card_8190333": {"amount": 201}, "credit_card_6754990": {"brand": "visa"}}}'
    found = logged(
        agent("", call("get_user_details", profile, user_id="ivan_1")),
        agent("", call("update", order_id="R1", payment_id="credit_card_6754990")),
        expected=wanted(("update", {"order_id": "R1", "payment_id": "gift_card_8190333"})),
    )

    assert [(one.kind, one.step) for one in found] == [("action_differs", 1)]


def test_a_value_that_another_argument_expects_is_not_where_it_went_wrong():
    actions = wanted(("book", {"order_id": "R1", "there": "HAT069", "back": "HAT276"}))
    wrong = call("book", order_id="R1", there="HAT069", back="HAT069")

    assert {one.kind for one in logged(agent("I found HAT069."), agent("", wrong), expected=actions)} == {
        "action_differs"
    }
    [named] = [
        one
        for one in logged(
            agent("I found HAT078."),
            agent("", call("book", order_id="R1", there="HAT069", back="HAT078")),
            expected=actions,
        )
        if one.kind == "value_named"
    ]
    assert (named.step, named.quote) == (0, "I found HAT078.")


def test_the_quote_begins_near_the_value_that_it_shows():
    long = "The flights that leave in the morning " + "and those that leave in the evening " * 6
    found = logged(
        agent(f"{long}include HAT078."),
        agent("", call("book", order_id="R1", flight="HAT078")),
        expected=wanted(("book", {"order_id": "R1", "flight": "HAT276"})),
    )
    quote = next(one.quote for one in found if one.kind == "value_named")

    assert quote.index("HAT078") < 80
    assert quote.split()[0] in long.split()


def test_a_call_that_is_made_again_is_no_substitute_for_another_action():
    """Steps 18 and 26 of tau-bench, airline 4: the user asks for another payment method."""
    found = flagged(
        agent("", call("update_flights", reservation_id="R1", payment_id="credit_card_1")),
        user("I prefer a gift card."),
        agent("", call("update_flights", reservation_id="R1", payment_id="gift_card_2")),
        agent("Done."),
        expected=wanted(
            ("update_flights", {"reservation_id": "R1", "payment_id": "gift_card_3"}),
            ("update_passengers", {"reservation_id": "R1"}),
        ),
    )
    [again] = [one for one in found if one.kind == "action_unexpected"]

    assert (again.step, again.related_step, again.strength) == (2, 0, "moderate")
    assert again.text == (
        "update_flights was made again for R1 with payment_id gift_card_2; it was called before in step 0."
    )


def test_equal_names_are_counted_against_those_expected():
    upgrade, move = {"order_id": "1", "cabin": "economy"}, {"order_id": "1", "cabin": "economy", "flight": "HAT041"}
    actions = wanted(("update", upgrade), ("update", move), ("book", {"seat": 1}), ("book", {"seat": 2}))
    [found] = flagged(agent("", call("update", **move)), agent("Done."), expected=actions)

    assert found.text == (
        "Expected and never made: 1 of 2 calls of update (1), book twice; the conversation ends without it."
    )


def test_records_of_a_list_are_written_as_their_values():
    assert in_brief([{"flight": "HAT1", "date": "05-24"}, {"flight": "HAT2", "ok": True}]) == "HAT1 05-24, HAT2 true"
    assert in_brief([]) == "none"
