"""The final report of OpenAI evals, recomputed from the events."""

import json

import pytest
from test_reported_numbers import data, named, recomputed, value_of


@pytest.mark.parametrize("path", data("openai_evals"), ids=named)
def test_the_accuracy_or_the_score_of_a_final_report(path):
    for file, _, score in recomputed(path):
        rows = map(json.loads, file.read_text().splitlines())
        (report,) = [row["final_report"] for row in rows if "final_report" in row]
        stated = report.get("accuracy", report.get("score"))

        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)
