"""Which sentences refuse an expected action. Most are quoted from conversations of tau-bench (airline)."""

import pytest
from tests.transcript.transcripts import agent, call, logged, user

CANCEL = ("cancel_reservation", {"reservation_id": "H9ZU1C"})
FLIGHTS = ("update_reservation_flights", {"reservation_id": "H9ZU1C", "cabin": "business"})
PASSENGERS = ("update_reservation_passengers", {"reservation_id": "H9ZU1C", "passengers": []})
CERTIFICATE = ("send_certificate", {"user_id": "ana_1", "amount": 50})


def missing(*steps, actions):
    expected = {"actions": [{"name": name, "kwargs": arguments} for name, arguments in actions]}
    return logged(*steps, expected=expected, kind="action_missing")


def refusals(*texts, action):
    steps = [step for text in texts for step in (agent(text), user("Hm."))]
    found = missing(*steps, agent("You're welcome!"), actions=[action])
    return [(one.step, one.quote) for one in found if "refuses it here" in one.text]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Since it has no insurance, it cannot be canceled under the current policy.", CANCEL),
        ("Unfortunately, I cannot assist with cancelling this reservation under the current conditions.", CANCEL),
        ("I cannot proceed with the cancellation of the reservation.", CANCEL),
        ("Basic economy flights cannot be modified, including cabin upgrades.", FLIGHTS),
        ("Therefore, I cannot upgrade this reservation to business class.", FLIGHTS),
        ("I'm unable to modify the passenger names for a basic economy reservation.", PASSENGERS),
        ("Unfortunately, changes to passenger names are not permitted.", PASSENGERS),
        ("I'm unable to issue a certificate for this delay.", CERTIFICATE),
    ],
)
def test_a_sentence_with_verb_and_object_of_the_action_refuses_it(text, action):
    assert refusals(text, action=action) == [(0, text)]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("I can help you with your reservation, but I cannot remove a passenger from it.", CANCEL),
        ("I'm unable to modify the number of passengers in a reservation.", PASSENGERS),
        ("Unfortunately, I need the reservation ID to proceed with the cancellation.", CANCEL),
        ("I cannot cancel your reservation without the reservation ID.", CANCEL),
        ("If it was booked under basic economy, it cannot be canceled.", CANCEL),
        ("I'm unable to look up reservations directly using just the user ID.", FLIGHTS),
        ("I'm unable to access or provide information about your gift card balances.", CANCEL),
        ("I can't provide real-time updates on flight statuses.", CERTIFICATE),
        ("The certificate cannot be used for updating the reservation.", FLIGHTS),
        ("You can modify passenger details, but the number of passengers cannot be changed.", PASSENGERS),
        ("Is it that the reservation cannot be canceled?", CANCEL),
    ],
)
def test_requests_conditions_and_refusals_of_something_else_are_none(text, action):
    assert not refusals(text, action=action)


def test_the_last_refusal_counts_and_an_offer_after_it_takes_it_back():
    first, second = "It cannot be canceled.", "As I wrote, I cannot cancel this reservation."
    offer = "I can cancel the reservation for you. Would you like that?"

    assert refusals(first, second, action=CANCEL) == [(2, second)]
    assert not refusals(first, offer, action=CANCEL)
    assert not refusals(f"{first} However, if the airline agrees, I can cancel it.", action=CANCEL)
    assert refusals(offer, first, action=CANCEL) == [(2, first)]


def test_each_action_is_refused_where_its_own_object_is_named():
    actions = [("cancel_reservation", {"reservation_id": one}) for one in ("AAA111", "BBB222")]
    found = missing(
        agent("Reservation AAA111 is too old, so it cannot be canceled. Let's look at BBB222."),
        user("And?"),
        agent("BBB222 is too old as well. I cannot cancel this reservation either."),
        actions=actions,
    )

    assert [(one.step, one.text.split("(")[1][:6]) for one in found] == [(0, "AAA111"), (2, "BBB222")]


def test_a_refusal_of_an_action_that_was_made_for_another_object_is_not_taken_over():
    found = missing(
        agent("", call("cancel_reservation", reservation_id="CCC333")),
        agent("CCC333 is done. A used reservation like it cannot be canceled again."),
        actions=[("cancel_reservation", {"reservation_id": "CCC333"}), CANCEL],
    )

    assert ["ends without it" in one.text for one in found] == [True]
