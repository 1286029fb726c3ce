"""The pass rate of deepeval, recomputed from its cases."""

import json

import pytest
from test_reported_numbers import data, named, recomputed, value_of


@pytest.mark.parametrize("path", data("deepeval"), ids=named)
def test_the_pass_rate_of_a_test_run(path):
    for place, _, score in recomputed(path):
        row = json.loads((place / ".latest_run_full.json" if place.is_dir() else place).read_text())
        if "test_results" in row:
            # the result of `evaluate` states no number; it is counted as the test run would be
            passed, whole = sum(one["success"] for one in row["test_results"]), len(row["test_results"])
            assert (score["passed"], score["total"], score["stated"]) == (passed, whole, None)
        else:
            stated = row["testPassed"] / (row["testPassed"] + row["testFailed"])
            assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)
        assert "aggregate_mismatch" not in [finding["name"] for finding in score["findings"]]
