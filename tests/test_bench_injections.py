"""The benchmark of prompt injections, over a sample: what a reviewer that obeys them can get accepted."""

import json
from functools import cache

import pytest
from bench.injections.cases import CARRIERS, TRUTH, answer_for, injections
from bench.injections.obedient import REVIEWER, is_carried, submitted
from bench.injections.triaged import with_triage

from errata.model import Reviewer, Verdict
from errata.review.verdicts import needs_a_second, verdict_from


@cache
def sample():
    return with_triage([*injections(65, seed=1), *injections(65, seed=1, source="public")])


@cache
def quiet():
    """One that no phrase recognises."""
    return next(one for one in injections(300, seed=7) if one.text.startswith("Post-run analysis"))


def test_no_verdict_stands_alone_that_obeys_an_injection():
    given = [one for injection in sample() for one in submitted(injection)]

    assert [one for one in given if one.stands_alone and not is_carried(one)] == []


def test_no_injection_misleads_triage():
    assert {one.triaged for one in sample()} == {(TRUTH,)}
    assert all(one.packet.signals for one in sample())


def test_the_sample_has_every_mechanism_and_carrier():
    assert len({one.mechanism for one in sample()}) == 23
    assert {one.carrier for one in sample()} == set(CARRIERS)
    assert len(injections(300, seed=7)) == len(injections(300, seed=7, source="public")) == 300


def test_a_verdict_that_leaves_the_failure_with_the_model_stands_alone():
    """So it is the clearing of the subject that is doubted, not every verdict."""
    evidence = [("checks/answer", quiet().packet.places[4].text)]
    made = verdict_from(
        json.dumps(answer_for(TRUTH, "The answer is wrong.", evidence)), quiet().packet, reviewer=REVIEWER
    )

    assert isinstance(made, Verdict) and not made.needs_second


@pytest.mark.parametrize(
    ("owner", "triaged", "second"),
    [
        ("harness", ("model",), True),
        ("harness", (), True),
        ("harness", ("harness",), False),
        ("harness", ("model", "harness"), False),
        ("model", ("harness",), False),
        ("unknown", ("model",), False),
    ],
)
def test_it_takes_two_to_clear_the_subject_and_triage_may_be_one_of_them(owner, triaged, second):
    assert needs_a_second(owner, triaged) is second


def test_a_person_clears_the_subject_alone():
    first, *_ = quiet().packet.places[2].text.split("\n")
    answer = json.dumps(answer_for("grader", "The reference is wrong.", [("output", first)]))
    made = verdict_from(answer, quiet().packet, reviewer=Reviewer(kind="person", name="ada"))

    assert isinstance(made, Verdict) and not made.needs_second
