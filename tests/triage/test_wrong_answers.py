"""How a wrong answer differs from the expected one, and what is never compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Case, Check, Output
from errata.model.check import WrongAnswer
from errata.testing import an_attempt
from errata.triage.wrong_answers import wrong_answer


def compared(answer: str | None, expected: object, *, text: str | None = None, choices=(), **changes):
    case = Case(run="r", suite="s", native_id="1", expected=expected, choices=choices)
    facts = {
        "outcome": "fail",
        "measurement": "scored",
        "checks": (Check(name="match", status="fail", scorer="equals"),),
    }
    return wrong_answer(an_attempt(output=Output(text=text, answer=answer), **facts | changes), case)


@pytest.mark.parametrize(
    ("answer", "expected", "difference"),
    [
        ("No", " Yes", "text"),
        ("D", "B", "option"),
        ("(d)", "B.", "option"),
        ("paris", "Paris", "case"),
        ("New-York", "New York", "format"),
        ("50", "0.5", "factor"),
        ("1200", "1.2", "factor"),
        ("-3", "3", "sign"),
        ("3.14", "3.1416", "rounding"),
        ("7", "8", "number"),
        ("0", "8", "number"),
        ("5 km", "5 miles", "unit"),
        ("5%", "5", "unit"),
        ("The answer is Paris, in France", "Paris", "extra"),
        ("Encryption", "Encryption in transit", "part"),
        ("Sydney", "Canberra", "text"),
        ("12", "Canberra", "text"),
    ],
)
def test_the_kind_of_difference(answer, expected, difference):
    found = compared(answer, expected)

    assert found is not None
    assert found.difference == difference


def test_a_factor_is_named_whichever_way_it_goes():
    assert compared("0.5", "50").factor == compared("50", "0.5").factor == "100"


def test_the_right_answer_that_comes_closest_is_meant():
    assert compared("oslo", ["Bern", "Oslo"]) == WrongAnswer("oslo", "Oslo", "case")


def test_an_answer_that_a_scorer_changed_to_lower_case_is_kept_as_the_model_wrote_it():
    found = compared("sydney", "Canberra", text="It is Sydney.")

    assert (found.answered, found.written) == ("sydney", "Sydney")
    assert compared("sydney", "Canberra", text="sydney").written == ""


def test_an_option_given_by_its_text_is_named_by_its_letter():
    choices = ("mercy", "time", "meaning", "weak")

    assert compared("time", "meaning", choices=choices) == WrongAnswer("B", "C", "option")


def test_only_what_the_harness_took_as_the_answer_is_compared():
    long = "Let me think about this first. " * 5 + "The answer is 12."

    assert compared(None, "15", text=long) is None
    assert compared("12", "15", text=long) == WrongAnswer("12", "15", "number")
    assert compared("", "15", text=long).difference == "not_extracted"


def test_a_short_text_is_the_answer_itself():
    assert compared(None, {"a": "Canberra"}, text="Sydney") == WrongAnswer("Sydney", "Canberra", "text")


def test_what_an_assertion_of_promptfoo_expects_is_compared():
    assertions = [{"type": "equals", "value": "Paris", "metric": "match"}, {"type": "is-json"}]

    assert compared(None, assertions, text="Rome") == WrongAnswer("Rome", "Paris", "text")


def test_an_empty_answer_is_not_one_that_the_log_does_not_keep():
    assert compared(None, "15", text=" ").difference == "empty"
    assert compared(None, "15", text=None) is None


def test_a_refusal_is_one_however_long():
    assert compared(None, "15", text="I'm sorry, but I can't help with that. " * 5).difference == "refusal"


@pytest.mark.parametrize("changes", [{"outcome": "pass"}, {"measurement": "not_run", "outcome": "none"}])
def test_what_was_not_measured_as_wrong_is_no_wrong_answer(changes):
    assert compared("12", "15", **changes) is None


@given(st.text(max_size=120), st.text(max_size=120), st.none() | st.text(max_size=120))
def test_any_texts_can_be_compared(answer, expected, text):
    found = compared(answer, expected, text=text)

    assert found is None or (len(found.answered) <= 80 and found.expected.strip() == found.expected)
