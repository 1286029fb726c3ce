"""Mappings that are wrong say what would be right; odd values cost no row; any format is known by its content."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.length import LONG

from errata.errors import ErrataError, SettingsError, SourceError
from errata.model import Attempt, Run, Unreadable
from errata.sources import generic
from errata.sources.generic import tables

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources" / "generic"
SMALL = '[case]\nname = "id"\n[attempt]\n'


def read(folder: Path, rows: list[Any] | str | bytes, attempt: str, *, name: str = "log") -> list[Any]:
    """What comes of rows under `[attempt]` lines; text and bytes are written as they stand."""
    path, mapping = folder / name, folder / "map.toml"
    content = "".join(json.dumps(row) + "\n" for row in rows) if isinstance(rows, list) else rows
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    mapping.write_text(SMALL + attempt if "[case]" not in attempt else attempt, encoding="utf-8")
    return list(generic.with_map(mapping).read(path))


def one(folder: Path, row: dict[str, Any], attempt: str) -> Attempt:
    (found,) = [item for item in read(folder, [{"id": 1, **row}], attempt) if isinstance(item, Attempt)]
    return found


def refusal(folder: Path, rows: list[Any] | str, attempt: str) -> ErrataError:
    with pytest.raises(SettingsError) as caught:
        read(folder, rows, attempt)
    return caught.value


def test_an_unknown_key_is_refused_with_the_nearest(tmp_path: Path):
    error = refusal(tmp_path, [{"id": 1}], 'outptu = "a"')

    assert error.message == "`map.toml` has an unknown key in `[attempt]`: `outptu`"
    assert error.hint.startswith("did you mean `output`? Valid keys: index,")


def test_an_unknown_section_is_refused(tmp_path: Path):
    assert "`check`" in refusal(tmp_path, [{"id": 1}], '[check]\na = "b"').message


def test_a_wrong_type_in_the_mapping_is_refused_with_its_place(tmp_path: Path):
    assert "$.attempt.threshold" in refusal(tmp_path, [{"id": 1}], 'score = "a"\nthreshold = "high"').message


def test_a_mapping_that_names_no_case_is_refused(tmp_path: Path):
    assert "no column for the name of the case" in refusal(tmp_path, [{"id": 1}], '[case]\ntags = "a"').message


def test_a_threshold_without_a_score_is_refused(tmp_path: Path):
    assert "no `score`" in refusal(tmp_path, [{"id": 1}], "threshold = 1").message


def test_a_missing_column_is_refused_with_the_nearest_and_all_others(tmp_path: Path):
    error = refusal(tmp_path, [{"id": 1, "answer": "a"}, {"id": 2, "score": 1}], 'output = "anwser"')

    assert error.message == "`log` has no column `anwser` (`[attempt] output`)"
    assert error.hint.startswith("did you mean `answer`? It has: answer, id, score\n")


def test_a_document_without_rows_is_refused_with_the_places_that_have_some(tmp_path: Path):
    document = json.dumps({"a": {"b": [{"id": 1}]}}, indent=1)

    assert refusal(tmp_path, document, "").hint == 'it has rows at `rows = "a.b"`'


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (True, "pass"),
        (False, "fail"),
        (1, "pass"),
        (0, "fail"),
        ("yes", "pass"),
        ("no", "fail"),
        ("PASS", "pass"),
        ("Failed", "fail"),
        ("C", "pass"),
        ("I", "fail"),
        ("1", "pass"),
        (None, "none"),
        ("", "none"),
        ("perhaps", "none"),
        (2, "none"),
    ],
)
def test_passed_may_be_said_in_many_ways(tmp_path: Path, value: Any, outcome: str):
    assert one(tmp_path, {"ok": value}, 'passed = "ok"').outcome == outcome


def test_a_word_that_is_neither_yes_nor_no_is_kept(tmp_path: Path):
    attempt = one(tmp_path, {"ok": "perhaps"}, 'passed = "ok"')

    assert (attempt.measurement, attempt.native_status) == ("unscored", "perhaps")
    assert attempt.extra == {"not_understood": {"passed": "perhaps"}}


def test_one_column_may_say_both_the_verdict_and_the_status(tmp_path: Path):
    attempt = one(tmp_path, {"state": "crashed"}, 'passed = "state"\n[status_words]\nerror = ["crashed"]')

    assert (attempt.execution, attempt.measurement, attempt.extra) == ("error", "not_run", {})


def test_a_log_without_any_score_was_not_measured(tmp_path: Path):
    attempt = one(tmp_path, {"a": "hello"}, 'output = "a"')

    assert (attempt.execution, attempt.measurement, attempt.outcome) == ("completed", "not_run", "none")


def test_a_crash_that_was_given_a_score_has_no_outcome(tmp_path: Path):
    attempt = one(tmp_path, {"ok": False, "error": "ValueError: no"}, 'passed = "ok"\nerror = "error"')

    assert (attempt.execution, attempt.measurement, attempt.outcome, attempt.reported) == ("error", "scored", "none", 0)
    assert (attempt.errors[0].type, attempt.errors[0].message) == ("ValueError", "no")


def test_a_traceback_gives_the_type_and_message_of_its_last_line(tmp_path: Path):
    text = 'Traceback (most recent call last):\n  File "a.py", line 1\nopenai.RateLimitError: slow\n'
    (error,) = one(tmp_path, {"error": text}, 'error = "error"').errors

    assert (error.type, error.message, error.traceback) == ("openai.RateLimitError", "slow", text)


def test_a_broken_scorer_leaves_no_outcome(tmp_path: Path):
    attempt = one(tmp_path, {"ok": False, "why": "judge timed out"}, 'passed = "ok"\nscoring_error = "why"')

    assert (attempt.execution, attempt.measurement, attempt.outcome) == ("completed", "error", "none")


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"a": True, "b": 4}, "pass"),
        ({"a": True, "b": 2}, "fail"),
        ({"a": None, "b": 4}, "pass"),
        ({"a": None, "b": None}, "none"),
    ],
)
@pytest.mark.trap(9)
def test_checks_alone_decide_where_all_that_apply_must_pass(tmp_path: Path, row: dict[str, Any], outcome: str):
    attempt = one(tmp_path, row, '[checks]\na = "a"\nb = { column = "b", threshold = 3 }')

    assert attempt.outcome == outcome
    assert attempt.measurement == ("scored" if outcome != "none" else "unscored")


def test_a_check_with_a_number_and_no_threshold_counts_for_nothing(tmp_path: Path):
    (check,) = one(tmp_path, {"b": 3.5, "ok": True}, 'passed = "ok"\n[checks]\nb = "b"').checks

    assert (check.status, check.value, check.counts) == ("number", 3.5, False)


@pytest.mark.parametrize("value", ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00+01:00", 1772359200, 1772359200000])
def test_times_may_be_iso_or_since_1970(tmp_path: Path, value: Any):
    assert one(tmp_path, {"t": value}, 'started_at = "t"').started_at == "2026-03-01T10:00:00Z"


def test_a_value_that_is_not_understood_costs_no_row(tmp_path: Path):
    attempt = one(tmp_path, {"t": "yesterday", "n": "many"}, 'started_at = "t"\ninput_tokens = "n"')

    assert attempt.extra["not_understood"] == {"started_at": "yesterday", "input": "many"}


@pytest.mark.trap(13)
def test_infinities_are_kept_as_text(tmp_path: Path):
    rows = '{"id": 1, "cop": Infinity, "s": NaN, "deep": [-Infinity]}\n'
    (attempt,) = [item for item in read(tmp_path, rows, 'score = "s"') if isinstance(item, Attempt)]

    assert (attempt.measurement, attempt.reported) == ("unscored", None)
    assert attempt.extra["columns"] == {"cop": "Infinity", "deep": ["-Infinity"]}


def test_long_columns_that_nobody_asked_for_are_cut(tmp_path: Path):
    kept = one(tmp_path, {"log": "x" * 50_000}, "").extra["columns"]["log"]

    assert kept.endswith("… [30000 characters more]")


@pytest.mark.trap(20)
def test_of_environment_variables_only_the_names_are_kept(tmp_path: Path):
    attempt = one(tmp_path, {"env": {"TOKEN": "secret"}, "setup": {"env": {"A": "b"}}}, "")

    assert attempt.extra["columns"] == {"env": ["TOKEN"], "setup": {"env": ["A"]}}


def test_without_an_output_the_last_assistant_message_is_the_answer(tmp_path: Path):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"type": "text", "text": "Ho"}]}]
    attempt = one(tmp_path, {"m": messages}, 'messages = "m"')

    assert attempt.output.text == "Ho"


def test_messages_in_parts_keep_thoughts_calls_and_pictures(tmp_path: Path):
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Look"},
        {"type": "image", "url": "x"},
        {"type": "tool_use", "id": "t1", "name": "see", "input": {"a": 1}},
    ]
    answer = [{"type": "tool_result", "tool_use_id": "t1", "content": "a cat", "is_error": False}]
    messages = [{"role": "assistant", "content": content}, {"role": "user", "content": answer}]
    call, result = one(tmp_path, {"m": messages}, 'messages = "m"').steps

    assert (call.text, call.reasoning, call.parts) == ("Look", "hm", ({"type": "image", "url": "x"},))
    assert (call.tool_calls[0].name, call.tool_calls[0].arguments) == ("see", {"a": 1})
    assert (result.kind, result.text, result.parent) == ("tool_result", "a cat", 0)


@pytest.mark.parametrize("messages", [7, "text", [None, 3, {}, {"role": 1}, {"role": "x", "content": {"a": 1}}], {}])
def test_odd_messages_cost_no_row(tmp_path: Path, messages: Any):
    assert one(tmp_path, {"m": messages}, 'messages = "m"').id


def test_a_column_whose_name_has_dots_goes_before_a_path(tmp_path: Path):
    assert one(tmp_path, {"a.b": "flat", "a": {"b": "deep"}}, 'output = "a.b"').output.text == "flat"


@pytest.mark.parametrize(
    "content",
    [
        "id,ok\n1,yes\n",
        "id\tok\n1\tyes\n",
        '\ufeffid;ok\r\n"1";"yes"\r\n',
        '{"id": 1, "ok": true}',
        '{"id": 1, "ok": true}\n\n',
        '[{"id": 1, "ok": true}]',
        '[\n {\n  "id": 1,\n  "ok": true\n }\n]',
    ],
)
def test_content_decides_the_format(tmp_path: Path, content: str):
    run, attempt = read(tmp_path, content, 'passed = "ok"', name="results.parquet")

    assert isinstance(run, Run)
    assert (attempt.case, attempt.outcome) == ("1", "pass")


def test_rows_may_lie_in_an_object_under_their_names(tmp_path: Path):
    mapping = 'rows = "."\n[case]\nname = "@key"\n[attempt]\npassed = "ok"'
    _, first, second = read(tmp_path, '{"a": {"ok": true},\n "b": {"ok": false}}', mapping)

    assert [(first.case, str(first.ref)), (second.case, str(second.ref))] == [("a", "log#/a"), ("b", "log#/b")]


def test_a_run_comes_first_even_where_its_model_stands_in_a_later_row(tmp_path: Path):
    mapping = '[run]\nmodel = { column = "m" }\n[case]\nname = "id"'
    run, bad, attempt = read(tmp_path, '{"id": 1\n{"id": 2, "m": "x"}\n', mapping)

    assert (run.subject.model, type(bad), attempt.case) == ("x", Unreadable, "2")


def test_a_folder_is_one_run_for_each_of_its_data_files(tmp_path: Path):
    (tmp_path / "map.toml").write_text('[run]\nname = "all"\n' + SMALL, encoding="utf-8")
    for name in ("b.csv", "a.csv", "notes.txt", ".hidden.csv"):
        (tmp_path / name).write_text("id\n1\n", encoding="utf-8")
    source = generic.with_map(tmp_path / "map.toml")

    assert source.recognise(tmp_path) is not None
    assert [item.native_id for item in source.read(tmp_path) if isinstance(item, Run)] == ["a", "b"]


def test_a_folder_without_data_is_refused(tmp_path: Path):
    (tmp_path / "map.toml").write_text(SMALL, encoding="utf-8")

    with pytest.raises(SourceError, match="No data files in"):
        list(generic.with_map(tmp_path / "map.toml").read(tmp_path))


def a_parquet(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(
        {
            "id": ["a", "b", None],
            "ok": [True, None, True],
            "score": [0.5, float("nan"), 1.0],
            "usage": [{"in": 3}, None, None],
            "cost": [Decimal("0.25"), None, None],
            "at": [datetime(2026, 3, 1, 10, tzinfo=UTC), None, None],
        }
    )
    pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=2)


PARQUET_MAP = 'passed = "ok"\nscore = "score"\ninput_tokens = "usage.in"\ncost = "cost"\nstarted_at = "at"'


def test_parquet_is_read_by_row_group(tmp_path: Path):
    a_parquet(tmp_path / "made")
    run, first, second, third, again = read(tmp_path, (tmp_path / "made").read_bytes(), PARQUET_MAP)

    assert (run.id, again.started_at) == (again.id, "2026-03-01T10:00:00Z")
    assert (first.outcome, first.usage.subject.input, first.usage.cost) == ("pass", 3, 0.25)
    assert (second.measurement, str(second.ref)) == ("unscored", "log#/1")
    assert (third.why, third.where) == ("the row has no case name and no input", "log#/2")


def test_damaged_parquet_is_unreadable(tmp_path: Path):
    a_parquet(tmp_path / "made")
    whole = (tmp_path / "made").read_bytes()
    for length in range(0, len(whole), 97):
        items = read(tmp_path, whole[: length + 4], PARQUET_MAP)

        assert isinstance(items[-1], Unreadable)


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_module(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(tables, "import_module", no_module)

    with pytest.raises(SourceError) as caught:
        read(tmp_path, b"PAR1", 'passed = "ok"')
    assert "errata[parquet]" in caught.value.hint


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/data/*/*.*[lvn]")), ids=lambda path: path.name)
def test_damaged_copies_are_read_or_refused_with_words(tmp_path: Path, path: Path):
    for beside in path.parent.iterdir():
        (tmp_path / beside.name).write_bytes(beside.read_bytes())
    whole, copy = path.read_bytes(), tmp_path / path.name
    log = next(file for file in tmp_path.iterdir() if file.suffix != ".toml")
    for place in range(0, len(whole), max(1, len(whole) // (150 if LONG else 40))):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]):
            copy.write_bytes(damaged)
            generic.recognise(log)
            try:
                found = list(generic.read(log))
            except SettingsError as error:
                assert error.hint
            else:
                assert found == list(generic.read(log))
                assert isinstance(found[0], Run)


def test_numbers_beyond_64_bits_are_kept_as_text(tmp_path: Path):
    attempt = one(tmp_path, {"seed": 2**64, "big": -(2**64)}, 'seed = "seed"')

    assert attempt.extra == {
        "not_understood": {"seed": "18446744073709551616"},
        "columns": {"big": "-18446744073709551616"},
    }
