"""What is settled enough to be written back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Quote
from errata.model.words import NOT_THE_SUBJECTS, OWNERS
from errata.writeback.files import KEPT, FailureOpinion, opinion_text, quotes_of, why_left

CONFIDENCES = ("certain", "likely", "weak")


def an_opinion(**changes):
    fields = {"owner": "provider", "confidence": "certain", "by": "rule", "author": "server_error", "version": "4-ab"}
    return FailureOpinion(**fields | changes)


def test_what_is_left_out_by_a_rule_alone_is_what_the_clean_score_leaves_out():
    assert {owner for owner in OWNERS if not why_left(an_opinion(owner=owner))} == NOT_THE_SUBJECTS


@given(st.sampled_from(OWNERS), st.sampled_from(CONFIDENCES), st.booleans())
def test_a_rule_settles_only_what_it_is_certain_of_and_what_was_not_measured(owner, confidence, breaks):
    settled = not why_left(an_opinion(owner=owner, confidence=confidence, breaks=breaks))

    measured = owner not in NOT_THE_SUBJECTS and not breaks
    assert settled == (confidence == "certain" and not measured and owner not in KEPT)


@given(st.sampled_from(OWNERS), st.sampled_from(CONFIDENCES), st.sampled_from([None, "reviewers_disagree"]))
def test_a_verdict_settles_whatever_is_not_the_models_unless_it_is_in_doubt(owner, confidence, doubt):
    settled = not why_left(an_opinion(by="verdict", owner=owner, confidence=confidence, doubt=doubt))

    assert settled == (owner not in KEPT and not doubt)


@pytest.mark.parametrize("owner", ["model", "budget", "unknown"])
def test_what_counts_against_the_model_is_never_written_back(owner):
    assert why_left(an_opinion(owner=owner, by="verdict")) == f"owner_{owner}"


def test_the_words_name_the_owner_the_rule_and_its_version():
    text = opinion_text(an_opinion(cause="the provider returned a server error"))

    assert text == "provider: the provider returned a server error (rule server_error v4, certain)"


def test_secrets_and_control_characters_stay_out_of_the_words():
    opinion = an_opinion(
        cause="key sk-proj-Abc123Abc123Abc123Abc123Abc123\x1b[31m", quotes=(Quote(place="a", quote=""),)
    )

    assert "Abc123" not in opinion_text(opinion)
    assert "\x1b" not in opinion_text(opinion)
    assert quotes_of(opinion) == []
