"""The mean that ragas prints of its first measure, recomputed from the rows: it writes it nowhere."""

import csv
import json
from statistics import fmean

import pytest
from test_reported_numbers import data, named, recomputed, value_of


@pytest.mark.parametrize("path", data("ragas"), ids=named)
def test_the_mean_of_the_rows_that_were_measured(path):
    for file, _, score in recomputed(path):
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines)) if file.suffix == ".csv" else list(map(json.loads, lines))
        measured = [float(row["exact_match"]) for row in rows if row["exact_match"] not in ("", None)]

        assert (value_of(score), score["total"], score["stated"]) == (fmean(measured), len(measured), None)
