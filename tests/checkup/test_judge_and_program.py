"""Judges and programs that measured the same attempts: disagreements are counted in every source that marks judges."""

from datetime import UTC, datetime

import pytest
from checkup_fixtures import RUN, row
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.checkup import examine
from errata.model import Check, Scorer
from errata.model.attempt import asks_whether_right

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STATUSES = {True: "pass", False: "fail"}


def attempt(number, judge, program, *, names=("grade", "exact_match"), marked=True, counts=True):
    checks = (
        Check(name=names[0], status=STATUSES[judge], judge="jury" if marked else "", counts=counts),
        Check(name=names[1], status=STATUSES[program]),
    )
    return row(number, checks=checks)


def disagreements(attempts, run=RUN):
    findings = examine(run, attempts, (), now=NOW)
    return [finding for finding in findings if finding.name == "judge_contradicts_program"]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_each_disagreement_is_counted_once_on_its_side(verdicts):
    lenient = sum(judge and not program for judge, program in verdicts)
    strict = sum(program and not judge for judge, program in verdicts)
    found = disagreements([attempt(number, *pair) for number, pair in enumerate(verdicts)])

    assert [finding.numbers for finding in found] == (
        [
            {
                "attempts": lenient + strict,
                "of": len(verdicts),
                "only_judge_passes": lenient,
                "only_program_passes": strict,
                "disputed_passes": lenient + strict,
            }
        ]
        if lenient + strict
        else []
    )


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([(False, True), (False, True)], "; they disagree on all 2 passes of the run"),
        ([(False, True)], "; they disagree on the only pass of the run"),
        ([(False, True), (True, True)], ""),
    ],
)
def test_the_finding_states_where_every_pass_is_disputed(verdicts, words):
    [found] = disagreements([attempt(number, *pair) for number, pair in enumerate(verdicts)])

    assert found.text.partition(")")[2] == words


def test_the_finding_names_both_and_quotes_the_first(attempts=((True, False), (True, True))):
    [found] = disagreements([attempt(number, *pair) for number, pair in enumerate(attempts)])

    assert found.text == (
        "judge `grade` and program `exact_match` disagree in 1 of 2 attempts: "
        "1 × only the judge passes, 0 × only the program passes (case-0)"
    )
    assert found.evidence[0].stated == "grade pass, exact_match fail"


def test_a_judge_that_does_not_count_is_compared_too():
    assert disagreements([attempt(0, True, False, counts=False), attempt(1, True, True)])


def test_a_judge_may_be_known_by_its_scorer_alone():
    run = replace(RUN, scorers=(Scorer(name="grade", kind="judge"), Scorer(name="exact_match")))
    rows = [attempt(0, True, False, marked=False)]

    assert disagreements(rows, run)
    assert not disagreements(rows)


@pytest.mark.parametrize(("agreeing", "found"), [(20, True), (0, False)])
def test_checks_with_other_names_are_compared_if_they_agree_far_more_than_by_chance(agreeing, found):
    rows = [attempt(0, True, False, names=("tone", "regex_7"))]
    rows += [
        attempt(1 + number, number % 2 == 0, number % 2 == 0, names=("tone", "regex_7")) for number in range(agreeing)
    ]
    rows += [attempt(50 + number, True, False, names=("humour", "length_ok")) for number in range(5)]

    assert bool(disagreements(rows)) == found


@pytest.mark.parametrize("name", ["exact_match", "llm_judge", "judge_correct", "isCorrect", "Grade", "unit tests"])
def test_names_about_the_answer_as_a_whole(name):
    assert asks_whether_right(Check(name=name, status="pass"))


@pytest.mark.parametrize("name", ["tone", "judge_tone", "helpfulness", "json_valid", ""])
def test_names_about_something_else(name):
    assert not asks_whether_right(Check(name=name, status="pass"))
