"""The accuracy that the scores of BFCL begin with, recomputed from the results and the failures."""

import json

import pytest
from test_reported_numbers import FIXTURES, recomputed, value_of


def test_the_accuracy_of_a_category():
    for folder, _, score in recomputed(FIXTURES / "bfcl" / "simple" / "data"):
        (file,) = folder.rglob("*_score.json")
        header = json.loads(file.read_text().splitlines()[0])

        assert (value_of(score), score["reproduced"]) == (pytest.approx(header["accuracy"]), True)
        assert (score["passed"], score["total"]) == (header["correct_count"], header["total_count"])
