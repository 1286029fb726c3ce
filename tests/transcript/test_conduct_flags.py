"""Data that agents assume, actions they only claim, confirmations without a check, and what must not be flagged."""

import pytest
from tests.transcript.transcripts import agent, call, code, logged, ran, user

from errata.transcript.tool_use import code_in

TASK = agent("You are given a task: how tall is the tower?", name="Manager")
OTHER = agent("Then let's go on.", name="Helper")


def flagged(kind, *steps):
    return [(one.step, one.strength) for one in logged(TASK, *steps, kind=kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Let's assume the daily ticket costs $25.",
        "Assuming we have the following prices, we go on.",
        "I will simulate the search results here.",
        "We can use hypothetical data for the calculation.",
        "The list below is placeholder data.",
        "These sample values show the idea.",
        "The result holds for the assumed rate of $0.10.",
        "Based on general knowledge, the rate is $0.10.",
    ],
)
def test_assumed_data_is_flagged(text):
    assert flagged("data_assumed", agent(text, name="A"), OTHER) == [(1, "strong")]


@pytest.mark.parametrize(
    "text",
    [
        "We should not assume anything about the price.",
        "Use real prices instead of hypothetical values.",
        "I assume you leave from Newark, correct?",
        "The paper discusses simulated annealing and mock exams.",
        "There is no placeholder data in this file.",
        "For example, Paris is a city.",
        "Please share the information with general managers.",
    ],
)
def test_rejected_assumptions_questions_and_other_meanings_are_not(text):
    assert not flagged("data_assumed", agent(text, name="A"), OTHER)


@pytest.mark.parametrize("line", ['key = "YOUR_API_KEY"', "open('path/to/image.png')", "paper = '2206.XXXX'"])
def test_a_placeholder_in_code_is_flagged_strongly_where_it_ran(line):
    assert flagged("data_assumed", agent(code(line), name="A"), ran("failed", 1)) == [(1, "strong")]
    assert flagged("data_assumed", agent(code(line), name="A"), OTHER) == [(1, "moderate")]


@pytest.mark.parametrize("line", ["path_to_file = find()", "key = os.environ['API_KEY']", "print('XX')"])
def test_ordinary_code_has_no_placeholder(line):
    assert not flagged("data_assumed", agent(code(line), name="A"), ran("ok"))


@pytest.mark.parametrize(
    "text",
    [
        "After manually searching the site, the tower is 330 m.",
        "Upon visiting the link, we see the headstone.",
        "I have reviewed the source, and it says 12.",
        "Following the links provided, I identified two places.",
    ],
)
def test_a_lookup_without_a_call_is_flagged(text):
    assert flagged("action_not_made", agent(text, name="A"), OTHER) == [(1, "strong")]


@pytest.mark.parametrize(
    "text",
    [
        "Please check the site after searching for it.",
        "We should review the source once I have examined it.",
        "After lunch we continue.",
        "Did you say you have checked it?",
    ],
)
def test_plans_requests_and_conditions_are_no_claims(text):
    assert not flagged("action_not_made", agent(text, name="A"), OTHER)


def test_a_lookup_with_a_call_or_right_after_a_result_is_none_either():
    text = "After searching the site, the tower is 330 m."

    assert not flagged("action_not_made", agent(text, call("search", "330 m", query="tower")), OTHER)
    assert not flagged("action_not_made", agent(code("search()"), name="A"), ran("330 m"), agent(text, name="B"))


def test_an_announcement_counts_only_where_nothing_follows():
    announced = agent("I will check the website now.", name="A")

    assert flagged("action_not_made", announced, agent("Good.", name="B")) == [(1, "moderate")]
    assert not flagged("action_not_made", announced, agent("", call("open", "page", url="x")))


def test_confirmations_without_a_result_are_counted_from_the_first():
    [found] = logged(
        TASK,
        agent("It is 361 yards.", name="A"),
        agent("The height has been verified.", name="B"),
        agent("I agree, it is confirmed.", name="C"),
        kind="unchecked_confirmation",
    )

    assert (found.step, found.steps) == (2, (2, 3))
    assert "also step 3" in found.text


