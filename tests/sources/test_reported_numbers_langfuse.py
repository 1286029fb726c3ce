"""The number that a dataset run of Langfuse was given, recomputed from the scores of its traces."""

import json

import pytest
from test_reported_numbers import FIXTURES, NO_HEADLINE, recomputed, value_of

DATASET_RUN = FIXTURES / "langfuse" / "dataset_run" / "data"


def test_the_average_of_a_score():
    (stated,) = [row["value"] for row in json.loads((DATASET_RUN / "scores.json").read_text())["data"]]

    for _, _, score in recomputed(DATASET_RUN):
        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


def test_traces_of_no_run_have_no_number():
    assert [score["note"] for _, _, score in recomputed(FIXTURES / "langfuse" / "bucket" / "data")] == [NO_HEADLINE]
