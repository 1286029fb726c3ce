"""The number of a HELM leaderboard, recomputed from the instances of the test split."""

import json

import pytest
from test_reported_numbers import data, named, recomputed, value_of


@pytest.mark.parametrize("path", data("helm"), ids=named)
def test_the_mean_of_the_main_metric(path):
    for folder, _, score in recomputed(path):
        stats = json.loads((folder / "stats.json").read_text())
        (stated,) = [one["mean"] for one in stats if one["name"] == {"name": "exact_match", "split": "test"}]
        (instances,) = [one["mean"] for one in stats if one["name"] == {"name": "num_instances", "split": "test"}]

        assert (value_of(score), score["stated"], score["reproduced"]) == (pytest.approx(stated), stated, True)
        assert score["total"] == instances
