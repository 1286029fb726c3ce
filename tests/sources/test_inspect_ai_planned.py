"""How many samples were planned: `--limit` and `--sample-id` select some, also where the log lists no ids."""

import json

import pytest
from inspect_ai_logs import items, log, raw, run
from test_reported_numbers import scored

from errata.model import Attempt

POPULARITY = "2025-05-12T20-28-13-04-00_popularity.json"
"""Three of 100 samples, by `--limit 3`."""


def without_ids(tmp_path, *, results: bool = False, **config):
    """The log as older versions of Inspect write it; by default as a run that was cut off before its results."""
    data, _ = raw(log("real_logs", POPULARITY))
    data["eval"]["dataset"]["sample_ids"] = None
    data["eval"]["config"] = {key: value for key, value in data["eval"]["config"].items() if key != "limit"} | config
    if not results:
        data["results"] = None
    path = tmp_path / "log.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.req("B-22")
@pytest.mark.parametrize(
    ("config", "planned"),
    [
        ({"limit": 3}, 3),
        ({"limit": 300}, 100),
        ({"limit": [10, 13]}, 3),
        ({"limit": [90, 200]}, 10),
        ({"limit": [200, 300]}, 0),
        ({"limit": 3, "epochs": 4}, 3),
        ({"sample_id": 7}, 1),
        ({"sample_id": ["7", "8", "7"]}, 2),
        ({"sample_id": ["7", "8*"]}, None),
        ({"sample_id": []}, 0),
        ({"limit": None}, 100),
        ({}, 100),
    ],
)
def test_a_limit_or_a_selection_lowers_the_number_of_planned_samples(tmp_path, config, planned):
    assert run(without_ids(tmp_path, **config)).expected_cases == planned


def test_the_results_state_how_many_samples_were_planned(tmp_path):
    """`total_samples` counts every epoch."""
    data = json.loads(without_ids(tmp_path, results=True, sample_id="sample_*").read_text())
    (tmp_path / "log.json").write_text(json.dumps(data))

    assert run(tmp_path / "log.json").expected_cases == 3


def test_samples_beyond_the_limit_are_not_missing(tmp_path):
    path = without_ids(tmp_path, limit=3)
    (score,) = scored(path).values()

    assert [one.execution for one in items(path, Attempt)] == ["completed"] * 3
    assert "missing_cases" not in [one["name"] for one in score["findings"]]
