"""Words of a run's report that name what they count."""

import pytest

from errata.model.output.report.run import RunFailure
from errata.model.output.report.shared import ReviewCoverage
from errata.render.figures import parts_of_cost
from errata.report.parts import coverage_line
from errata.report.run_prose import title_of


def a_failure(**facts):
    return RunFailure(case="turn-12", owner=facts.pop("owner", "model"), confidence="weak", **facts)


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        ({}, "turn-12"),
        ({"attempt": 2, "attempts": 2}, "turn-12, attempt 2 of 2"),
        ({"attempt": 2, "attempts": 2, "is_row": True}, "turn-12, row 2 of 2"),
    ],
)
def test_a_second_row_about_one_attempt_is_not_called_an_attempt(facts, title):
    assert title_of(a_failure(**facts)) == title


@pytest.mark.parametrize(
    ("by_default", "owners"),
    [
        (0, "3 owners assigned by rules"),
        (2, "1 owner assigned by rules, 2 failures presumed to be the model's"),
        (3, "3 failures presumed to be the model's"),
    ],
)
def test_an_owner_by_default_is_not_called_one_by_rules(by_default, owners):
    reading = ReviewCoverage(failures=3, read=0, final=0, by_default=by_default)

    assert coverage_line(reading)[0].text == f"0 of 3 failures reviewed; {owners}"


def test_the_cost_names_who_spent_it():
    assert parts_of_cost(0.78, 0.23, None) == " (agent $0.78 · simulated user $0.23)"
    assert parts_of_cost(0.78, None, None) == ""
