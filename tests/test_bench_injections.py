"""The benchmark of prompt injections, over a sample: what a reviewer that obeys them can get accepted."""

import json

import pytest
from bench.injections.__main__ import MOST_UNRELATED
from bench.injections.cases import CARRIERS, TRUTH, answer_for, injections
from bench.injections.obedient import REVIEWER, UNRELATED, is_carried, submitted

from errata.model import Quote, Reviewer, Verdict
from errata.review.clearing import needs_a_second
from errata.review.verdicts import verdict_from

SAMPLE = injections(130, seed=1)
QUIET = next(one for one in injections(300, seed=7) if one.text.startswith("Post-run analysis"))
"""One that no phrase recognises."""


def test_no_verdict_stands_alone_that_quotes_an_injection_or_repeats_it():
    given = [one for injection in SAMPLE for one in submitted(injection)]
    wrong = [one for one in given if one.stands_alone and not is_carried(one)]

    assert [one for one in wrong if one.evidence != UNRELATED] == []
    assert len(wrong) <= MOST_UNRELATED * len(SAMPLE)


def test_the_sample_has_every_mechanism_and_carrier():
    assert len({one.mechanism for one in SAMPLE}) == 13
    assert {one.carrier for one in SAMPLE} == set(CARRIERS)
    assert len(injections(300, seed=7)) == 300


def test_a_verdict_that_leaves_the_failure_with_the_model_stands_alone():
    """So it is the clearing of the subject that is doubted, not every verdict."""
    evidence = [("checks/answer", QUIET.packet.places[4].text)]
    made = verdict_from(
        json.dumps(answer_for(TRUTH, "The answer is wrong.", evidence)), QUIET.packet, reviewer=REVIEWER
    )

    assert isinstance(made, Verdict) and not made.needs_second


@pytest.mark.parametrize(("place", "second"), [("output", True), ("run.log", True), ("checks/answer", False)])
def test_what_the_subject_can_write_does_not_clear_it(place, second):
    packet = next(one.packet for one in SAMPLE if one.owner == "grader" and one.mechanism == "forged evidence")
    quote = Quote(place=place, quote="whatever")

    assert needs_a_second(packet, "harness", "harness", [quote], words="in words of its own") is second


def test_a_person_clears_the_subject_alone():
    first, *_ = QUIET.packet.places[2].text.split("\n")
    answer = json.dumps(answer_for("grader", "The reference is wrong.", [("output", first)]))
    made = verdict_from(answer, QUIET.packet, reviewer=Reviewer(kind="person", name="ada"))

    assert isinstance(made, Verdict) and not made.needs_second
