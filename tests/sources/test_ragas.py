"""What is special about ragas: a gap is no zero, nothing says what is passed, a table may lie there twice."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, cases, facts, runs, write_rows

from errata import sources
from errata.sources import ragas
from terminal import done

LINES = FIXTURES / "ragas" / "lines" / "data"
TABLE = FIXTURES / "ragas" / "csv" / "data"


def row(**changes: Any) -> dict[str, Any]:
    return {"user_input": "Q", "response": "A", "reference": "A", "faithfulness": 1.0} | changes


def table(path: Path, *rows: dict[str, Any]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def lines(folder: Path, *rows: dict[str, Any]) -> Path:
    return write_rows(folder / "result.jsonl", *rows)


@pytest.mark.parametrize("path", [LINES, TABLE], ids=["lines", "csv"])
def test_both_forms_say_the_same(path):
    assert [facts(one) for one in attempts(path)] == [("completed", "scored", "pass"), ("completed", "scored", "fail")]
    assert [one.text for one in attempts(path)[0].artefacts] == ["doc"]
    assert [run.native_id for run in runs(path)] == [run.native_id for run in runs(LINES)]


def test_a_gap_is_unmeasured_and_no_zero():
    gap = attempts(LINES)[1].checks[1]

    assert (gap.name, gap.status, gap.value) == ("boom", "unscored", None)


@pytest.mark.parametrize("gap", [None, float("nan")], ids=["null", "NaN"])
def test_a_row_without_the_measure_that_decides_is_unscored(tmp_path, gap):
    made = attempts(lines(tmp_path, row(), row(user_input="R", faithfulness=gap)))

    assert facts(made[1]) == ("completed", "unscored", "none")
    assert (made[1].reported, made[1].reported_counted) == (None, False)


def test_a_mean_of_one_with_half_the_rows_unmeasured_is_told(tmp_path):
    path = lines(tmp_path, row(), row(user_input="R", faithfulness=None))
    (score,) = [one["scores"] for one in done("score", path, "--json", "--store", tmp_path / "errata.db").rows]
    (found,) = done("check", path, "--json", "--store", tmp_path / "errata.db").row["findings"][:1]

    assert (score["as_reported"]["rate"], score["as_reported"]["total"]) == (1.0, 1)
    assert score["strict"]["total"] == 2
    assert found["name"] == "no_verdict"


def test_what_lies_between_nothing_and_full_marks_is_a_number(tmp_path):
    (made,) = attempts(lines(tmp_path, row(faithfulness=0.8)))

    assert (made.outcome, made.reported, made.checks[0].status) == ("number", 0.8, "not_applicable")


def test_a_column_of_numbers_that_pandas_put_there_is_no_measure(tmp_path):
    (made,) = attempts(table(tmp_path / "t.csv", {"Unnamed: 0": 0} | row()))

    assert [check.name for check in made.checks] == ["faithfulness"]


def test_a_case_is_known_by_its_input_or_by_an_id(tmp_path):
    assert list(cases(lines(tmp_path, row(sample_id="q-1")))) == ["q-1"]
    assert all(name.startswith("input-") for name in cases(LINES))


def test_turns_are_steps(tmp_path):
    turns = [{"type": "human", "content": "A berth?"}, {"type": "ai", "content": "Pier 3.", "tool_calls": None}]
    (made,) = attempts(lines(tmp_path, row(user_input=turns, response=None)))

    assert [(step.actor.role, step.text) for step in made.steps] == [("user", "A berth?"), ("assistant", "Pier 3.")]
    assert made.output.text == "Pier 3."


def test_the_names_of_old_tables_are_known(tmp_path):
    old = {"question": "Q", "answer": "A", "contexts": "['doc']", "ground_truth": "B", "faithfulness": 0.0}
    path = table(tmp_path / "old.csv", old)
    (case,) = cases(path).values()

    assert (case.input, case.expected, attempts(path)[0].output.text) == ("Q", "B", "A")


@pytest.mark.parametrize("cell", ["[[[", "['a' 'b']", "[" * 9_000, "{1: 2", "[__import__('os')]"])
def test_a_list_that_is_none_is_kept_as_text(tmp_path, cell):
    (made,) = attempts(table(tmp_path / "t.csv", row(retrieved_contexts=cell)))

    assert (made.artefacts, made.extra["retrieved_contexts"]) == ((), cell)


def test_a_data_set_without_measures_is_no_run(tmp_path):
    path = table(tmp_path / "t.csv", {"user_input": "Q", "response": "A", "reference": "B"})

    assert ragas.recognise(path) is None


def test_a_table_in_two_forms_is_one_run():
    assert [found.path.name for found in sources.find(LINES)] == ["result.jsonl"]


def test_another_table_beside_it_is_another_run(tmp_path):
    shutil.copytree(LINES, tmp_path / "log")
    table(tmp_path / "log" / "other.csv", row())

    assert len(runs(tmp_path / "log")) == 2
