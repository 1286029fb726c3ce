"""The numbers of lm-evaluation-harness, recomputed from its samples."""

import json
from pathlib import Path

import pytest
from test_reported_numbers import NO_HEADLINE, data, named, recomputed, value_of


def first_measure(file: Path, task: str) -> float:
    """What the results state first about a task."""
    entry = json.loads(file.read_text())["results"][task]
    return next(value for name, value in entry.items() if "," in name and "_stderr" not in name)


@pytest.mark.parametrize("path", [one for one in data("lm_eval") if "alone" not in one.parent.name], ids=named)
def test_the_first_measure_of_every_task(path):
    for file, run, score in recomputed(path):
        assert score["stated"] == first_measure(file, run.suite)
        if score["total"]:
            assert (score["reproduced"], value_of(score)) == (True, pytest.approx(score["stated"]))
        else:
            assert score["note"]["stated"] == score["stated"]
            assert "cases_not_in_log" in [finding["name"] for finding in score["findings"]]


def test_a_task_of_which_only_some_samples_were_published_says_so():
    (path,) = (one for one in data("lm_eval") if one.parent.name == "maths")

    notes = {(score["note"]["code"], score["note"]["count"]) for _, _, score in recomputed(path)}

    assert notes == {("no_rows", None), ("rows_not_in_log", 4996)}


def test_samples_alone_have_no_number_to_reproduce():
    (path,) = (one for one in data("lm_eval") if "alone" in one.parent.name)

    assert all(score["note"] == NO_HEADLINE for _, _, score in recomputed(path))
