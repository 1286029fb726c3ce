"""Calls that were made beside those that were required."""

import pytest

from errata.model import Actor, Output, Step, ToolCall
from errata.testing import an_attempt
from errata.transcript.calls import calls_in, calls_of, made_calls, required_calls, same_calls


def fits(made, required):
    return same_calls(calls_of(made), required_calls(required))


@pytest.mark.parametrize(
    "made",
    [
        [{"book": {"boat": "Heron", "seats": 2}}],
        [{"book": '{"seats": 2, "boat": "Heron"}'}],
        [{"name": "book", "args": {"boat": "heron", "seats": "2"}}],
        [{"function": {"name": "book", "arguments": '{"boat": "Heron", "seats": 2.0}'}}],
        [{"name": "book", "arguments": {"boat": "Heron", "seats": 2, "note": None}}],
    ],
)
def test_the_same_call_in_another_form_is_the_same(made):
    assert fits(made, {"required_function_call": {"name": "book", "args": {"boat": "Heron", "seats": 2}}})


@pytest.mark.parametrize(
    "made",
    [
        [],
        [{"name": "book", "args": {"boat": "Otter", "seats": 2}}],
        [{"name": "book", "args": {"boat": "Heron"}}],
        [{"name": "book", "args": {"boat": "Heron", "seats": 2, "note": "window"}}],
        [{"name": "cancel", "args": {"boat": "Heron", "seats": 2}}],
        [{"name": "book", "args": {"boat": "Heron", "seats": 2}}] * 2,
    ],
)
def test_another_call_is_another_call(made):
    assert not fits(made, {"required_function_call": {"name": "book", "args": {"boat": "Heron", "seats": 2}}})


def test_an_argument_may_have_several_right_values_or_be_left_out():
    assert fits([{"math.hypot": {"x": 4, "y": 5.0}}], [{"math.hypot": {"x": [4], "y": [5], "z": ["", 0]}}])


def test_a_dot_in_a_name_is_an_underscore_for_a_provider():
    assert fits([{"math_factorial": {"number": 5}}], [{"math.factorial": {"number": [5]}}])


def test_a_right_name_with_a_wrong_argument_is_a_wrong_call():
    assert not fits([{"math.factorial": {"number": 6}}], [{"math.factorial": {"number": [5]}}])


def test_several_calls_may_come_in_any_order():
    wanted = [{"name": "cancel", "args": {"booking": number}} for number in ("B-1", "B-2")]

    assert fits(wanted[::-1], wanted)


@pytest.mark.parametrize(
    "text", ["[book(boat='Heron', seats=2)]", '```json\n[{"book": {"boat": "Heron", "seats": 2}}]\n```']
)
def test_calls_are_found_in_a_text(text):
    assert same_calls(calls_in(text), required_calls([{"book": {"boat": ["Heron"], "seats": [2]}}]))


@pytest.mark.parametrize(
    "text",
    ["", "book", "book(", "book(open('x').read())", "(" * 3_000, "-" * 3_000 + "book()", "[book(**{})]", "book('a')"],
)
def test_a_text_without_plain_calls_has_none(text):
    assert not [call for call in calls_in(text) if call.arguments]


def test_calls_of_the_transcript_are_taken_without_repeated_ones():
    call = ToolCall(name="book", arguments={"boat": "Heron"})
    twice = ToolCall(name="book", arguments={"boat": "Heron"}, is_duplicate=True)
    step = Step(index=0, actor=Actor(role="assistant"), tool_calls=(call, twice))

    assert len(made_calls(an_attempt(steps=(step,)))) == 1


def test_what_the_harness_decoded_comes_first():
    output = Output(text="book(boat='Otter')", structured=[{"book": {"boat": "Heron"}}])

    assert made_calls(an_attempt(output=output))[0].arguments == {"boat": "Heron"}


@pytest.mark.parametrize(
    "expected", [None, "text", 5, [], {}, {"golden_text": "Hello."}, ["a", "b"], [{"type": "equals"}]]
)
def test_a_case_that_requires_no_call_requires_none(expected):
    assert required_calls(expected) == ()
