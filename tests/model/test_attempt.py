"""What counts, and what is a failure: the glossary's sentence over the whole table."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Check
from errata.model.words import EXECUTIONS, MEASUREMENTS, OUTCOMES
from errata.testing import an_attempt

# written from the glossary: fail; partial below the threshold; error, limit or cancelled without a pass;
# measurement error or unscored; never unfinished, skipped, missing
NEVER = {"unfinished", "skipped", "missing"}
BROKEN = {"error", "limit", "cancelled"}
UNMEASURED = {"error", "unscored"}

# an outcome is what a working scorer said: with a broken one there is none
COHERENT = [
    facts for facts in product(EXECUTIONS, MEASUREMENTS, OUTCOMES) if facts[1] == "scored" or facts[2] in ("none",)
]


def facts(execution, measurement, outcome):
    return {"execution": execution, "measurement": measurement, "outcome": outcome}


def is_failure_by_the_glossary(execution, measurement, outcome, *, below):
    if execution in NEVER:
        return False
    reasons = (
        outcome == "fail",
        outcome == "partial" and below,
        execution in BROKEN and outcome not in ("pass", "number"),
        measurement in UNMEASURED,
    )
    return any(reasons)


@pytest.mark.parametrize("below", [True, False], ids=["below", "above"])
@pytest.mark.parametrize(("execution", "measurement", "outcome"), COHERENT)
def test_a_failure_is_what_the_glossary_says(execution, measurement, outcome, below):
    attempt = an_attempt(**facts(execution, measurement, outcome), threshold=0.5, reported=0.4 if below else 0.6)

    assert attempt.is_failure == is_failure_by_the_glossary(execution, measurement, outcome, below=below)


@pytest.mark.parametrize("outcome", ["pass", "partial"])
@pytest.mark.parametrize("measurement", sorted(UNMEASURED))
def test_a_pass_by_a_broken_scorer_is_a_failure(measurement, outcome):
    assert an_attempt(**facts("completed", measurement, outcome), threshold=0.5, reported=1.0).is_failure


@pytest.mark.parametrize(("execution", "measurement", "outcome"), list(product(EXECUTIONS, MEASUREMENTS, OUTCOMES)))
@pytest.mark.parametrize("place", [{"parent": "p"}, {"superseded_by": "s"}], ids=["child", "superseded"])
def test_what_is_not_counted_is_no_failure(place, execution, measurement, outcome):
    assert not an_attempt(**facts(execution, measurement, outcome), **place).is_failure


# the table of worked mappings: what the log says → whether it is a failure
@pytest.mark.parametrize(
    ("said", "failure"),
    [
        (("error", "not_run", "none"), True),
        (("completed", "scored", "fail"), True),
        (("unfinished", "not_run", "none"), False),
        (("missing", "not_run", "none"), False),
        (("completed", "unscored", "none"), True),
        (("cancelled", "scored", "none"), True),
        (("error", "scored", "none"), True),
        (("completed", "scored", "pass"), False),
        (("completed", "not_run", "none"), False),
        (("limit", "scored", "pass"), False),
    ],
    ids=lambda value: "/".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_worked_mapping_is_counted_as_the_glossary_says(said, failure):
    assert an_attempt(**facts(*said)).is_failure == failure


@pytest.mark.parametrize(
    ("reported", "threshold", "failure"),
    [
        (0.4, 0.5, True),
        (0.5, 0.5, False),
        (0.6, 0.5, False),
        (0.99, None, False),
        (None, 0.5, True),
        (0.0, 0.0, False),
    ],
)
def test_a_partial_outcome_fails_below_its_threshold(reported, threshold, failure):
    attempt = an_attempt(outcome="partial", reported=reported, threshold=threshold)

    assert attempt.is_failure == failure


@pytest.mark.parametrize(
    ("place", "counted"),
    [
        ({}, True),
        ({"duplicate_of": "d"}, True),
        ({"follows": "f"}, True),
        ({"session": 2}, True),
        ({"parent": "p"}, False),
        ({"superseded_by": "s"}, False),
    ],
    ids=str,
)
def test_only_attempts_without_a_parent_and_not_superseded_are_counted(place, counted):
    assert an_attempt(**place).counted == counted


@given(st.sampled_from(["pass", "fail", "error", "unscored", "not_applicable", "not_run", "skipped"]), st.booleans())
def test_a_failed_check_is_one_that_fails_and_counts(status, counts):
    attempt = an_attempt(checks=(Check(name="tsc", status=status, counts=counts),))

    assert attempt.failed_checks == (("tsc",) if status == "fail" and counts else ())


@pytest.mark.trap(2)
def test_failed_checks_come_in_the_order_of_the_attempt():
    checks = [Check(name=name, status="fail") for name in ("eslint", "tests", "deploy")]

    assert an_attempt(checks=tuple(checks)).failed_checks == ("eslint", "tests", "deploy")


@pytest.mark.trap(8)
def test_a_check_without_a_value_is_not_a_failed_one():
    null = Check(name="tone", status="not_applicable", value=None)
    false = Check(name="facts", status="fail", value=False)

    assert an_attempt(checks=(null, false)).failed_checks == ("facts",)


def test_a_record_can_not_be_changed():
    with pytest.raises(AttributeError):
        an_attempt().outcome = "pass"
