"""What a commentary states, and what it only denies."""

import re

import pytest

from errata.text.clauses import clauses, find_statement

MISTAKE = re.compile(r"factual error|hallucinat\w*|ended the session|forgot\w*", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "There is no factual error.",
        "The assistant did not hallucinate anything.",
        "The user never ended the session.",
        "It answered without a factual error, and instruction following passes.",
        "The reply isn't a factual error.",
        "Nothing was forgotten and nothing was unclear.",
        "Hallucinations: none.",
        "Tool use is fine; neither a factual error nor a missing call.",
    ],
)
def test_what_is_denied_is_not_stated(text):
    assert find_statement(MISTAKE, text) is None


@pytest.mark.req("B-60")
@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("This is a factual error.", "This is a factual error."),
        ("No function expected. The model ended the session.", "The model ended the session."),
        ("It did not call the tool, because it forgot the name.", "because it forgot the name."),
        ("Not only a factual error, but a bad one.", "Not only a factual error"),
        ("No call was made → the model hallucinated a booking.", "the model hallucinated a booking."),
    ],
)
def test_a_negation_reaches_to_the_end_of_its_clause(text, clause):
    found = find_statement(MISTAKE, text)

    assert found is not None
    assert found.clause == clause


def test_clauses_keep_every_word():
    text = "It asked again, although the name (given on turn 0) was known; no call was made."

    assert " ".join(clauses(text)).split() == re.sub(r"[,()](?=\s|\w)", " ", text).replace(") ", " ").split()
