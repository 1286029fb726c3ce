"""Judges who contradict each other, or a program that was asked the same."""

import pytest

from errata.model import Check, Judgement
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe


def attributed(*checks, judges=()):
    attempt = an_attempt(checks=checks, judgements=tuple(Judgement(judge=name) for name in judges))
    return attribute(attempt, observe(a_run(), attempt, None, RunWide(), built_in()))


def judged(name, status, judge="a-judge", **changes):
    return Check(**{"name": name, "status": status, "judge": judge, "kind": "criterion", "counts": False} | changes)


def test_two_judges_of_one_dimension_who_differ_are_a_doubt():
    openai = judged("tool_use_correct", "fail", "openai", counts=True)
    found = attributed(openai, judged("tool_use_correct", "pass", "claude"), judges=("openai", "claude"))

    assert (found.owner, found.also) == ("model", ("grader",))
    assert found.signals[-1].quote == "tool_use_correct: openai fail, claude pass"


def test_the_model_is_blamed_in_the_words_of_a_judge_who_refused_it():
    passed = Judgement(judge="one", reasoning="Well structured.", raw={"passed": True})
    refused = Judgement(judge="two", reasoning="Right place. However, nothing was built.", raw={"passed": False})
    attempt = an_attempt(checks=(Check(name="judges", status="fail"),), judgements=(passed, refused))

    found = attribute(attempt, observe(a_run(), attempt, None, RunWide(), built_in()))

    assert (found.owner, found.decided_by) == ("model", "check_failed")
    assert (found.signals[0].where, found.signals[0].quote) == (
        "judgements[two].reasoning",
        "However, nothing was built.",
    )


def test_two_judges_who_agree_are_none():
    openai = judged("tool_use_correct", "fail", "openai", counts=True)

    assert attributed(openai, judged("tool_use_correct", "fail", "claude"), judges=("openai", "claude")).also == ()


@pytest.mark.parametrize(
    "program", [Check(name="includes", status="fail"), Check(name="reward", kind="reward", status="fail")]
)
def test_a_judge_and_a_program_that_say_the_opposite_are_a_doubt(program):
    found = attributed(program, judged("model_graded_qa", "pass"))

    assert (found.owner, found.also) == ("model", ("grader",))


def test_a_judge_of_something_else_contradicts_nobody():
    assert attributed(Check(name="includes", status="fail"), judged("politeness", "pass")).also == ()


def test_a_sum_over_all_checks_is_no_program_of_its_own():
    whole = Check(name="score", kind="reward", status="fail", counts=False)

    assert attributed(Check(name="latency", status="fail"), judged("factuality", "pass"), whole).also == ()
