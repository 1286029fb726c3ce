"""The first number of an evaluation, recomputed from its instances."""

import json

import pytest
from test_reported_numbers import FIXTURES, NO_HEADLINE, recomputed, value_of


def test_the_first_number_of_a_conversion():
    for file, _, score in recomputed(FIXTURES / "every_eval_ever" / "from_inspect" / "data"):
        data = json.loads(file.read_text())["evaluation_results"][0]["score_details"]

        assert (value_of(score), score["reproduced"]) == (pytest.approx(data["score"]), True)
        # two epochs of each sample that is counted
        assert score["total"] == 2 * data["uncertainty"]["num_samples"]


def test_instances_alone_have_no_number_to_reproduce():
    scores = [score for _, _, score in recomputed(FIXTURES / "every_eval_ever" / "rows_alone" / "data")]

    assert [score["note"] for score in scores] == [NO_HEADLINE]
