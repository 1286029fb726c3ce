"""Tables of one's own: a stated headline without a rule is any of the usual averages of the rows."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_generic_verdicts import CASE, read

from errata.compare.as_reported import as_reported
from errata.compare.trials import Trials

PASSED = f'{CASE}index = "trial"\npassed = "ok"'
BOTH = f'{PASSED}\nscore = "points"'


def table(*cases: list[float], **more: list[float]) -> list[dict[str, Any]]:
    return [
        {"id": f"c{number}", "trial": at, "ok": value, **{name: values.pop(0) for name, values in more.items()}}
        for number, values_of_case in enumerate(cases)
        for at, value in enumerate(values_of_case, 1)
    ]


def score_of(folder: Path, rows: list[dict[str, Any]], headline: object, mapping: str = PASSED):
    run, attempts = read(folder, rows, f"[run]\nheadline = {headline}\n{mapping}")
    return as_reported(Trials(run, attempts))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_pass_rate_of_the_rows_is_reproduced_for_any_number_of_attempts(tmp_path_factory, cases):
    values = [value for case in cases for value in case]
    stated = sum(values) / len(values)

    assert score_of(tmp_path_factory.mktemp("t"), table(*cases), repr(stated)).reproduced


def test_the_mean_of_cases_is_named_where_only_it_fits(tmp_path: Path):
    found = score_of(tmp_path, table([1, 1], [0]), 0.5)

    assert found.note == "as the mean of cases"


def test_a_headline_that_no_rule_gives_is_a_mismatch_with_all_numbers(tmp_path: Path):
    found = score_of(tmp_path, table([1, 1], [0]), 0.9)

    assert found.reproduced is False
    assert found.rate == pytest.approx(2 / 3)
    assert "mean of cases 0.5" in found.note


def test_a_given_rule_is_the_only_one(tmp_path: Path):
    rows = table([1], [0], points=[0.9, 0.5])

    assert score_of(tmp_path, rows, '{ value = 0.7, metric = "mean" }', BOTH).reproduced
    assert score_of(tmp_path, rows, '{ value = 0.7, metric = "pass_rate" }', BOTH).reproduced is False


def test_a_mean_without_a_reducer_may_be_the_mean_of_the_rows(tmp_path: Path):
    rows = table([1, 1], [0])

    assert score_of(tmp_path, rows, '{ value = 0.667, metric = "mean" }').reproduced
