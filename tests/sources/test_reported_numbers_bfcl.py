"""The accuracy that the scores of BFCL begin with, recomputed from the results and the failures."""

import json

import pytest
from test_reported_numbers import FIXTURES, recomputed, value_of

CATEGORIES = {
    "categories": 23,  # every category of BFCL v4, scored by the harness itself
    "published": 5,
    "simple": 1,
}


@pytest.mark.parametrize("fixture", CATEGORIES)
def test_the_accuracy_of_every_category_is_reproduced(fixture):
    path = FIXTURES / "bfcl" / fixture / "data"
    checked = set()
    for folder, run, score in recomputed(path):
        (file,) = folder.rglob(f"*_{run.name}_score.json") if fixture != "categories" else folder.rglob(run.ref.file)
        header = json.loads(file.read_text().splitlines()[0])
        checked.add(file)

        assert (value_of(score), score["reproduced"]) == (pytest.approx(header["accuracy"]), True), run.name
        assert (score["passed"], score["total"]) == (header["correct_count"], header["total_count"]), run.name
        assert not {one["name"] for one in score["findings"]} & {"impossible_count", "files_disagree", "missing_cases"}
    assert len(checked) == CATEGORIES[fixture]
