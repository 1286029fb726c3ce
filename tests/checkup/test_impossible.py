"""Numbers that can't be, whoever wrote them: counts, rates, costs and times."""

import math

import msgspec
import pytest
from checkup_fixtures import RUN, check, failed, missing, named, row, rows, the
from hypothesis import given
from hypothesis import strategies as st

from errata.checkup import findings_in
from errata.checkup.odd_numbers import RecomputedHeadline
from errata.checkup.survey import RunSurvey
from errata.model import FileConflict, Reported, SourceRef, Usage, UsageByRole

PLACE = SourceRef(file="score.json", line=1)


def a_run(**changes):
    return msgspec.structs.replace(RUN, **changes)


def counts(attempts, **changes):
    return named("impossible_count", check(attempts, a_run(**changes)))


def paid(number, cost, tokens=15):
    return row(number, usage=UsageByRole(subject=Usage(total=tokens, cost=cost)))


# --- counts ---


@given(planned=st.integers(1, 9), made=st.integers(1, 9))
def test_more_cases_than_planned_are_a_problem_and_nothing_else_is(planned, made):
    found = counts(rows(made), expected_cases=planned)

    assert bool(found) == (made > planned)
    assert all(one.severity == "error" and one.numbers == {"planned": planned, "found": made} for one in found)


def test_repeated_cases_are_planned_once():
    again = [row(number, index=2) for number in range(2)]

    assert counts([*rows(2), *again], expected_cases=2) == []


@given(tries=st.integers(1, 4), made=st.integers(1, 6), measured=st.integers(1, 6))
def test_a_count_of_cases_is_compared_with_cases_alone(tries, made, measured):
    attempts = [row(number, index=index) for number in range(made) for index in range(1, tries + 1)]
    found = counts(attempts, measured_attempts=measured, measured_unit="cases")

    assert bool(found) == (made > measured)


def test_more_passes_than_attempts_are_a_problem():
    (found,) = counts(rows(3), expected_cases=4, measured_attempts=4, measured_passes=5)

    assert found.text == "the harness counts 5 passes, but there are only 4 attempts"


def test_more_rows_that_passed_than_the_harness_counts_are_a_problem():
    (found,) = counts(rows(3), measured_attempts=3, measured_passes=2)

    assert found.text == "3 rows passed, but the harness counts 2 passes"


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        ({"metric": "accuracy", "value": 1.4}, "score.json states total 1.4, but a rate is between 0 and 1"),
        ({"metric": "pass_rate", "value": -0.1}, "score.json states total -0.1, but a rate is between 0 and 1"),
        ({"metric": "pass_rate", "value": math.nan}, "score.json states total nan, but a rate is between 0 and 1"),
        ({"metric": "failed", "value": -2}, "score.json states total -2, which is not a count"),
        ({"metric": "passed", "value": 2.5}, "score.json states total 2.5, which is not a count"),
        ({"metric": "passed", "value": 9, "n": 8}, "score.json states total 9 of 8"),
    ],
)
def test_a_number_that_the_harness_can_not_have_counted_is_a_problem(reported, words):
    found = counts(rows(9), reported=(Reported(name="total", ref=PLACE, **reported),))

    assert words in [one.text for one in found]
    assert all(one.severity == "error" for one in found)


def test_a_rate_that_contradicts_its_own_counts_is_a_problem_with_both():
    accuracy = Reported(name="accuracy", metric="accuracy", value=0.75, n=4, headline=True, ref=PLACE)
    (found,) = counts([*rows(2), failed(2), failed(3)], reported=(accuracy,), measured_passes=2)

    assert found.text == "score.json states accuracy 0.75, but its own counts are 2 of 4"


@pytest.mark.req("B-21")
def test_a_headline_that_does_not_follow_from_the_rows_is_a_problem_with_both_numbers():
    survey = RunSurvey(run=RUN, unreadables=(), now=None)
    for attempt in rows(3):
        survey.add(attempt)
    survey.headline = RecomputedHeadline("accuracy", 0.6, 0.714, PLACE)
    found = the("aggregate_mismatch", findings_in(survey))

    assert found.text == "score.json has accuracy 0.6; recomputed from the rows: 0.714"
    assert (found.severity, found.numbers) == ("error", {"stated": 0.6, "found": 0.714})


