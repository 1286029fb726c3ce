"""The rows of a compared run: what failed is a part of what was counted."""

from types import SimpleNamespace

import pytest

from errata.model import Check
from errata.model.output.report.comparison import ReportedRun
from errata.report.comparison_rows import ComparedRun
from errata.testing import an_attempt

KINDS = {
    "passed": {"outcome": "pass"},
    "failed": {"outcome": "fail"},
    "error": {"execution": "error", "measurement": "not_run", "outcome": "none"},
    "unscored": {"measurement": "unscored", "outcome": "none"},
    "missing": {"execution": "missing", "measurement": "not_run", "outcome": "none"},
}


def reported(kinds):
    run = ComparedRun("a", SimpleNamespace(attributions={}))
    for at, kind in enumerate(kinds):
        run.add(an_attempt(case=f"c{at}", **KINDS[kind]), f"c{at}")
    return ReportedRun(
        label="a",
        handle="a",
        native_id="a",
        model="m",
        rows=run.made,
        judged=run.judged,
        passed=run.passed,
        failed=len(run.rows),
        no_verdict=tuple(run.no_verdict),
        missing=tuple(run.missing),
        patterns={},
        dimensions={},
        scores=(),
    )


@pytest.mark.req("B-75")
def test_errors_are_above_and_below_the_line():
    run = reported(["error"] * 3 + ["failed"] * 7 + ["passed"] * 20)

    assert (run.failed, run.counted) == (10, 30)


def test_a_check_that_does_not_count_is_no_dimension_of_the_table():
    run = ComparedRun("a", SimpleNamespace(attributions={}))
    checks = (Check(name="reward", status="fail"), Check(name="ACTION", status="fail", counts=False))
    run.add(an_attempt(case="c", outcome="fail", checks=checks), "c")

    assert run.applicable == {"reward": 1}
    assert list(run.order) == ["reward"]
