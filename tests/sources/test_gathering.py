"""Lines that belong together are read together, in the order in which the first of each stands."""

import json
from typing import Any

import msgspec
import pytest

from errata.model import Unreadable
from errata.sources.shared import row_groups
from errata.sources.shared.row_groups import read_groups


class Named(msgspec.Struct):
    name: Any = None


@pytest.fixture
def groups(tmp_path):
    def read(text: str | bytes) -> list[Any]:
        path = tmp_path / "rows.jsonl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        rows = read_groups(path, Named, lambda row: row.name, source="test", root=tmp_path)
        return [row if isinstance(row, Unreadable) else [(one.data, one.ref.line) for one in row.data] for row in rows]

    return read


def lines(*names: Any) -> str:
    return "".join(json.dumps({"name": name, "at": at}) + "\n" for at, name in enumerate(names))


def test_rows_of_one_name_come_together_however_far_apart_they_stand(groups):
    found = groups(lines("a", "b", "c", "b", "a", "a"))

    assert [[line for _, line in group] for group in found] == [[1, 5, 6], [2, 4], [3]]


def test_a_row_without_a_name_stands_for_itself(groups):
    assert [len(group) for group in groups(lines(None, "a", None, "a"))] == [1, 2, 1]


def test_a_damaged_line_is_told_and_the_others_are_read(groups):
    first, damaged, last = groups(lines("a") + '{"name": "a", \n' + lines("b"))

    assert [line for _, line in first] == [1]
    assert (damaged.where, last[0][1]) == ("rows.jsonl:2", 3)


def test_a_line_that_is_too_long_is_told_once(groups, monkeypatch):
    monkeypatch.setattr(row_groups, "LINE_CAP", 64)
    long, short = groups(json.dumps({"name": "a", "text": "x" * 500}) + "\n" + lines("b"))

    assert long.why.startswith("line longer than")
    assert short[0][1] == 2


def test_a_file_that_is_not_there_is_told(tmp_path):
    (result,) = read_groups(tmp_path / "none", Named, lambda row: row.name, source="test", root=tmp_path)

    assert result.why == "No such file or directory"
