"""The means of scorers, as Braintrust states them and LangSmith shows them, recomputed from the rows."""

import json
from statistics import fmean

import pytest
from test_reported_numbers import data, named, recomputed, value_of


@pytest.mark.parametrize("path", [one for one in data("braintrust") if one.parent.name != "spans"], ids=named)
def test_the_summary_of_braintrust_states_the_mean_of_the_first_scorer(path):
    for file, _, score in recomputed(path):
        stated = next(iter(json.loads(file.read_text())["summary"]["scores"].values()))["score"]

        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


@pytest.mark.parametrize("path", data("langsmith"), ids=named)
def test_the_mean_of_the_first_evaluator_of_langsmith_counts_crashes_as_it_does(path):
    for file, _, score in recomputed(path):
        rows = map(json.loads, file.read_text().splitlines())
        result = [row["evaluation_results"][0]["score"] for row in rows]

        assert value_of(score) == pytest.approx(fmean(result))
