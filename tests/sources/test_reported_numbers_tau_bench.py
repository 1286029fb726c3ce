"""The average reward of tau-bench and tau2-bench, by the rule of each: no file states it."""

import json
from statistics import fmean

import pytest
from test_reported_numbers import FIXTURES, recomputed, value_of

FOLDER = FIXTURES / "tau_bench"
NOT_EVALUABLE = ("infrastructure_error", "context_window_exceeded")


def test_the_average_reward_of_a_document():
    ((file, _, score),) = recomputed(FOLDER / "tau2" / "data")
    data = [one["reward_info"]["reward"] for one in json.loads(file.read_text())["simulations"]]

    assert (value_of(score), score["total"]) == (pytest.approx(fmean(data)), len(data))


def test_the_average_reward_leaves_out_what_is_not_evaluable():
    ((folder, _, score),) = recomputed(FOLDER / "tau2_endings" / "data")
    simulations = [json.loads(file.read_text()) for file in (folder / "simulations").iterdir()]
    result = [
        one["reward_info"]["reward"]
        for one in simulations
        if one["reward_info"] and one["termination_reason"] not in NOT_EVALUABLE
    ]

    assert (value_of(score), score["total"]) == (pytest.approx(fmean(result)), len(result))


def test_the_average_reward_of_tau_bench_counts_exceptions_as_nothing():
    ((file, _, score),) = recomputed(FOLDER / "tau" / "data")
    data = [one["reward"] for one in json.loads(file.read_text())]

    assert (value_of(score), score["total"]) == (pytest.approx(fmean(data)), len(data))
