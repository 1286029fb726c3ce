"""Where the rows of a table of one's own are: nested runs, one attempt per file, wide tables; headline and judges."""

import json
from pathlib import Path
from typing import Any

import pytest

from errata import sources
from errata.errors import SettingsError, SourceError
from errata.model import Attempt, Run, Unreadable
from errata.sources import generic

RESULTS = [{"id": "a", "ok": True}, {"id": "b", "ok": False}]


def items_of(folder: Path, content: Any, mapping: str, *, name: str = "log.json") -> list[Any]:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    path.with_name(f"{name}.map.toml").write_text(mapping, encoding="utf-8")
    return list(generic.read(path))


def attempts(items: list[Any]) -> list[Attempt]:
    return [item for item in items if isinstance(item, Attempt)]


def runs(items: list[Any]) -> list[Run]:
    return list({item.id: item for item in items if isinstance(item, Run)}.values())


def by_model(items: list[Any]) -> list[tuple[str, str, str]]:
    models = {run.id: run.subject.model for run in runs(items)}
    return [(models[attempt.run], attempt.case, attempt.outcome) for attempt in attempts(items)]


CASE = '[case]\nname = "id"\n[attempt]\npassed = "ok"\n'


@pytest.mark.req("B-31")
def test_a_nested_list_of_runs_gives_a_run_for_each(tmp_path: Path):
    document = {"runs": [{"model": "m1", "results": RESULTS}, {"model": "m2", "results": RESULTS[:1]}]}
    items = items_of(tmp_path, document, f'rows = "runs[].results[]"\n[run]\nmodel = {{ column = "^model" }}\n{CASE}')

    assert by_model(items) == [("m1", "a", "pass"), ("m1", "b", "fail"), ("m2", "a", "pass")]
    assert [str(attempt.ref) for attempt in attempts(items)][-1] == "log.json#/runs/1/results/0"


@pytest.mark.parametrize("rows", ["runs[].results[]", "runs[].results"])
def test_the_last_brackets_may_be_left_out(tmp_path: Path, rows: str):
    document = {"runs": [{"model": "m1", "results": RESULTS}]}

    assert len(attempts(items_of(tmp_path, document, f'rows = "{rows}"\n{CASE}'))) == 2


def test_fields_of_the_document_and_of_the_object_around_the_rows_are_columns(tmp_path: Path):
    document = {"config": {"suite": "s"}, "tasks": [{"task": "t1", "trials": [{"ok": 1}, {"ok": 0}]}]}
    mapping = 'suite = { column = "$.config.suite" }\nrows = "tasks[].trials[]"\n[case]\nname = "^task"\n[attempt]\n'
    found = attempts(items_of(tmp_path, document, f'{mapping}passed = "ok"'))

    assert [(attempt.case, attempt.index, attempt.outcome) for attempt in found] == [
        ("s/t1", 1, "pass"),
        ("s/t1", 2, "fail"),
    ]


def test_lists_inside_json_lines_are_rows(tmp_path: Path):
    lines = "".join(json.dumps({"task": name, "trials": [{"ok": 1}, {"ok": 0}]}) + "\n" for name in "ab")
    mapping = 'rows = "trials[]"\n[case]\nname = "^task"\n[attempt]\npassed = "ok"'
    found = attempts(items_of(tmp_path, lines, mapping, name="log.jsonl"))

    assert [(attempt.case, str(attempt.ref)) for attempt in found][2:] == [
        ("b", "log.jsonl:2#/trials/0"),
        ("b", "log.jsonl:2#/trials/1"),
    ]


def test_a_line_without_its_list_is_unreadable(tmp_path: Path):
    content = '{"settings": 1}\n{"task": "a", "trials": [{"ok": 1}]}\n{"task": "b", "trials": []}\n'
    mapping = 'rows = "trials[]"\n[case]\nname = "^task"\n[attempt]\npassed = "ok"'
    items = items_of(tmp_path, content, mapping, name="log.jsonl")

    assert len(attempts(items)) == 1
    assert [(item.where, item.why) for item in items if isinstance(item, Unreadable)] == [
        ("log.jsonl:1#/trials", "there are no rows here")
    ]


def test_plain_values_by_key_are_rows(tmp_path: Path):
    mapping = 'rows = "results"\n[case]\nname = "@key"\n[attempt]\npassed = "@value"'
    found = attempts(items_of(tmp_path, {"results": {"t1": True, "t2": "fail"}}, mapping))

    assert [(attempt.case, attempt.outcome) for attempt in found] == [("t1", "pass"), ("t2", "fail")]


