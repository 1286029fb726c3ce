"""Judges who contradict each other, or a program that was asked the same."""

import pytest

from errata.model import Check, Judgement, SourceRef
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
    assert found.signals[-1].stated == "tool_use_correct: openai fail, claude pass"


def test_the_model_is_blamed_in_the_words_of_a_judge_who_refused_it():
    passed = Judgement(judge="one", reasoning="Well structured.", raw={"passed": True})
    refused = Judgement(judge="two", reasoning="Right place. However, nothing was built.", raw={"passed": False})
    third = Judgement(judge="three", reasoning="Nothing runs.", raw={"passed": False})
    attempt = an_attempt(checks=(Check(name="judges", status="fail"),), judgements=(passed, refused, third))

    found = attribute(attempt, observe(a_run(), attempt, None, RunWide(), built_in()))

    assert (found.owner, found.also, found.decided_by) == ("model", ("grader",), "check_failed")
    assert (found.signals[0].where, found.signals[0].quote) == (
        "judgements[two].reasoning",
        "However, nothing was built.",
    )


@pytest.mark.parametrize("file", ["judges.csv", ""])
def test_judges_who_disagree_are_cited_where_their_verdicts_are_else_where_the_attempt_is(file):
    places = [SourceRef(file=file, line=line) if file else None for line in (1247, 1248)]
    judges = tuple(
        Judgement(judge=name, raw={"passed": passed}, ref=ref)
        for name, passed, ref in zip(("one", "two"), (True, False), places, strict=True)
    )
    attempt = an_attempt(
        checks=(Check(name="judges", status="fail"),), judgements=judges, ref=SourceRef(file="runs.csv", line=425)
    )
    found = attribute(attempt, observe(a_run(), attempt, None, RunWide(), built_in()))

    (seen,) = [one for one in found.signals if one.name == "judges_contradict"]
    assert (seen.ref.file, seen.ref.line) == (("judges.csv", 1248) if file else ("runs.csv", 425))


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


def panel(*scores):
    """Judges with these scores; 0.65 passes."""
    judgements = tuple(
        Judgement(judge=f"judge {at}", raw={"passed": score >= 0.65, "score": score}) for at, score in enumerate(scores)
    )
    attempt = an_attempt(checks=(Check(name="judges", status="fail"),), judgements=judgements)
    found = attribute(attempt, observe(a_run(), attempt, None, RunWide(), built_in()))
    return found.owner, found.decided_by


def test_a_panel_that_is_tied_has_not_decided():
    assert panel(0.82, 0.45) == ("grader", "judges_contradict")


def test_judges_who_give_the_same_work_everything_and_nothing_contradict_each_other():
    assert panel(1.0, 0.0, 0.0) == panel(1.0, 0.0, 1.0, 0.0, 0.0) == ("grader", "judges_contradict")


@pytest.mark.parametrize(
    "scores",
    [(0.56, 0.69, 0.38), (0.0, 0.1, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.1, 1.0, 0.0, 0.0)],
    ids=["close", "united", "one against three", "one against four"],
)
def test_a_close_or_large_majority_has_decided(scores):
    assert panel(*scores) == ("model", "check_failed")
