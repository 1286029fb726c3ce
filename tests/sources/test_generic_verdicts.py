"""Tables of one's own: the stated headline, verdicts of judges, sessions, and values that are not understood."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from errata.checkup import examine
from errata.compare.as_reported import as_reported
from errata.compare.trials import Trials
from errata.model import Attempt, Run
from errata.sources import generic

CASE = '[case]\nname = "id"\n[attempt]\n'
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def read(folder: Path, content: Any, mapping: str, *, name: str = "log.jsonl") -> tuple[Run, list[Attempt]]:
    """The run as it is announced last, and its attempts."""
    path = folder / name
    text = "".join(json.dumps(row) + "\n" for row in content) if isinstance(content, list) else content
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    path.with_name(f"{name}.map.toml").write_text(mapping, encoding="utf-8")
    items = list(generic.read(path))
    return [item for item in items if isinstance(item, Run)][-1], [item for item in items if isinstance(item, Attempt)]


def rows(*passed: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"c{number}", "ok": value, **more} for number, value in enumerate(passed)]


def score(run: Run, attempts: list[Attempt]):
    return as_reported(Trials(run, attempts))


@pytest.mark.parametrize(
    ("headline", "stated", "reproduced"),
    [("0.5", 0.5, True), ("50", 0.5, True), ('"50 %"', 0.5, True), ("0.75", 0.75, False)],
)
def test_a_headline_is_compared_with_the_rows(tmp_path: Path, headline: str, stated: float, reproduced: bool):
    run, attempts = read(tmp_path, rows(1, 0), f'[run]\nheadline = {headline}\n{CASE}passed = "ok"')
    found = score(run, attempts)

    assert (found.stated, found.reproduced) == (stated, reproduced)


def test_a_headline_may_be_a_path_in_the_document(tmp_path: Path):
    document = {"summary": {"acc": 0.5}, "results": rows(1, 0)}
    mapping = f'rows = "results"\n[run]\nheadline = {{ column = "$.summary.acc" }}\n{CASE}passed = "ok"'
    run, attempts = read(tmp_path, document, mapping, name="log.json")

    assert score(run, attempts).reproduced
    assert [(one.name, one.headline) for one in run.reported] == [("summary.acc", True)]


def test_each_run_has_the_headline_of_its_own_object(tmp_path: Path):
    groups = [{"model": "a", "acc": 1.0, "rows": rows(1, 1)}, {"model": "b", "acc": 0.5, "rows": rows(1, 0)}]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"runs": groups}), encoding="utf-8")
    path.with_name("log.json.map.toml").write_text(
        'rows = "runs[].rows[]"\n[run]\nmodel = { column = "^model" }\nheadline = { column = "^acc" }\n'
        f'{CASE}passed = "ok"',
        encoding="utf-8",
    )
    last = {item.id: item for item in generic.read(path) if isinstance(item, Run)}

    assert [run.reported[0].value for run in last.values()] == [1.0, 0.5]


def test_a_headline_on_the_scale_of_the_scores_is_no_percentage(tmp_path: Path):
    table = [{"id": "a", "points": 60}, {"id": "b", "points": 70}]
    run, attempts = read(tmp_path, table, f'[run]\nheadline = 65\n{CASE}score = "points"')

    assert score(run, attempts).reproduced


def test_a_headline_of_checks_counts_their_passes(tmp_path: Path):
    run, attempts = read(tmp_path, rows(1, 0), '[run]\nheadline = 0.5\n[case]\nname = "id"\n[checks]\nok = "ok"')

    assert score(run, attempts).reproduced


def test_a_check_of_a_judge_is_marked_as_such(tmp_path: Path):
    table = rows(True, grade=4, why="close enough")
    mapping = '[checks]\ngrade = { column = "grade", threshold = 3, judge = "gpt", explanation = "why" }'
    run, [attempt] = read(tmp_path, table, f'{CASE}passed = "ok"\n{mapping}')

    assert [(check.name, check.judge, check.status) for check in attempt.checks] == [
        ("grade", "gpt", "pass"),
        ("passed", "", "pass"),
    ]
    assert [(scorer.name, scorer.kind) for scorer in run.scorers] == [("ok", "code"), ("grade", "judge")]


@pytest.mark.parametrize(("judge", "name"), [("true", "jury-1"), ('"other"', "other")])
def test_the_judge_of_the_run_gives_the_verdict_where_none_is_named(tmp_path: Path, judge: str, name: str):
    mapping = f'[run]\njudge = "jury-1"\n{CASE}passed = {{ column = "ok", judge = {judge} }}'
    _, [attempt] = read(tmp_path, rows(False), mapping)

    assert [(check.name, check.judge, check.status) for check in attempt.checks] == [("passed", name, "fail")]


@pytest.mark.parametrize(
    "sessions", [(1, 1, 2), ("1", "1", "2"), ("mon", "mon", "tue"), ("1", 1, "2"), ("7a", "7a", 3)]
)
def test_sessions_are_distinguished_whether_numbers_or_names(tmp_path: Path, sessions: tuple[Any, ...]):
    table = [{"id": "a", "ok": 1, "session": value} for value in sessions]
    _, attempts = read(tmp_path, table, f'{CASE}passed = "ok"\nsession = "session"')
    first, second, third = attempts

    assert (first.session, first.index, second.session, second.index) == (first.session, 1, first.session, 2)
    assert (third.session != first.session, third.index) == (True, 1)
    assert not any("not_understood" in attempt.extra for attempt in attempts)


def test_the_name_of_a_session_is_kept(tmp_path: Path):
    _, [attempt] = read(tmp_path, rows(1, session="monday"), f'{CASE}passed = "ok"\nsession = "session"')

    assert (attempt.session, attempt.extra["session_name"]) == (1, "monday")


def test_values_that_are_not_understood_are_counted_by_run_and_checkup(tmp_path: Path):
    run, attempts = read(tmp_path, rows("maybe", "maybe", True), f'{CASE}passed = "ok"')
    findings = {one.name: one for one in examine(run, attempts, (), now=NOW)}

    assert run.extra["not_understood"] == {"passed": {"maybe": 2}}
    assert "2 × `maybe`" in findings["values_not_understood"].text


def test_a_column_that_could_be_two_is_pointed_out(tmp_path: Path):
    run, attempts = read(tmp_path, "id,ok,OK\na,1,0\n", f'{CASE}passed = "ok"', name="log.csv")
    findings = {one.name: one for one in examine(run, attempts, (), now=NOW)}

    assert run.extra["ambiguous_columns"] == ["`ok` or `OK`"]
    assert "`ok` or `OK`" in findings["ambiguous_columns"].text


def test_decimal_commas_are_read_where_the_mapping_has_them(tmp_path: Path):
    table = "id;punkte;dauer;kosten\na;0,75;1,5;1.234,50\n"
    mapping = f'decimal = ","\n{CASE}score = "punkte"\nthreshold = 0.5\nduration = "dauer"\ncost = "kosten"'
    _, [attempt] = read(tmp_path, table, mapping, name="log.csv")

    assert (attempt.outcome, attempt.reported, attempt.duration) == ("pass", 0.75, 1.5)
    assert attempt.usage.subject.cost == 1234.5


@pytest.mark.parametrize("cell", ['{"tokens": {"in": 5}}', "{'tokens': {'in': 5}, 'x': None}"])
def test_a_path_reaches_into_an_object_in_a_cell(tmp_path: Path, cell: str):
    table = "id|usage\na|" + cell.replace("|", "") + "\n"
    table = table.replace("|", "\t")
    _, [attempt] = read(tmp_path, table, f'{CASE}input_tokens = "usage.tokens.in"', name="log.tsv")

    assert attempt.usage.subject.input == 5