@pytest.mark.parametrize(
    "steps",
    [
        (agent(code("height()"), name="A"), ran("361"), agent("The height is confirmed.", name="B")),
        (agent("This has to be verified.", name="A"), agent("Please confirm it.", name="B")),
        (agent("It has not been verified yet.", name="A"), OTHER),
    ],
    ids=["after a result", "requests", "denied"],
)
def test_confirmations_after_a_result_and_requests_are_none(steps):
    assert not flagged("unchecked_confirmation", *steps)


def test_going_on_after_empty_output_is_flagged_unless_the_agent_notices():
    empty = (agent(code("scrape()"), name="A"), ran("[]"))
    used = agent("The three albums are listed above, so the answer is 3.", name="B")
    noticed = agent("The code did not return any data, so let's try again.", name="B")

    assert (3, "strong") in flagged("call_returned_nothing", *empty, used)
    assert flagged("call_returned_nothing", *empty, noticed) == [(1, "moderate")]


def test_ending_after_a_failed_call_is_noted_and_after_a_good_one_is_not():
    failed = (agent(code("x"), name="A"), ran("Traceback\nNameError: x", 1), agent("TERMINATE", name="B"))
    worked = (agent(code("x"), name="A"), ran("330"), agent("TERMINATE", name="B"))

    assert flagged("ended_early", *failed) == [(3, "weak")]
    assert not flagged("ended_early", *worked)


def test_a_plain_answer_of_one_agent_is_not_looked_at():
    steps = (user("How tall?"), agent("Let's assume a height of 330 m. I have checked it, and it is verified."))

    assert not logged(*steps, task="How tall?")


def test_only_fenced_blocks_with_a_language_are_code():
    assert code_in("```python\nprint(1)\n```\ntext\n```sh\nls\n```") == "print(1)\n\nls\n"
    assert code_in("```33040, 33037```") == code_in("```\nplain\n```") == code_in("no code") == ""
    assert code_in("```python\nnever closed") == "never closed"


@pytest.mark.parametrize(
    "text",
    [
        "To confirm, you would like to cancel 3RK2T9. Is that correct? Please reply “yes” to proceed.",
        "The details above are correct, please confirm.",
        "Let me know if the date is correct.",
        "Here is the address: is it accurate?",
    ],
)
def test_a_question_and_a_request_confirm_nothing(text):
    assert not flagged("unchecked_confirmation", OTHER, agent(text, name="A"), OTHER)


def test_a_confirmation_before_another_question_still_counts():
    text = "The height has been verified. Shall we go on?"

    assert flagged("unchecked_confirmation", OTHER, agent(text, name="A"), OTHER) == [(2, "moderate")]


def test_an_announced_search_may_be_made_several_steps_later():
    """Steps 14 and 22 of tau-bench, airline 23: the agent first asks for the airport."""
    announced = agent("I will search for nonstop flights. From which airport?")
    later = (user("JFK."), agent("And on which day?"), user("May 6."), agent("", call("search", "[]", origin="JFK")))

    assert not flagged("action_not_made", announced, *later)
    assert flagged("action_not_made", announced, *later[:-1], agent("Good."), user("?")) == [(1, "moderate")]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("unchecked_confirmation", "As I wrote, the system confirms that no insurance was added."),
        ("action_not_made", "I have reviewed the reservation, and no insurance was added."),
    ],
)
def test_an_agent_that_works_alone_may_speak_of_what_it_looked_up_before(kind, text):
    """Step 16 of tau-bench, airline 36: the user asks a second time."""
    looked_up = agent("", call("get_reservation", '{"insurance": "no"}', reservation_id="R1"))
    steps = (user("Was there insurance?"), looked_up, agent("No."), user("Sure?"), agent(text))

    assert not logged(*steps, kind=kind)
    assert logged(steps[0], agent("", call("get_reservation", "Error: unknown", id="R1")), *steps[2:], kind=kind)


def test_a_question_mark_in_a_title_asks_nothing():
    text = 'After manually searching for "Which Is Better?" on the web, we have the authors.'

    assert flagged("action_not_made", agent(text, name="A"), OTHER) == [(1, "strong")]
