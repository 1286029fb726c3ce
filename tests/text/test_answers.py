"""The answer that a text ends in."""

import pytest

from errata.text.answers import final_answers, json_in


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So $x = 3$ and \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("Let us see.\nAnswer: 42", "42"),
        ("Thinking …\nThe final answer is 42.", "42."),
        ("**Answer:** B", "B"),
        ("5 + 5 = 10\n#### 10", "10"),
        ('Here: {"reasoning": "…", "answer": 42}', "42"),
        ("\\boxed{1} no, \\boxed{2}", "2"),
        ("ANSWER: A\nWait.\nANSWER: C", "C"),
    ],
)
def test_a_marked_answer_is_found(text, answer):
    first = next(final_answers(text))

    assert (first.text, first.marked) == (answer, True)


def test_without_a_mark_the_last_line_may_be_the_answer():
    assert list(final_answers("Let us see.\n\n42\n")) == [("42", False)]


@pytest.mark.parametrize("text", ["", "no braces", "{not json}", "} {", "[" * 500, '{"a": 1} and {"b": 2}'])
def test_a_text_that_holds_no_single_json_has_none(text):
    assert json_in(text) is None