def test_two_files_that_contradict_each_other_are_named():
    sides = FileConflict(text="a.json has 4 resolved, b.json has 3", cases=("q1", "q2"), differing=9, ref=PLACE)
    found = the("files_disagree", check(rows(2), a_run(conflicts=(sides,))))

    assert found.severity == "warning"
    assert found.text == "a.json has 4 resolved, b.json has 3; 9 cases differ: q1, q2 and 7 more"
    assert found.evidence[0].ref == PLACE


# --- costs ---


@pytest.mark.parametrize("cost", [-0.01, math.nan, math.inf])
def test_a_cost_that_is_no_amount_is_named(cost):
    found = the("impossible_cost", check([*rows(2), paid(2, cost)]))

    assert found.text == "1 attempt has a cost that is not an amount: case-2; left out of every sum"


@given(cost=st.floats(0, 10), tokens=st.integers(1_000, 1_000_000))
def test_a_cost_that_some_model_could_have_is_no_finding(cost, tokens):
    """The dearest model so far costs 600 dollars per million tokens."""
    usual = min(cost, tokens * 600 / 1_000_000)

    assert named("impossible_cost", check([paid(0, usual, tokens)])) == []


def test_a_cost_far_above_any_price_is_named_with_its_tokens():
    found = the("impossible_cost", check([*rows(2), paid(2, 410.0, tokens=12_000)]))

    assert found.text == "1 attempt has a cost far above any price per token: case-2"
    assert found.evidence[0].stated == "cost 410, 12,000 tokens"


def test_a_cost_without_a_token_is_named():
    found = the("impossible_cost", check([*rows(2), paid(2, 0.5, tokens=0)]))

    assert found.text == "1 attempt has a cost although no token was used: case-2"


def test_a_free_attempt_without_tokens_is_no_finding():
    assert named("impossible_cost", check([*rows(2), paid(2, 0.0, tokens=0)])) == []


@given(costs=st.lists(st.floats(0, 5), min_size=1, max_size=5), factor=st.sampled_from([0.5, 0.995, 1.0, 1.005, 2.0]))
def test_a_run_costs_what_its_attempts_cost(costs, factor):
    stated = sum(costs) * factor
    attempts = [paid(number, cost, tokens=10_000) for number, cost in enumerate(costs)]
    found = named("impossible_cost", check(attempts, a_run(usage=UsageByRole(subject=Usage(cost=stated)))))

    assert bool(found) == (abs(stated - sum(costs)) > max(0.01, 0.01 * sum(costs)))


def test_the_cost_of_a_run_that_is_no_amount_is_named():
    found = the("impossible_cost", check(rows(2), a_run(usage=UsageByRole(subject=Usage(cost=-3.0)))))

    assert found.text == "the run states a cost of -3, which is not an amount"


def test_a_sum_of_costs_is_not_compared_where_one_is_unknown():
    run = a_run(usage=UsageByRole(subject=Usage(cost=9.0)))

    assert named("impossible_cost", check([*rows(2), row(2, usage=UsageByRole())], run)) == []
    assert named("impossible_cost", check([*rows(2), missing(2)], run)) != []


# --- times ---


@pytest.mark.parametrize(
    "times",
    [
        {"duration": -0.5},
        {"duration": math.nan},
        {"started_at": "2026-03-01T10:00:01Z", "finished_at": "2026-03-01T10:00:00Z"},
        {"started_at": "2026-03-01T10:00:00.500Z", "finished_at": "2026-03-01T10:00:00Z"},
    ],
)
def test_a_time_that_can_not_be_is_named(times):
    found = the("impossible_time", check([*rows(2), row(2, **times)]))

    assert (found.severity, found.text.endswith(": case-2")) == ("warning", True)


@pytest.mark.parametrize(
    "times",
    [
        {"duration": 0.0},
        {"started_at": "2026-03-01T10:00:00Z", "finished_at": "2026-03-01T10:00:00.500Z"},
        {"started_at": "2026-03-01T10:00:00", "finished_at": "2026-03-01T09:00:00Z"},  # local and UTC
        {"started_at": "yesterday", "finished_at": "2026-03-01"},
        {"finished_at": "2026-03-01T09:00:00Z"},
    ],
)
def test_times_that_may_be_are_no_finding(times):
    assert named("impossible_time", check([*rows(2), row(2, **times)])) == []


def test_a_run_that_ends_before_it_starts_is_named():
    run = a_run(started_at="2026-03-01T10:00:00Z", finished_at="2026-03-01T09:00:00Z")

    assert the("impossible_time", check(rows(2), run)).text == "the run finished before it started"
