"""The primary metric of an evalscope report, recomputed from the reviews."""

import json

import pytest
from test_reported_numbers import FIXTURES, NO_HEADLINE, recomputed, value_of


def test_the_primary_metric_of_every_report():
    for folder, run, score in recomputed(FIXTURES / "evalscope" / "repeats" / "data"):
        report = json.loads((folder / "reports" / run.subject.model / f"{run.suite}.json").read_text())
        (metric,) = [one for one in report["metrics"] if one["identity"] == report["primary_metric_identity"]]

        assert (value_of(score), score["reproduced"]) == (pytest.approx(metric["score"]), True)
        assert score["total"] == metric["num"] == report["execution_summary"]["succeeded"]


def test_files_without_a_report_have_no_number_to_reproduce():
    scores = [score for _, _, score in recomputed(FIXTURES / "evalscope" / "files_alone" / "data")]

    assert [score["note"] for score in scores] == [NO_HEADLINE] * 2
