"""What all sources share: files of strangers are read row by row, and nothing in them stops the reading."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Attempt, SourceRef, Unreadable
from errata.sources import base, json_values
from errata.sources.base import (
    DEPTH_CAP,
    Row,
    convert_each,
    csv_rows,
    decode,
    describe,
    json_file,
    json_lines,
    number_or_none,
    relative,
    text_file,
)
from errata.testing import an_attempt


def lines_of(tmp_path, content, **options):
    (tmp_path / "rows.jsonl").write_bytes(content)
    return list(json_lines(tmp_path / "rows.jsonl", source="test", root=tmp_path, **options))


def table_of(tmp_path, content):
    (tmp_path / "rows.csv").write_bytes(content)
    return list(csv_rows(tmp_path / "rows.csv", source="test", root=tmp_path))


def document_of(tmp_path, content):
    (tmp_path / "run.json").write_bytes(content)
    return json_file(tmp_path / "run.json", source="test", root=tmp_path)


def told(items):
    """Data of the rows, and `line: why` of what could not be read."""
    return [one.data if isinstance(one, Row) else f"{one.ref.line}: {one.why}" for one in items]


def kinds(items):
    return "".join("." if isinstance(one, Row) else "X" for one in items)


# --- JSON lines ---


def test_each_line_is_a_row_with_its_place(tmp_path):
    rows = lines_of(tmp_path, b'{"a": 1}\n[2]\n"three"\n')

    assert rows == [
        Row({"a": 1}, SourceRef(file="rows.jsonl", line=1)),
        Row([2], SourceRef(file="rows.jsonl", line=2)),
        Row("three", SourceRef(file="rows.jsonl", line=3)),
    ]


def test_a_half_written_last_line_is_unreadable_and_the_rest_is_kept(tmp_path):
    *rows, last = lines_of(tmp_path, b'{"a": 1}\n{"a": 2}\n{"a": ')

    assert told(rows) == [{"a": 1}, {"a": 2}]
    assert (last.where, last.source, last.excerpt) == ("rows.jsonl:3", "test", '{"a":')


def test_a_bad_line_in_the_middle_is_one_unreadable(tmp_path):
    assert kinds(lines_of(tmp_path, b"1\nnot json\n{}\n{]\n2\n")) == ".X.X."


@pytest.mark.parametrize("blank", [b"\n", b"  \n", b"\t\n", b"\r\n"])
def test_blank_lines_are_passed_over_and_counted(tmp_path, blank):
    rows = lines_of(tmp_path, b"1\n" + blank + b"2\n")

    assert [(row.data, row.ref.line) for row in rows] == [(1, 1), (2, 3)]


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path):
    assert told(lines_of(tmp_path, b'\xef\xbb\xbf{"a": 1}\n2\n')) == [{"a": 1}, 2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_text_with_a_byte_order_mark_is_read(tmp_path, encoding):
    content = '{"a": "Zürich"}\r\n\n{"a": "ਊ"}\n'.encode(encoding)

    assert told(lines_of(tmp_path, content)) == [{"a": "Zürich"}, {"a": "ਊ"}]
    assert [row.ref.line for row in lines_of(tmp_path, content)] == [1, 3]
    assert document_of(tmp_path, '{"a": "ਊ"}'.encode(encoding)).data == {"a": "ਊ"}
    assert json_values.in_utf_8('{"a"'.encode(encoding)) == b'{"a"'


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_another_encoding_is_named_as_what_is_wrong(tmp_path, encoding):
    items = lines_of(tmp_path, '{"a": 1}\n{"a": 2}\n'.encode(encoding))

    assert set(kinds(items)) == {"X"}
    assert "UTF-16" in items[0].why


@pytest.fixture
def noted():
    """What is noted about rows that were read in part: their places and the reasons."""
    before = base.losses.get()
    base.losses.set(found := {})
    yield lambda: [f"{item.where} {item.why}" for item in found.values()]
    base.losses.set(before)


def test_a_wrong_byte_costs_one_character_and_is_noted_with_its_place(tmp_path, noted):
    items = lines_of(tmp_path, b'{"a": "ok"}\n{"a": "Z\xfcrich"}\n{"a": "ok"}\n')

    assert told(items) == [{"a": "ok"}, {"a": "Z\ufffdrich"}, {"a": "ok"}]
    assert noted() == ["rows.jsonl:2 not UTF-8: invalid start byte at byte 8; 1 character was replaced by \ufffd"]


def test_a_damaged_character_in_a_document_costs_the_character(tmp_path, noted):
    assert document_of(tmp_path, b'{"a": "x\\ud800y", "\\udc00": [NaN, {"b": "\\ud83d\\ude00"}]}').data.keys() == {
        "a",
        "\ufffd",
    }
    assert noted() == ["run.json half of a surrogate pair; 2 characters were replaced by \ufffd"]


@pytest.fixture
def short_lines(monkeypatch):
    monkeypatch.setattr(base, "LINE_CAP", 100)


@pytest.mark.parametrize(("size", "readable"), [(99, True), (100, True), (101, False), (250, False), (1000, False)])
@pytest.mark.parametrize("end", [b"\n", b""], ids=["with an end", "at the end of the file"])
def test_a_line_over_the_cap_is_one_unreadable(tmp_path, short_lines, size, readable, end):
    long = b'"' + b"x" * (size - 2) + b'"'

    items = lines_of(tmp_path, b"1\n" + long + end)

    assert kinds(items) == (".." if readable else ".X")


def test_what_follows_an_over_long_line_is_read_with_its_number(tmp_path, short_lines):
    items = lines_of(tmp_path, b"1\n" + b"x" * 1000 + b"\n3\n" + b"y" * 101 + b"\n5\n")

    assert [(one.ref.line, isinstance(one, Row)) for one in items] == [
        (1, True),
        (2, False),
        (3, True),
        (4, False),
        (5, True),
    ]


def test_an_over_long_line_is_quoted_only_in_part(tmp_path, short_lines):
    (item,) = lines_of(tmp_path, b"x" * 1000)

    assert len(item.excerpt) <= base.EXCERPT
    assert "longer than" in item.why


# --- depth ---


def nested(depth, kind="["):
    one = {"[": ("[", "]"), "{": ('{"a":', "}"), "mixed": ('[{"a":', "}]")}[kind]
    times = depth // 2 if kind == "mixed" else depth
    return (one[0] * times + ("[]" if kind == "{" or (depth % 2 and kind == "mixed") else "") + one[1] * times).encode()


@pytest.mark.parametrize("depth", [DEPTH_CAP + 1, DEPTH_CAP * 2, 5_000, 200_000])
@pytest.mark.parametrize("kind", ["[", "{"])
def test_json_nested_too_deep_is_cut(tmp_path, depth, kind):
    first, deep, last = lines_of(tmp_path, b"1\n" + nested(depth, kind) + b"\n2\n")

    assert (first.data, last.data) == (1, 2)
    assert f"[cut: nested deeper than {DEPTH_CAP} levels]" in json.dumps(deep.data)


def test_json_nested_too_deep_beside_a_bare_constant_is_cut(tmp_path):
    items = lines_of(tmp_path, b"1\n[NaN," + nested(100_000) + b"]\n2\n")

    assert kinds(items) == "..."


def test_brackets_in_a_text_are_not_depth(tmp_path):
    assert kinds(lines_of(tmp_path, json.dumps({"a": "[" * 1500 + "]" * 1500}).encode())) == "."


class Usual(msgspec.Struct):
    number: int
    anything: Any = None


def test_rows_of_the_usual_form_come_in_their_type_and_others_as_they_are(tmp_path):
    rows = lines_of(
        tmp_path, b'\xef\xbb\xbf{"number": 1}\n{"number": 2}\n{"number": "x"}\n{"number": NaN}\n{', usual=Usual
    )

    assert [type(row).__name__ for row in rows] == ["Row"] * 4 + ["Unreadable"]
    assert [type(row.data).__name__ for row in rows[:4]] == ["dict", "Usual", "dict", "dict"]


@pytest.mark.parametrize("depth", [DEPTH_CAP + 1, 400, 100_000])
def test_a_row_of_the_usual_form_may_not_be_nested_deeper_either(tmp_path, depth):
    (row,) = lines_of(tmp_path, b'{"number": 1, "anything": ' + nested(depth) + b"}\n", usual=Usual)

    assert (row.data["number"], "[cut: " in str(row.data["anything"])) == (1, True)


# --- numbers ---


@pytest.mark.trap(13)
def test_bare_nan_and_infinity_are_read(tmp_path):
    (row,) = lines_of(tmp_path, b'{"nan": NaN, "inf": Infinity, "minus": -Infinity, "text": "NaN"}')

    assert math.isnan(row.data["nan"])
    assert (row.data["inf"], row.data["minus"], row.data["text"]) == (math.inf, -math.inf, "NaN")


@pytest.mark.trap(13)
def test_a_broken_row_with_nan_in_it_is_one_unreadable(tmp_path):
    assert kinds(lines_of(tmp_path, b'1\n{"a": NaN, \n2\n')) == ".X."


@pytest.mark.parametrize("digits", [19, 20, 31, 300, 400, 4_000, 6_000])
@pytest.mark.parametrize("beside", [b"1", b"NaN"], ids=["plain", "beside NaN"])
def test_a_huge_integer_costs_at_most_itself(tmp_path, digits, beside, noted):
    items = lines_of(tmp_path, b"[1]\n[" + beside + b"," + b"9" * digits + b', "kept"]\n[2]\n')

    assert (len(items), items[0].data, items[1].data[2], items[2].data) == (3, [1], "kept", [2])
    lost = number_or_none(items[1].data[1]) is None and not isinstance(items[1].data[1], int)
    assert noted() == ([f"rows.jsonl:2 a number of {digits:,} digits was left out"] if lost else [])
    assert lost == (digits > 4_300)


@pytest.mark.parametrize("beside", [b"1", b"NaN"])
def test_a_number_beyond_every_float_costs_itself(tmp_path, beside, noted):
    (row,) = lines_of(tmp_path, b"[" + beside + b", 1e999, 2]")

    assert (number_or_none(row.data[1]), row.data[2]) == (None, 2)
    assert noted() == ["rows.jsonl:1 the number 1e999 was left out: it is too large"]


@pytest.mark.req("B-89")
@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\\ud800\\ud800"', b'[NaN, "\\udfff"]'])
def test_a_lone_surrogate_costs_one_character(tmp_path, text, noted):
    items = lines_of(tmp_path, b"1\n" + text + b"\n2\n")

    assert kinds(items) == "..."
    assert "\ufffd" in str(items[1].data)
    assert "half of a surrogate pair" in noted()[0]


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_value_error(data):
    try:
        decode(data)
    except ValueError as error:
        assert describe(error)


@pytest.mark.trap(13)
@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (0.5, 0.5),
        ("0.5", 0.5),
        (" 7 ", 7.0),
        ("1e3", 1000.0),
        (0, 0.0),
        (None, None),
        ("", None),
        ("n/a", None),
        (True, None),
        (False, None),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        ("NaN", None),
        ("-Infinity", None),
        ("1e999", None),
        (10**400, None),
        ([], None),
        ({}, None),
        ("2024_01", None),
        ("1,5", None),
    ],
    ids=repr,
)
def test_a_number_is_finite_or_none(value, number):
    value = number_or_none(value), number

    assert value[0] == value[1]


# --- whole documents ---


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "truncated"),
        (b'{"a": ', "truncated"),
        (b"{} {}", "trailing"),
        (b"{\x00}\x00", "UTF-16"),
        (b'{"a": "\xff"', "not UTF-8"),
        (b"[" * 200_000, "truncated"),
    ],
    ids=["empty", "cut off", "two", "UTF-16", "wrong byte", "never closed"],
)
def test_a_document_that_can_not_be_read_says_why(tmp_path, content, why):
    item = document_of(tmp_path, content)

    assert isinstance(item, Unreadable)
    assert why in item.why


def test_a_document_over_the_cap_is_not_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "FILE_CAP", 10)

    assert "larger than" in document_of(tmp_path, b"[" + b" " * 20 + b"]").why


# --- places that can't be opened ---

NO_FILES = {"missing": "none", "below a file": "file/none", "a folder": "folder", "too long": "x" * 5000, "odd": "a\0b"}


@pytest.fixture(params=NO_FILES.values(), ids=NO_FILES.keys())
def no_file(request, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    return tmp_path / request.param


def test_lines_of_a_file_that_can_not_be_opened_are_one_unreadable(no_file, tmp_path):
    assert kinds(json_lines(no_file, source="test", root=tmp_path)) == "X"


def test_rows_of_a_file_that_can_not_be_opened_are_one_unreadable(no_file, tmp_path):
    assert kinds(csv_rows(no_file, source="test", root=tmp_path)) == "X"


def test_a_document_that_can_not_be_opened_is_unreadable(no_file, tmp_path):
    assert isinstance(json_file(no_file, source="test", root=tmp_path), Unreadable)


# --- tables ---


def test_each_line_of_a_table_is_a_row_by_its_header(tmp_path):
    assert told(table_of(tmp_path, b'\xef\xbb\xbfa,b\r\n1,"x, y"\r\n2,\r\n')) == [
        {"a": "1", "b": "x, y"},
        {"a": "2", "b": ""},
    ]


def test_a_text_of_a_table_may_go_over_lines(tmp_path):
    assert told(table_of(tmp_path, b'a,b\n1,"x\ny"\n2,z\n')) == [{"a": "1", "b": "x\ny"}, {"a": "2", "b": "z"}]


@pytest.mark.parametrize("bad", [b"2", b"2,x,y"], ids=["too few", "too many"])
def test_a_row_with_another_number_of_cells_is_unreadable_and_the_rest_is_kept(tmp_path, bad):
    items = table_of(tmp_path, b"a,b\n1,x\n" + bad + b"\n3,y\n")

    assert kinds(items) == ".X."
    assert (items[1].why[:18], items[1].where) == ("2 columns expected", "rows.csv:3")


def test_a_wrong_byte_costs_one_character_of_a_table(tmp_path, noted):
    rows = table_of(tmp_path, b"a,b\n1,x\n2,\xff\n3,y\n")

    assert [row.data["b"] for row in rows] == ["x", "\ufffd", "y"]
    assert noted() == ["rows.csv:3 not UTF-8; each wrong byte was replaced by \ufffd"]


def test_a_wrong_quote_costs_one_row_of_a_table(tmp_path):
    assert kinds(table_of(tmp_path, b'a,b\n1,x\n2,"q"z\n3,y\n')) == ".X."


def test_a_table_in_utf_16_with_a_byte_order_mark_is_read(tmp_path):
    assert told(table_of(tmp_path, "a,b\n1,x\n2,y\n".encode("utf-16"))) == [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]


def test_a_table_in_another_encoding_is_unreadable(tmp_path):
    items = table_of(tmp_path, "a,b\n1,x\n2,y\n".encode("utf-16-le"))

    assert set(kinds(items)) == {"X"}
    assert "UTF" in items[0].why


@given(st.binary(max_size=80))
def test_any_bytes_are_rows_or_unreadable(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("any")

    for item in [*lines_of(folder, content), *table_of(folder, content), document_of(folder, content)]:
        assert isinstance(item, Row | Unreadable)


# --- texts ---


def test_the_text_of_a_file_has_its_wrong_bytes_replaced_and_plain_line_ends(tmp_path):
    (tmp_path / "a.log").write_bytes(b"one\r\ntw\xffo\n")

    assert text_file(tmp_path / "a.log") == "one\ntw\ufffdo\n"


# --- converting ---

ROWS = [Row({"n": number}, SourceRef(file="f", line=number + 1)) for number in range(4)]


def attempt(row):
    return an_attempt(index=10 // (2 - row.data["n"]))


def test_a_row_that_can_not_be_converted_is_one_unreadable_and_the_rest_goes_on():
    items = list(convert_each(ROWS, attempt, source="test"))

    assert [type(item) for item in items] == [Attempt, Attempt, Unreadable, Attempt]
    assert (items[2].where, items[2].excerpt) == ("f:3", '{"n": 2}')
    assert "ZeroDivisionError" in items[2].why


def test_a_row_that_fails_in_the_middle_of_a_generator_gives_nothing_but_an_unreadable():
    def convert(row):
        yield an_attempt(index=row.data["n"])
        yield attempt(row)

    items = list(convert_each(ROWS, convert, source="test"))

    assert [type(item) for item in items] == [Attempt] * 4 + [Unreadable] + [Attempt] * 2


def test_an_interrupt_is_no_unreadable_row():
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(convert_each(ROWS, interrupted, source="test"))


@pytest.mark.parametrize(
    "data",
    [math.nan, "\ud800", {1: object()}, [b"bytes"], "x" * 10_000],
    ids=("nan", "surrogate", "object", "bytes", "long"),
)
def test_any_row_can_be_quoted(data):
    (item,) = convert_each([Row(data, SourceRef(file="f"))], lambda _: 1 / 0, source="test")

    assert len(item.excerpt) <= base.EXCERPT


# --- small things ---


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        ("/logs/run/a/b.json", "/logs/run", "a/b.json"),
        ("/logs/b.json", "/logs/b.json", "b.json"),
        ("/elsewhere/b.json", "/logs", "b.json"),
    ],
)
def test_a_file_is_named_from_the_root_that_was_read(tmp_path, path, root, name):
    assert relative(tmp_path / path[1:], tmp_path / root[1:]) == name
