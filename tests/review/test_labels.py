"""The labels that a reviewer can give, and the owners that can be named without one."""

import pytest
from a_packet import a_packet

from errata.model import LabelChoice
from errata.review.answers import labels_to_give, owners_without_label
from errata.review.labels import OWNERS, TASK_QUESTION, given_label
from errata.runs.review_context import question_for


@pytest.mark.parametrize("owner", ["grader", "provider", "task", "simulator", "harness", "environment", "unknown"])
def test_whoever_spoilt_a_judged_turn_can_be_named_without_a_label(owner):
    packet = a_packet(question=question_for("conversation-bench"))

    assert given_label("none", owner, packet) == ("none", owner)


def test_an_outage_that_is_no_empty_answer_is_still_the_providers():
    packet = a_packet(question=question_for("conversation-bench"))

    assert given_label("empty_response", None, packet) == ("empty_response", "provider")
    assert given_label("none", "provider", packet) == ("none", "provider")


def test_a_mistake_of_the_model_has_a_label_at_any_rate():
    packet = a_packet(question=question_for("conversation-bench"))

    assert given_label("other", None, packet) == ("other", "model")
    assert "for `model` there is the label" in given_label("none", "model", packet)


def test_an_owner_beside_another_label_is_shown_the_way():
    packet = a_packet(question=question_for("conversation-bench"))

    assert (
        given_label("other", "grader", packet)
        == "`other` is for the owner `model`, not `grader`: give the label `none`"
    )


def test_a_label_for_one_kind_of_failure_does_not_name_its_owner_in_general():
    question = question_for("convex-evals")

    assert "task" not in owners_without_label(question)  # a known gap is one kind, an ambiguous task is any
    assert {choice.label for choice in question.labels if not choice.general} == {"KNOWN_GAP"}


@pytest.mark.parametrize("question", [OWNERS, TASK_QUESTION], ids=["owners", "tasks"])
def test_where_a_label_is_for_what_is_not_known_there_is_no_other_way(question):
    assert labels_to_give(question) == tuple(choice.label for choice in question.labels)


def test_labels_are_general_unless_they_state_otherwise():
    assert LabelChoice(label="any", owner="grader").general
