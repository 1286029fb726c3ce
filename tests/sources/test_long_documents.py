"""A long list in a document is read item by item, and as far as it goes."""

import pytest

from errata.model import Unreadable
from errata.sources.shared.json_rows import long_document


@pytest.fixture
def opened(tmp_path):
    def read(text: str | bytes, listed: str = "rows"):
        path = tmp_path / "document.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return long_document(path, listed, source="test", root=tmp_path)

    return read


def test_the_items_and_the_other_fields(opened):
    document = opened('{"name": "a", "rows": [1, {"b": 2}]}')

    assert document.field("name") == "a"
    assert [(row.data, str(row.ref)) for row in document.rows()] == [
        (1, "document.json#/rows/0"),
        ({"b": 2}, "document.json#/rows/1"),
    ]


@pytest.mark.parametrize("listed", ["rows", ""])
def test_what_stands_before_a_cut_is_read(opened, listed):
    document = opened('{"name": "a", "rows": [1, 2, ' if listed else "[1, 2, ", listed)

    assert [row.data for row in document.rows()] == [1, 2]
    assert [problem.why.partition(":")[0] for problem in document.problems()] == ["cut off"]


@pytest.mark.parametrize("beside", ["1", "NaN"])
def test_a_damaged_value_costs_neither_its_item_nor_the_document(opened, beside):
    document = opened(f'{{"name": "\\ud800", "rows": [{beside}, {{"a": {"9" * 5000}, "b": "\\udfff"}}, 3]}}')

    assert [row.data for row in document.rows()][1]["b"] == "\ufffd"
    assert document.field("name") == "\ufffd"
    assert list(document.problems()) == []


def test_a_wrong_byte_costs_a_character_of_its_item(opened):
    document = opened(b'{"rows": ["a", "\xff", "b"]}')

    assert [row.why.partition(":")[0] if isinstance(row, Unreadable) else row.data for row in document.rows()] == [
        "a",
        "\ufffd",
        "b",
    ]


@pytest.mark.parametrize("depth", [500, 5_000])
def test_an_item_that_is_nested_too_deep_is_cut(opened, depth):
    deep = "[" * depth + "]" * depth
    first, second = opened(f'{{"rows": [{deep}, 1]}}').rows()

    assert "[cut: " in str(first.data)
    assert second.data == 1


@pytest.mark.parametrize("text", ["", "[]", "7", '"text"', "{", b"\xff\xfe\x00"])
def test_what_is_no_document_is_one_unreadable(opened, text):
    assert isinstance(opened(text), Unreadable)
