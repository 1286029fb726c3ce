"""SWE-bench's own numbers, recomputed from the instances: of every report, and of every map of SWE-bench Pro."""

import json

import pytest
from test_reported_numbers import FIXTURES, NO_HEADLINE, recomputed, value_of

FOLDER = FIXTURES / "swe_bench"


@pytest.mark.parametrize("name", ["report", "joined", "openhands"])
def test_the_instances_resolved_of_all(name):
    ((folder, _, score),) = recomputed(FOLDER / name / "data")
    (report,) = [
        data for path in folder.glob("*.json") if "resolved_instances" in (data := json.loads(path.read_text()))
    ]

    assert score["total"] == report["total_instances"]
    assert value_of(score) == pytest.approx(report["resolved_instances"] / report["total_instances"])
    assert score["reproduced"]


def test_the_accuracy_of_every_map_of_swe_bench_pro():
    """No file states it; the rule is that of its evaluation script."""
    for folder, _, score in recomputed(FOLDER / "pro" / "data"):
        row = json.loads((folder / "eval_results.json").read_text())
        assert (score["passed"], score["total"], score["stated"]) == (sum(row.values()), len(row), None)


@pytest.mark.parametrize("name", ["mini_swe_agent", "swe_agent"])
def test_trajectories_alone_have_no_number(name):
    for _, _, score in recomputed(FOLDER / name / "data"):
        assert score["note"] == NO_HEADLINE
