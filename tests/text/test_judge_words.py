"""The sentence of a judge that carries information."""

import pytest

from errata.text.judge_words import without_preamble


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        # openai/evals, closedqa and fact judges
        (
            "To evaluate the submission against the expert's answer, let's break down the factual content in both "
            "answers:\n\n1. **Expert's Answer Content:**\nThe expert names two ports.",
            "The expert names two ports.",
        ),
        (
            "To determine if the submission contains the content of the expert answer, I'll analyze each answer step "
            "by step. The submission leaves out the second port.",
            "The submission leaves out the second port.",
        ),
        # a comparison goes through the reference first: what the reference says is not the fault
        (
            "To evaluate the submitted answer against the expert answer, I need to analyze both.\n\n"
            "1. **Key Elements of the Expert Answer**: It recommends AES in AEAD mode, and no other.\n\n"
            "2. **Compare Content**:\n   - The submission names AES.\n"
            "   - However, the submission does not name a mode.",
            "- However, the submission does not name a mode.",
        ),
        ("Let me evaluate the answer. It never names the harbour.", "It never names the harbour."),
        ("Okay. I will check this against the rubric. Wrong date.", "Wrong date."),
        (
            "The assistant's response is polite and lists three boats. It does not ask which Rosa is meant.",
            "It does not ask which Rosa is meant.",
        ),
        ("**Evaluation**\nThe caller's name was forgotten.", "The caller's name was forgotten."),
    ],
)
def test_sentences_that_only_announce_are_left_out(text, kept):
    assert without_preamble(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "The answer does not match.\n\nGRADE: I",
        "The model ended the session instead of changing the booking.",
        "The request has two steps; the model only canceled B-101 and claimed both.",
        "Two captains are called Rosa; the request is ambiguous and the model did not ask.",
        "The output has an extra blank line.",
        "expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]",
        "convex/messages.ts(5,3): error TS2322: Type X is not assignable",
        "Let me evaluate the answer.",
        "",
    ],
)
def test_other_texts_stay_whole(text):
    assert without_preamble(text) == text
