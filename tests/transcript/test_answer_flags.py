"""Who first gave the wrong answer, and where the right one was at hand."""

import pytest
from tests.transcript.transcripts import agent, call, code, logged, ran, user

TASK = agent("How many animals have a hand visible?", name="Manager")


def named(*steps, expected="1185"):
    found = logged(TASK, *steps, task="How many animals have a hand visible?", expected=expected, kind="value_named")
    return [(one.step, one.speaker) for one in found]


def overlooked(*steps, expected="Li Peng"):
    found = logged(TASK, *steps, task="Which contributor?", expected=expected, kind="answer_overlooked")
    return [(one.step, one.related_step) for one in found]


def test_the_first_agent_that_gives_the_wrong_answer_is_named():
    steps = (
        agent("There are 12 animals. Let us count.", name="A"),
        agent("The number of hands is 3.", name="B"),
        agent("I agree, the result is 3.", name="C"),
    )

    assert named(*steps) == [(2, "B")]


def test_a_value_that_was_brought_up_before_it_was_the_answer_is_traced_to_its_first_mention():
    steps = (
        agent("Zip codes: see 33037 (Key Largo).", name="A"),
        agent("We looked at 33037 closely.", name="B"),
        agent("Final output:\n```33037```", name="C"),
    )

    assert named(*steps)[0][1] == "A"


@pytest.mark.parametrize(
    "answer", ["The number is 1185.", "We have no answer.", "Please run this.\n```python\nx = 3\n```"]
)
def test_right_answers_missing_ones_and_code_name_nothing(answer):
    assert not named(agent("Let us count.", name="A"), agent(answer, name="B"))


def test_a_pass_has_no_wrong_answer():
    found = logged(TASK, agent("It is 3.", name="A"), expected="1185", outcome="pass", kind="value_named")

    assert not found


def test_a_result_with_the_right_answer_that_the_next_agent_drops_is_flagged():
    steps = (
        agent(code("search()"), name="A"),
        ran("Contributors: Li Peng, Ada King"),
        agent("None of the contributors matches.", name="B"),
        agent("Agreed, none matches.", name="C"),
    )

    assert overlooked(*steps) == [(3, 2)]


def test_an_agent_that_names_the_right_answer_and_decides_otherwise_is_flagged():
    steps = (agent("Li Peng is a premier, but no contributor.", name="A"), agent("So nobody matches.", name="B"))

    assert overlooked(*steps) == [(1, None)]


def test_an_answer_that_is_given_in_the_task_or_too_short_is_not_looked_for():
    named_it = (agent("", call("search", "yes, 47, Li Peng", query="x")), agent("Nobody matches.", name="B"))

    assert not overlooked(*named_it, expected="47")
    assert not overlooked(*named_it, expected="yes")
    assert not logged(
        user("Is it Li Peng?"), *named_it, task="Is it Li Peng?", expected="Li Peng", kind="answer_overlooked"
    )


def test_an_answer_that_is_right_in_the_end_was_not_overlooked():
    steps = (agent("", call("search", "Li Peng", query="x")), agent("It is Li Peng.", name="B"))

    assert not overlooked(*steps)


def test_code_that_printed_the_wrong_answer_is_where_it_came_from():
    steps = (
        agent(code("print(columns)"), name="A"),
        ran("ID, Street"),
        agent(code("print(len(rows))"), name="B"),
        ran("4\n"),
        agent("The number of clients is **4**.", name="C"),
    )

    assert named(*steps) == [(3, "B")]


def test_a_search_result_that_has_the_answer_is_not_its_author():
    steps = (agent(code("search()"), name="A"), ran("1. The tower, 361 yards"), agent("It is 361 yards.", name="B"))

    assert named(*steps) == [(3, "B")]