@pytest.mark.parametrize("document", [{"id": "a", "ok": True}, {"id": {"x": 1}, "ok": {"x": True}}])
def test_a_document_that_is_one_attempt_is_read(tmp_path: Path, document: dict[str, Any]):
    passed = "ok" if document["ok"] is True else "ok.x"
    items = items_of(tmp_path, document, f'rows = "."\n[case]\nname = "id"\n[attempt]\npassed = "{passed}"')

    assert [attempt.outcome for attempt in attempts(items)] == ["pass"]


def test_a_document_without_rows_there_is_refused_with_the_places_of_its_lists(tmp_path: Path):
    with pytest.raises(SettingsError) as caught:
        items_of(tmp_path, {"results": {"items": RESULTS}}, f'rows = "results"\n{CASE}')

    assert caught.value.hint == 'it has rows at `rows = "results.items"`'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for model in ("alpha", "beta"):
        (tmp_path / "runs" / model).mkdir(parents=True)
        for number in (1, 2):
            path = tmp_path / "runs" / model / f"t{number}.json"
            path.write_text(json.dumps({"ok": number == 1, "steps": {}}), encoding="utf-8")
    return tmp_path / "runs"


MAPPING = 'files = "*/*.json"\n[run]\nmodel = { column = "@folder" }\n[case]\nname = "@file"\n[attempt]\npassed = "ok"'


def test_files_with_one_attempt_each_are_one_table(folder: Path):
    (folder / "errata.map.toml").write_text(MAPPING, encoding="utf-8")
    [match] = sources.find(folder)
    items = list(sources.read(match))

    assert match.path == folder
    assert by_model(items) == [
        ("alpha", "t1", "pass"),
        ("alpha", "t2", "fail"),
        ("beta", "t1", "pass"),
        ("beta", "t2", "fail"),
    ]
    assert str(attempts(items)[-1].ref) == "beta/t2.json"


def test_a_damaged_file_among_them_is_unreadable(folder: Path):
    (folder / "errata.map.toml").write_text(MAPPING, encoding="utf-8")
    (folder / "beta" / "t2.json").write_text('{"ok": tr', encoding="utf-8")
    items = list(generic.read(folder))

    assert len(attempts(items)) == 3
    assert [item.where for item in items if isinstance(item, Unreadable)] == ["beta/t2.json"]


def test_a_pattern_that_matches_no_file_is_refused(folder: Path):
    (folder / "errata.map.toml").write_text(MAPPING.replace("*/*.json", "*.jsonx"), encoding="utf-8")

    with pytest.raises(SourceError, match=r"matches `\*\.jsonx`"):
        list(generic.read(folder))


def test_a_given_mapping_with_files_reads_a_folder_as_one_table(folder: Path, tmp_path: Path):
    (tmp_path / "my.toml").write_text(MAPPING, encoding="utf-8")

    assert len(runs(list(generic.with_map(tmp_path / "my.toml").read(folder)))) == 2


WIDE = "task,note,gpt_ok,gpt_text,bert_ok,bert_text\nt1,x,1,yes,0,no\nt2,y,0,oh,1,ah\n"


def test_a_table_with_columns_for_each_model_gives_an_attempt_for_each(tmp_path: Path):
    mapping = (
        'models = ["gpt", "bert"]\n[case]\nname = "task"\n[attempt]\npassed = "{model}_ok"\noutput = "{model}_text"'
    )
    items = items_of(tmp_path, WIDE, mapping, name="log.csv")

    assert by_model(items) == [
        ("gpt", "t1", "pass"),
        ("bert", "t1", "fail"),
        ("gpt", "t2", "fail"),
        ("bert", "t2", "pass"),
    ]
    assert [attempt.output.text for attempt in attempts(items)] == ["yes", "no", "oh", "ah"]
    assert attempts(items)[0].extra["columns"] == {"note": "x"}


def test_a_model_without_its_column_is_refused_by_name(tmp_path: Path):
    mapping = 'models = ["gpt", "bart"]\n[case]\nname = "task"\n[attempt]\npassed = "{model}_ok"'
    with pytest.raises(SettingsError) as caught:
        items_of(tmp_path, WIDE, mapping, name="log.csv")

    assert caught.value.message == "`log.csv` has no column `bart_ok` (`{model}_ok`)"
