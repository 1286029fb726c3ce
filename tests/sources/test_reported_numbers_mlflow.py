"""The metrics of an evaluation with MLflow, recomputed from its traces."""

import json

import pytest
from test_reported_numbers import FIXTURES, NO_HEADLINE, recomputed, value_of

EVALUATE = FIXTURES / "mlflow" / "evaluate" / "data"


def test_the_mean_of_the_first_scorer():
    stated = json.loads((EVALUATE / "summary.json").read_text())["metrics"]["exact/mean"]

    for _, _, score in recomputed(EVALUATE):
        assert (value_of(score), score["reproduced"]) == (pytest.approx(stated), True)


def test_a_table_alone_states_no_number():
    assert [score["note"] for _, _, score in recomputed(FIXTURES / "mlflow" / "table" / "data")] == [NO_HEADLINE]
