"""`errata export --to csv|parquet`: the tables hold what `--json` prints, and no cell is a formula."""

import csv
import json
import math
import sys
from pathlib import Path

import pytest

from errata.errors import SettingsError
from errata.export.tables import DataTable
from errata.model.tables import AttemptRow
from errata.verbs.store import bundled_example
from terminal import errata

NESTED = ("bucket", "verdict", "before", "failure_key")
AS_JSON = ("signals", "suggested_labels", "verdict_changes", "before_reports", "before_runs", "before_actions",
           "before_other_models")  # fmt: skip


def flattened(failure):
    """An object of `errata failures --json` in the columns of the table, as docs/exporting.md describes them."""
    row = {}
    for name, value in failure.items():
        if name in NESTED:
            row |= {f"{name}_{key}": item for key, item in (value or {}).items()}
        else:
            row[name] = value
    return row


def compact(row):
    """Without what is missing: a null in JSON is NaN or NA in pandas."""
    return {name: json.loads(value) if name in AS_JSON else value for name, value in row.items() if not missing(value)}


def missing(value):
    import pandas  # with polars, two seconds of every worker

    return value is None or value is pandas.NA or (isinstance(value, float) and math.isnan(value))


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.fixture
def run_b():
    errata("import", bundled_example())
    return "latest"


def test_parquet_read_by_pandas_and_polars_equals_the_json_of_failures(run_b):
    import pandas
    import polars

    assert errata("export", run_b, "--to", "parquet").code == 0
    wanted = [
        {name: value for name, value in flattened(row).items() if value is not None}
        for row in errata("failures", run_b, "--json").rows
    ]

    by_pandas = pandas.read_parquet("tables/failures.parquet").to_dict("records")
    by_polars = polars.read_parquet("tables/failures.parquet").to_dicts()

    assert len(wanted) == 9
    assert [compact({name: plain(value) for name, value in row.items()}) for row in by_pandas] == wanted
    assert [compact(row) for row in by_polars] == wanted


def test_the_tables_hold_every_counted_attempt_and_every_check(run_b):
    import polars

    errata("export", run_b, "--to", "parquet")
    counts = errata("runs", "--json").row["counts"]

    attempts = polars.read_parquet("tables/attempts.parquet")
    checks = polars.read_parquet("tables/checks.parquet")

    assert len(attempts) == counts["counted"]
    assert attempts["is_failure"].sum() == counts["failures"]
    failed = checks.filter(checks["is_failed"])["check"].value_counts().rows()
    assert dict(failed) == counts["failed_checks"]
    assert set(checks["attempt_id"]) <= set(attempts["attempt_id"])


def test_csv_holds_the_rows_of_parquet(run_b):
    result = errata("export", run_b, "--to", "csv", "--json")

    for table in result.rows:
        with Path(table["file"]).open(encoding="utf-8", newline="") as file:
            assert len(list(csv.DictReader(file))) == table["rows"]
    assert [(row["file"], row["rows"]) for row in result.rows] == [
        ("tables/attempts.csv", 25),
        ("tables/checks.csv", 140),
        ("tables/failures.csv", 9),
    ]


def test_existing_tables_are_overwritten_only_with_force(run_b):
    errata("export", run_b, "--to", "csv")

    refused = errata("export", run_b, "--to", "csv")

    assert refused.code == 2
    assert "`tables/attempts.csv` already exists" in refused.talk
    assert errata("export", run_b, "--to", "csv", "--force").code == 0


def attempt_row(**changes):
    values = dict.fromkeys(AttemptRow.__struct_fields__)
    values |= {"run": "r", "run_id": "1", "model": "m", "case": "c", "case_key": "s/c", "attempt": 1, "attempt_id": "1"}
    values |= {"execution": "completed", "measurement": "scored", "outcome": "fail", "is_failure": True}
    return AttemptRow(**(values | {"failed_checks": ()} | changes))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"])
def test_no_cell_of_a_csv_starts_a_formula(text, at_home):
    row = attempt_row(output=text, reported=-1.5, failed_checks=(text,))
    DataTable("attempts", AttemptRow, lambda: [row]).write_csv("hostile.csv")

    with Path("hostile.csv").open(encoding="utf-8", newline="") as file:
        (cells,) = csv.DictReader(file)
    assert cells["output"].startswith("'")
    assert cells["failed_checks"].startswith("[")
    assert cells["reported"] == "-1.5"  # a number is no formula


def test_without_pyarrow_the_message_names_the_extra(run_b, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    result = errata("export", run_b, "--to", "parquet")

    assert result.code == 2
    assert "errata[parquet]" in result.talk
    assert errata("export", run_b, "--to", "csv", "-o", "csv").code == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_a_library_its_extra_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    table = DataTable("attempts", AttemptRow, list)

    with pytest.raises(SettingsError, match=f"{library} is not installed") as refused:
        getattr(table, f"to_{library}")()

    assert f"errata[{library}]" in refused.value.hint
