"""Claims without a source, and what counts as one."""

import pytest
from tests.transcript.transcripts import agent, call, code, logged, ran, transcript, user

from errata.model import Artefact
from errata.transcript.claims import values_in
from errata.transcript.evidence_log import evidence_log
from errata.transcript.mentions import Mentions

QUESTION = "Which zip codes are meant? Answer with the codes."


def claims(*steps, task=QUESTION, expected="34689"):
    return logged(*steps, task=task, expected=expected, kind="unsupported_claim")


def test_a_value_of_the_answer_is_traced_to_the_agent_that_brought_it_up():
    found = claims(
        agent(f"Task: {QUESTION}", name="Manager"),
        agent("The fish was seen in 33040 and 33037.", name="Geographer"),
        agent("I agree: 33040, 33037.", name="Reviewer"),
    )

    assert [(one.step, one.speaker, one.related_step, one.strength) for one in found] == [
        (1, "Geographer", 2, "strong")
    ]
    assert found[0].quote == "The fish was seen in 33040 and 33037."


@pytest.mark.parametrize(
    "source",
    [
        user("They told me 33040 and 33037."),
        agent("", call("lookup", '{"zips": [33040, 33037]}', fish="Nemo")),
        ran("33040 and 33037"),
    ],
    ids=["user", "tool", "terminal"],
)
def test_a_value_that_a_user_or_a_tool_named_has_a_source(source):
    assert not claims(agent("Task."), source, agent("The codes are 33040 and 33037.", name="Geographer"))


def test_values_of_the_task_and_the_right_answer_are_no_claims():
    steps = (agent("Task."), agent("It is 34689, as of 2019.", name="A"))

    assert not claims(*steps, task="Where was it found before 2019?")


def test_what_follows_from_numbers_that_were_just_named_has_a_source():
    steps = (
        agent("Task."),
        agent("", call("price", '{"adult": 125, "student": 14}')),
        agent("Together that is 139, and 4 × 125 = 500.", name="A"),
    )

    assert not claims(*steps)


def test_code_that_prints_its_own_constants_is_no_source():
    [found] = claims(
        agent("Task."),
        agent(code("price = 2375\nprint(price)"), name="Coder"),
        ran("2375"),
        agent("The price is 2375.", name="Reviewer"),
    )

    assert (found.step, found.speaker) == (1, "Coder")


def test_a_hand_over_that_adds_to_the_task_is_named_as_such():
    [found] = claims(
        agent(f'{QUESTION} Hint: the album is "Thriller Nights".', name="Manager"),
        agent('The song is on "Thriller Nights".', name="Historian"),
    )

    assert (found.step, found.strength) == (0, "moderate")
    assert "hand-over names" in found.text


def test_what_the_answer_was_drawn_from_is_traced_too():
    """The answer is one word; the name that it depends on was brought up two messages before."""
    found = claims(
        agent(f"Task: {QUESTION}", name="Manager"),
        agent("The actor is Bartosz Opania.", name="TV expert"),
        agent("Bartosz Opania played the doctor.", name="TV expert"),
        agent("So the answer is plain to see.", name="Reviewer"),
        expected="Wojciech",
    )

    assert [(one.step, one.strength) for one in found] == [(1, "moderate")]


def test_search_queries_and_parameters_are_no_claims():
    steps = (
        agent("Task."),
        agent(code('query = "Zip codes of clownfish sightings"\nresults = web(query, count=250)'), name="A"),
        ran("nothing to see"),
        agent("Nothing was found.", name="B"),
    )

    assert not claims(*steps)


def test_last_digits_and_names_in_separate_fields_have_a_source():
    steps = (
        agent("Task."),
        agent("", call("user", '{"first_name": "Mia", "last_name": "Kim", "card": "gift_card_9016644"}')),
        agent("Mia Kim pays with the card ending in 6644.", name="A"),
    )

    assert not claims(*steps)


def test_labels_headings_links_to_a_start_page_and_printed_templates_are_no_values():
    text = (
        "# Final Answer Section\n**Total Cost**: see below\nPayment Method: card\n"
        "1. Visit https://arxiv.org/search/ first\nprint('Paintball Coordinates', 12345)\n"
    )

    assert not list(values_in(text))


def test_values_are_links_quotations_numbers_and_names():
    text = 'See https://example.org/a/b, "the last line", 1,083 feet and 12.5 % by Ada King Lovelace.'

    assert [(value.kind, value.text) for value in values_in(text)] == [
        ("link", "https://example.org/a/b"),
        ("quote", "the last line"),
        ("number", "1,083"),
        ("number", "12.5"),
        ("name", "Ada King Lovelace"),
    ]


@pytest.mark.parametrize(
    ("value", "text", "is_named"),
    [
        ("1083", "about 1,083 feet", True),
        ("11", "open at 11pm", True),
        ("11", "open at 11:30, room 211", True),
        ("21", "room 211", False),
        ("4.1", "version 4.1.2", False),
        ("Ada King", "by ADA KING.", True),
        ("Ada King", "by Ada Kingsley", False),
        ("it’s", "It's late", True),
    ],
)
def test_a_mention_is_whole_words_whatever_their_case(value, text, is_named):
    attempt, case = transcript(agent(text))

    assert (Mentions(attempt.steps, case).first(value) is not None) is is_named


def test_a_mention_tells_who_wrote_it_first():
    attempt, case = transcript(user("code A1B2"), agent("", call("get", "X9Y8", id="A1B2")), task="Use Z7.")
    mentions = Mentions(attempt.steps, case)

    assert [mentions.first(value).origin for value in ("Z7", "A1B2", "X9Y8")] == ["task", "user", "result"]
    assert mentions.first("nothing") is None


@pytest.mark.parametrize(
    ("stated", "returned"),
    [
        ("$897", "897.0"),
        ("2,499", "2499.00"),
        ("$7,222.50", "7222.5"),
        ("461.33", "461.33333333"),
        ("37.5%", "0.375"),
        ("1327", "1327"),
    ],
)
def test_a_number_has_a_source_however_it_is_written(stated, returned):
    steps = (
        agent("Task."),
        agent("", call("calculate", returned, expression="(399 + 165) * 3 - 26 * 3")),
        user("So?"),
        agent("Right."),
        user("Well?"),
        agent(f"The total is {stated}.", name="A"),
    )

    assert not claims(*steps)
    assert claims(*steps[:1], agent("", call("calculate", "12345.5", expression="x")), *steps[2:])


def test_a_value_of_the_run_s_policy_has_a_source():
    attempt, case = transcript(
        agent("", call("get_user", '{"name": "Mei"}', user_id="mei_1")),
        user("And?"),
        agent("Your booking was made within the last 24 hours."),
        expected={"actions": []},
    )
    policy = Artefact(role="context", path="policy.md", text="The booking was made within the last 24 hrs.")

    assert [one.kind for one in evidence_log(attempt, case)] == ["unsupported_claim"]
    assert not evidence_log(attempt, case, [policy])


def test_a_label_before_an_id_makes_it_no_new_value():
    steps = (
        agent("Task."),
        agent("", call("search", '[{"flight_number": "HAT052"}]', origin="JFK")),
        user("And?"),
        agent("There is one:\n**Flight HAT052**\n", name="A"),
        agent("Then **Flight HAT999** it is.\n**Flight HAT052**\n**Flight HAT999**", name="B"),
    )

    assert [one.text.split('"')[1] for one in claims(*steps)] == ["Flight HAT999"]
