"""A column of remarks that holds an error message only in rows whose status is an error."""

from pathlib import Path

import pytest
from test_map_wide_words import imported

from errata.sources.generic.draft import draft_mapping

ROWS = (
    "a,1,ok,well done\nb,0,ok,misses the point\nc,,crashed,CUDA out of memory\nd,1,ok,\ne,,crashed,connection reset\n"
)


@pytest.mark.parametrize("column", ["Bemerkung", "remarks", "notes", "message"])
def test_remarks_are_errors_only_where_the_status_is_one(tmp_path: Path, column: str):
    path = tmp_path / "log.csv"
    path.write_text(f"task,passed,status,{column}\n{ROWS}", encoding="utf-8")

    attempts = imported(path)

    assert [one.outcome for one in attempts] == ["pass", "fail", "none", "pass", "none"]
    assert [error.message for one in attempts for error in one.errors] == ["CUDA out of memory", "connection reset"]


def test_a_remark_that_error_rows_lack_is_no_error(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text("task,passed,status,notes\na,1,ok,well done\nb,,crashed,\nc,0,ok,short\n", encoding="utf-8")

    assert "error = {" not in draft_mapping(path).text


def test_without_the_condition_every_text_is_an_error(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text(f"task,passed,status,notes\n{ROWS}", encoding="utf-8")
    mapping = '[case]\nname = "task"\n[attempt]\npassed = "passed"\nstatus = "status"\nerror = "notes"'

    assert sum(bool(one.errors) for one in imported(path, mapping)) == 4
