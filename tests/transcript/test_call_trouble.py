"""Calls that failed, or were made again for the same result."""

from tests.transcript.transcripts import agent, call, code, logged, ran, user

from errata.model import ToolCall, ToolError, ToolResult
from errata.transcript.tool_use import code_in

TRACE = """Traceback (most recent call last):
  File "/tmp/code.py", line 2, in <module>
    page = soup.find('table').text
AttributeError: 'NoneType' object has no attribute 'text'"""


def test_a_refused_call_is_flagged_with_the_later_call_that_worked():
    [found] = logged(
        agent("", call("book", "Error: amount does not add up", reservation_id="A1", amount=5)),
        agent("", call("book", "{}booked", reservation_id="A1", amount=7)),
        kind="call_failed",
    )

    assert (found.step, found.related_step, found.tool, found.strength) == (0, 1, "book", "weak")
    assert found.quote == "Error: amount does not add up"
    assert "a later call worked (step 1)" in found.text


def test_a_call_that_works_for_another_object_makes_up_for_nothing():
    [found] = logged(
        agent("", call("book", "Error: no seats", reservation_id="A1")),
        agent("", call("book", "done", reservation_id="B2")),
        kind="call_failed",
    )

    assert found.strength == "strong"
    assert "no later call of its kind worked" in found.text


def test_equal_failures_are_folded_into_one_line_with_their_steps():
    refused = [agent("", call("book", f"Error: gift card {number} is empty", id=str(number))) for number in range(7)]

    [found] = logged(*refused, kind="call_failed")

    assert found.steps == (0, 1, 2, 3, 4, 5, 6)
    assert "failed 7 times (steps 0, 1, 2, 3, 4, 5 and 1 more)" in found.text


def test_exit_codes_errors_and_parse_errors_are_failures():
    failing = [
        ToolCall(name="bash", arguments={"command": "make"}, result=ToolResult(text="no rule", exit_code=2)),
        ToolCall(name="fetch", arguments={}, error=ToolError(type="Timeout", message="30 s")),
        ToolCall(name="edit", arguments_raw="{", parse_error="unexpected end"),
        ToolCall(name="read", arguments={"path": "x"}, result=ToolResult(text="gone", is_error=True)),
    ]

    found = logged(*[agent("", one) for one in failing], kind="call_failed")

    assert len(found) == 3  # the log lists three of a kind
    assert len({one.tool for one in found}) == 3


def test_a_result_that_only_speaks_of_errors_is_no_failure():
    worked = [
        call("search", "3 results: Error handling in Python", query="errors"),
        call("get_log", '{"error": null, "lines": 3}', id="7"),
        ToolCall(name="read", arguments={}, result=ToolResult(text="Error: is the title of this page", is_error=False)),
    ]

    assert not logged(agent("", *worked), kind="call_failed")


def test_code_that_raised_is_its_authors_with_the_line_that_raised():
    [found] = logged(
        agent("You are given a task.", name="Manager"),
        agent(code("soup = load()\npage = soup.find('table').text"), name="Scraper"),
        ran(TRACE, exit_code=1),
        kind="call_failed",
    )

    assert (found.step, found.speaker, found.related_step) == (1, "Scraper", 2)
    assert found.quote == "page = soup.find('table').text"
    assert "AttributeError: 'NoneType' object has no attribute 'text'" in found.text


def test_code_that_ran_and_code_that_nobody_ran_are_no_failures():
    steps = (
        agent("Task."),
        agent(code("print(1)"), name="Coder"),
        ran("1"),
        agent(code("print(2)"), name="Coder"),
        agent("Shall we go on?", name="Reviewer"),
    )

    assert not logged(*steps, kind="call_failed")


def test_the_same_call_with_the_same_result_is_a_repetition():
    same = call("get_user", "Mia", user_id="u_1")

    [found] = logged(agent("", same), user("And?"), agent("", same), kind="call_repeated")

    assert (found.step, found.related_step) == (2, 0)


def test_new_information_other_arguments_and_polling_are_no_repetitions():
    steps = (
        agent("", call("get_seats", "3", id="F1"), call("get_seats", "2", id="F1")),
        agent("", call("get_seats", "3", id="F2"), call("get_seats", "3", id="F3")),
        agent("", call("bash", "still running", command="sleep 5; tail log")),
        agent("", call("bash", "still running", command="sleep 5; tail log")),
    )

    assert not logged(*steps, kind="call_repeated")


def test_errors_that_differ_in_their_values_are_not_all_quoted_as_the_first():
    refused = [f"Error: total price is 1002, but paid {paid}" for paid in (957, 1047)]
    steps = [agent("", call("book", error, seat=number)) for number, error in enumerate(refused)]

    assert [one.text for one in logged(*steps, kind="call_failed")] == [
        "book failed twice (steps 0, 1), the first time: Error: total price is 1002, but paid 957; "
        "no later call of its kind worked."
    ]
    assert "(steps 0, 1): Error" in logged(steps[0], steps[0], kind="call_failed")[0].text


def test_only_fenced_blocks_with_a_language_are_code():
    assert code_in("```python\nprint(1)\n```\ntext\n```sh\nls\n```") == "print(1)\n\nls\n"
    assert code_in("```33040, 33037```") == code_in("```\nplain\n```") == code_in("no code") == ""
    assert code_in("```python\nnever closed") == "never closed"
