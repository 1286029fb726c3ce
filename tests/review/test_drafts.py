"""A verdict that a person is writing."""

import json

import msgspec
import pytest
from tests.review.a_packet import CONVEX, with_place

from errata.model import PacketPlace
from errata.review.drafts import DraftQuote, VerdictDraft, answer_of, find_quote, first_cause, problems_of, transferred

QUOTE = DraftQuote(place="output/convex/guard.ts", quote='if (used > 3) throw new Error("too many requests')
DRAFT = VerdictDraft(owner="model", label="MODEL_FAULT", cause="Another text is thrown", evidence=(QUOTE,))


def fields_with_problems(**changes):
    return [one.field for one in problems_of(msgspec.structs.replace(DRAFT, **changes), CONVEX)]


def test_a_finished_draft_has_no_problem_and_makes_the_answer_of_any_reviewer():
    draft = msgspec.structs.replace(DRAFT, note="See the guard.", recommendation="Fix the text", decisive_step=2)

    assert list(problems_of(draft, CONVEX)) == []
    assert json.loads(answer_of(draft, CONVEX)) == {
        "label": "MODEL_FAULT",
        "cause": "Another text is thrown",
        "evidence": [{"quote": QUOTE.quote, "place": QUOTE.place, "lines": None}],
        "confidence": "likely",
        "reasoning": "See the guard.",
        "decisive_step": 2,
        "recommendation": {"group": "none", "text": "Fix the text"},
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"owner": ""}, "owner"),
        ({"label": "OVERLY_STRICT"}, "label"),
        ({"cause": ""}, "cause"),
        ({"evidence": ()}, "evidence"),
        ({"owner": "grader", "label": "OVERLY_STRICT"}, "evidence"),
        ({"owner": "task", "label": "AMBIGUOUS_TASK"}, "evidence"),
    ],
)
def test_what_is_missing_is_named_with_its_field(changes, field):
    assert fields_with_problems(**changes) == [field]


def test_an_owner_without_a_label_is_saved_without_one():
    draft = msgspec.structs.replace(DRAFT, owner="provider", label="")

    assert list(problems_of(draft, CONVEX)) == []
    assert {"label": "none", "owner": "provider"}.items() <= json.loads(answer_of(draft, CONVEX)).items()


def test_a_typed_quote_finds_its_place_and_a_wrong_one_the_nearest_text():
    typed = find_quote(DraftQuote(quote=QUOTE.quote), CONVEX)
    assert (typed.is_found, typed.place, typed.kind) == (True, QUOTE.place, "output")

    wrong = find_quote(DraftQuote(quote='if (used > 3) throw new Error("far too many'), CONVEX)
    assert not wrong.is_found
    assert "is not in" in wrong.problem


def test_the_suggested_cause_is_one_sentence():
    assert first_cause(["", "It failed. Then it failed again."]) == "It failed."
    assert first_cause(['index "by_x" uses a reserved name']) == 'index "by_x" uses a reserved name'


def test_a_draft_goes_to_another_failure_with_the_quotes_that_are_in_it_also_with_other_numbers():
    draft = msgspec.structs.replace(
        DRAFT, evidence=(DraftQuote(place="run.log", quote="tests failed (67%) after 12 s"), QUOTE), decisive_step=4
    )
    other = msgspec.structs.replace(
        CONVEX, places=(PacketPlace(place="run.log", source="", text="x\n[error] tests failed (5%) after 103 s\n"),)
    )

    moved = transferred(draft, other)
    assert moved is not None
    assert moved.evidence == (DraftQuote(place="run.log", quote="tests failed (5%) after 103 s"),)
    assert moved.decisive_step is None
    assert transferred(DRAFT, other) is None


def test_the_decisive_step_goes_with_the_quote_of_it():
    draft = msgspec.structs.replace(
        DRAFT, evidence=(DraftQuote(place="steps/4", quote="rm -rf build"),), decisive_step=4
    )

    moved = transferred(draft, with_place("steps/4", "assistant: rm -rf build"))
    assert moved is not None
    assert moved.decisive_step == 4
