"""Several runs as one score."""

from types import SimpleNamespace

import pytest
from tries import CRASHED, trials, tried

from errata.compare.as_reported import as_reported
from errata.compare.policies import clean, scores_of, strict
from errata.compare.pooling import pool_runs, pool_scores
from errata.compare.scores import Score
from errata.model import Counts, Reported, StoredRun, Subject
from errata.model.output.score import NoteOutput
from errata.testing import a_run


def test_counts_are_added():
    found = pool_scores([strict(trials(tried(1), tried(2, "fail"))), strict(trials(tried(1), tried(2)))])

    assert (found.passed, found.total) == (3, 4)


def test_what_was_left_out_is_told_of_all_runs():
    crashed = tried(2, **CRASHED)
    one = clean(trials(tried(1), crashed, owners=[(crashed, "provider")]))

    assert pool_scores([one, one]).left_out == {"provider": 2}


def test_a_run_without_a_number_is_said_to_be_missing():
    found = pool_scores([strict(trials(tried(1))), Score(policy="strict", remark=NoteOutput(code="no_attempts"))])

    assert (found.total, found.note) == (1, "of 1 of 2 runs")


def graded(*values, **given):
    reported = (Reported(name="mean", metric="mean", headline=True),)
    rows = [tried(at, "fail", reported=value, reported_counted=True) for at, value in enumerate(values)]
    return as_reported(trials(*rows, reported=reported, **given))


def test_means_weigh_as_much_as_their_attempts():
    assert pool_scores([graded(0.5, 0.25), graded(0.75, 0.75, 0.6)]).mean == pytest.approx((0.75 + 2.1) / 5)


def test_runs_whose_cases_are_not_known_count_as_made_one_by_one():
    one = graded(0.5, 0.25, 0.75)

    assert pool_scores([one, one]).stderr < one.stderr


def test_the_same_values_again_are_no_better_known():
    one = graded(0.5, 0.25, 0.75, to_pool=True)

    assert pool_scores([one, one]).stderr == pytest.approx(one.stderr)


def test_the_same_passes_again_are_no_better_known():
    one = strict(trials(tried(1), tried(2, "fail"), tried(3), to_pool=True))

    assert pool_scores([one, one]).interval == pytest.approx(one.interval)


def test_cases_that_come_out_otherwise_each_time_are_known_better():
    one, other = (
        strict(trials(*(tried(case, "fail" if case % 2 == odd else "pass") for case in range(10)), to_pool=True))
        for odd in (0, 1)
    )

    assert pool_scores([one, other]).effective == 20


def test_runs_of_other_cases_count_in_full():
    one = clean(trials(tried(1), tried(2, "fail"), to_pool=True))
    other = clean(trials(tried(3), tried(4, "fail"), tried(5), to_pool=True))

    assert pool_scores([one, other]).effective == pytest.approx(5)


def test_planned_cases_without_a_name_are_cases_of_their_own():
    one = strict(trials(tried(1), tried(2, "fail"), expected_cases=5, to_pool=True))

    assert (one.total, pool_scores([one]).effective) == (5, pytest.approx(5))


def test_passes_as_the_harness_counts_them_hang_together_too():
    reported = (Reported(name="rate", metric="pass_rate", headline=True),)
    rows = [tried(at, outcome, reported_counted=True) for at, outcome in enumerate(("pass", "fail", "pass"))]
    one = as_reported(trials(*rows, reported=reported, to_pool=True))

    assert pool_scores([one, one]).effective == pytest.approx(3)


def test_a_mean_of_one_value_leaves_the_spread_unknown():
    assert pool_scores([graded(0.5, 0.25), graded(0.5)]).interval is None


def test_runs_that_were_reviewed_do_not_speak_for_those_that_were_not():
    read, unread = (
        Score(policy="reviewed", passed=25, total=25),
        Score(policy="reviewed", remark=NoteOutput(code="reviewed", count=0, of=9)),
    )

    found = pool_scores([read, unread])

    assert (found.rate, found.note) == (None, "1 of 2 runs reviewed")


def test_one_run_that_tries_its_cases_again_knows_them_no_better():
    once = trials(tried(1), tried(2, "fail"), tried(3))
    twice = trials(
        *(tried(case, went, index=at) for case, went in ((1, "pass"), (2, "fail"), (3, "pass")) for at in (1, 2))
    )

    assert scores_of(twice)["strict"].total == 6
    assert scores_of(twice)["strict"].interval == pytest.approx(scores_of(once)["strict"].interval)


def test_runs_of_unknown_models_are_never_pooled():
    runs = [a_run(native_id=name, subject=Subject(agent="terminus")) for name in ("one", "two")]

    assert [len(pool.runs) for pool in pool_runs([a_scored_run(run) for run in runs])] == [1, 1]


def test_runs_of_one_model_are_pooled():
    runs = [a_run(native_id=name, subject=Subject(model="m", agent="terminus")) for name in ("one", "two")]

    assert [len(pool.runs) for pool in pool_runs([a_scored_run(run) for run in runs])] == [2]


def a_scored_run(run):
    stored = StoredRun(run=run, counts=Counts(), pk=1, imported_at="", digest="")
    return SimpleNamespace(stored=stored, unit="cases", unavailable=False, scores=scores_of(trials()), categories={})
