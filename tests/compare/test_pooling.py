"""Several runs as one score."""

import pytest
from tries import CRASHED, trials, tried

from errata.compare.as_reported import as_reported
from errata.compare.policies import clean, strict
from errata.compare.pooling import pooled
from errata.compare.scores import Score
from errata.model import Reported


def test_counts_are_added():
    found = pooled([strict(trials(tried(1), tried(2, "fail"))), strict(trials(tried(1), tried(2)))])

    assert (found.passed, found.total) == (3, 4)


def test_what_was_left_out_is_told_of_all_runs():
    crashed = tried(2, **CRASHED)
    one = clean(trials(tried(1), crashed, owners=[(crashed, "provider")]))

    assert pooled([one, one]).left_out == {"provider": 2}


def test_a_run_without_a_number_is_said_to_be_missing():
    found = pooled([strict(trials(tried(1))), Score(policy="strict", note="the log holds not one attempt")])

    assert (found.total, found.note) == (1, "of 1 of 2 runs")


def test_no_number_at_all_stays_none():
    found = pooled([Score(policy="clean", note="unavailable")] * 2)

    assert (found.rate, found.note) == (None, "unavailable")


def graded(*values):
    reported = (Reported(name="mean", metric="mean", headline=True),)
    rows = [tried(at, "fail", reported=value, reported_counted=True) for at, value in enumerate(values)]
    return as_reported(trials(*rows, reported=reported))


def test_means_weigh_as_much_as_their_attempts():
    assert pooled([graded(0.5, 0.25), graded(0.75, 0.75, 0.6)]).mean == pytest.approx((0.75 + 2.1) / 5)


def test_two_runs_are_known_better_than_one():
    one = graded(0.5, 0.25, 0.75)

    assert pooled([one, one]).stderr < one.stderr


def test_a_mean_of_one_value_leaves_the_spread_unknown():
    assert pooled([graded(0.5, 0.25), graded(0.5)]).interval is None


def test_runs_that_were_reviewed_do_not_speak_for_those_that_were_not():
    read, unread = Score(policy="reviewed", passed=25, total=25), Score(policy="reviewed", note="0 of 9 reviewed")

    found = pooled([read, unread])

    assert (found.rate, found.note) == (None, "1 of 2 runs reviewed")
