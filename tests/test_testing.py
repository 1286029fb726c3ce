"""The kit for authors of sources: a good source passes it, and each rule is broken once to see it fail."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from errata.errors import SourceError
from errata.model import Attempt, Case, Item, Output, Run, SourceInfo, SourceRef, Subject
from errata.sources.base import Match, Row, convert_each, json_lines
from errata.testing import a_run, an_attempt, check_source

HEADER = {"scorecard": 2, "uuid": "run-1", "model": "alpha-1", "suite": "sums"}
ROWS = [
    {"n": "one", "lost": 0, "answer": "2", "task": "1 + 1"},
    {"n": "two", "lost": 4, "answer": "5", "task": "2 + 2"},
]


def recognise(path: Path) -> Match | None:
    try:
        with path.open("rb") as file:
            return Match.sure("scorecard") if b'"scorecard"' in file.readline(10_000) else None
    except OSError:
        return None


def read(path: Path) -> Iterator[Item]:
    rows = json_lines(path, source="scorecard", root=path)
    header = next(rows, None)
    if not isinstance(header, Row) or not isinstance(header.data, dict):
        if header is not None and not isinstance(header, Row):
            yield header
        return
    given = header.data
    run = Run(
        native_id=str(given.get("uuid")),
        source=SourceInfo(name="scorecard", format_version=str(given.get("scorecard"))),
        suite=str(given.get("suite")),
        subject=Subject(model=str(given.get("model"))),
        ref=header.ref,
    )
    yield run
    yield from convert_each(rows, lambda row: records(run, row), source="scorecard")


def records(run: Run, row: Row) -> list[Item]:
    case = Case(run=run.id, suite=run.suite, native_id=str(row.data["n"]), input=row.data["task"], ref=row.ref)
    attempt = Attempt(
        run=run.id,
        case=case.key,
        execution="completed",
        measurement="scored",
        outcome="pass" if row.data["lost"] == 0 else "fail",
        reported=float(row.data["lost"]),
        output=Output(text=row.data["answer"]),
        ref=row.ref,
    )
    return [case, attempt]


def a_source(**changes: Any) -> Any:
    return SimpleNamespace(
        **{"NAME": "scorecard", "TITLE": "Scorecard", "recognise": recognise, "read": read} | changes
    )


def changed(change: Any) -> Any:
    """The good source, with every item passed through a change."""

    def reading(path: Path) -> Iterator[Item]:
        for item in read(path):
            yield from change(item)

    return a_source(read=reading)


def replaced(item: Item, **fields: Any) -> Item:
    return msgspec.structs.replace(item, **fields)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [HEADER, *ROWS]))
    return path


def test_a_good_source_keeps_every_rule(log, tmp_path):
    check_source(a_source(), log, tmp_path / "scratch")


def breaks(source: Any, log: Path, tmp_path: Path, rule: str) -> None:
    with pytest.raises(AssertionError, match=rule):
        check_source(source, log, tmp_path / "scratch")


def test_a_source_that_reads_no_run_fails(log, tmp_path):
    source = changed(lambda item: [] if isinstance(item, Run) else [item])

    breaks(source, log, tmp_path, "reads no run")


def test_a_source_that_does_not_recognise_its_own_log_fails(log, tmp_path):
    breaks(a_source(recognise=lambda _: None), log, tmp_path, "does not recognise")


def test_a_source_that_knows_its_logs_by_name_fails(log, tmp_path):
    def by_name(path: Path) -> Match | None:
        return Match.sure("name") if path.suffix == ".jsonl" and recognise(path) else None

    breaks(a_source(recognise=by_name), log, tmp_path, "knows .* by its name, not its content")


def test_a_format_that_is_known_by_name_on_purpose_passes(log, tmp_path):
    def by_name(path: Path) -> Match | None:
        return Match.sure("name") if path.suffix == ".jsonl" and recognise(path) else None

    check_source(a_source(recognise=by_name), log, tmp_path / "scratch", named=True)


@pytest.mark.parametrize("name", ["empty", "binary", "other.json", "other.jsonl", "other.csv", "text.md", "folder"])
def test_a_source_that_claims_what_is_not_its_own_fails(log, tmp_path, name):
    def greedy(path: Path) -> Match | None:
        return Match.sure("greed") if path.name == name else recognise(path)

    breaks(a_source(recognise=greedy), log, tmp_path, f"claims {name}")


def test_a_source_that_claims_a_path_that_is_not_there_fails(log, tmp_path):
    def greedy(path: Path) -> Match | None:
        return recognise(path) if path.exists() else Match.maybe("who knows")

    breaks(a_source(recognise=greedy), log, tmp_path, "claims missing")


def test_a_source_that_raises_when_it_is_asked_fails(log, tmp_path):
    def careless(path: Path) -> Match | None:
        return Match.sure("scorecard") if "scorecard" in path.read_text() else None

    with pytest.raises((UnicodeDecodeError, OSError)):
        check_source(a_source(recognise=careless), log, tmp_path / "scratch")


def test_a_log_that_another_source_is_sure_of_fails(tmp_path):
    record = {"native_id": "r", "source": {"name": "mine"}}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"errata": 1, "kind": "run", "record": record, "scorecard": 2}) + "\n")

    breaks(a_source(), path, tmp_path, "claim .* too")


def test_a_source_that_gives_an_id_twice_fails(log, tmp_path):
    source = changed(lambda item: [item, item] if isinstance(item, Attempt) else [item])

    breaks(source, log, tmp_path, "attempt ids are given twice")


def test_an_attempt_of_a_run_that_was_not_told_fails(log, tmp_path):
    source = changed(lambda item: [replaced(item, run="0" * 16)] if isinstance(item, Attempt) else [item])

    breaks(source, log, tmp_path, "belongs to a run that was not yielded")


@pytest.mark.parametrize("field", ["parent", "superseded_by", "duplicate_of", "follows"])
def test_an_attempt_that_points_to_nothing_fails(log, tmp_path, field):
    source = changed(lambda item: [replaced(item, **{field: "nothing"})] if isinstance(item, Attempt) else [item])

    breaks(source, log, tmp_path, "points to an attempt that is not there")


@pytest.mark.parametrize("kind", [Run, Case, Attempt])
def test_a_record_without_its_place_fails(log, tmp_path, kind):
    source = changed(lambda item: [replaced(item, ref=None) if isinstance(item, kind) else item])

    breaks(source, log, tmp_path, f"{kind.__name__} without a ref")


def test_a_place_on_this_machine_fails(log, tmp_path):
    source = changed(lambda item: [replaced(item, ref=SourceRef(file=str(log)))])

    breaks(source, log, tmp_path, "is not relative to the log")


def test_a_source_that_reads_another_thing_each_time_fails(log, tmp_path):
    chance = random.Random(1)
    source = changed(
        lambda item: [replaced(item, extra={"seen": chance.random()})] if isinstance(item, Attempt) else [item]
    )

    breaks(source, log, tmp_path, "reading twice gives different records")


def test_a_record_that_the_store_changes_fails(log, tmp_path):
    source = changed(lambda item: [replaced(item, extra={"pair": (1, 2)})] if isinstance(item, Attempt) else [item])

    breaks(source, log, tmp_path, "changes on its way through the store")


def test_a_source_that_loses_a_field_fails(log, tmp_path):
    source = changed(lambda item: [replaced(item, output=Output())] if isinstance(item, Attempt) else [item])

    breaks(source, log, tmp_path, r"scorecard loses the values at: \['log.jsonl#/answer'\]")


def test_what_is_left_out_on_purpose_can_be_named(log, tmp_path):
    source = changed(lambda item: [replaced(item, output=Output())] if isinstance(item, Attempt) else [item])

    check_source(source, log, tmp_path / "scratch", ignored=["*#/answer"])


def damaged(error: BaseException) -> Any:
    """A source that raises where its first line is not what it should be."""

    def reading(path: Path) -> Iterator[Item]:
        first = path.read_bytes().partition(b"\n")[0]
        if first != json.dumps(HEADER).encode() and not first.startswith(b'{"scorecard":'):
            raise error
        yield from read(path)

    return a_source(read=reading)


def test_a_source_that_raises_on_damage_fails(log, tmp_path):
    with pytest.raises((ValueError, AssertionError)):
        check_source(damaged(ValueError("damaged")), log, tmp_path / "scratch")


def test_a_source_that_refuses_damage_in_words_passes(log, tmp_path):
    check_source(damaged(SourceError("damaged", hint="get another")), log, tmp_path / "scratch")


def test_a_source_that_yields_something_else_on_damage_fails(log, tmp_path):
    def reading(path: Path) -> Iterator[Any]:
        if not recognise(path):
            yield {"not": "a record"}
        yield from read(path)

    with pytest.raises(AssertionError):
        check_source(a_source(read=reading), log, tmp_path / "scratch")


def test_a_log_may_refer_to_what_lies_around_it(tmp_path):
    """Only the part that is read is the log; the rest of the folder comes along when it is copied."""
    (tmp_path / "results" / "run").mkdir(parents=True)
    log = tmp_path / "results" / "run" / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in [HEADER, *ROWS]))
    (tmp_path / "results" / "suite.txt").write_text("sums")

    def reading(path: Path) -> Iterator[Item]:
        named = (path.parent.parent / "suite.txt").read_text()
        for item in read(path):
            yield replaced(item, extra={"suite": named})

    check_source(a_source(read=reading), log, tmp_path / "scratch", within=tmp_path / "results")


def test_a_damaged_log_is_left_as_it_was(log, tmp_path):
    before = log.read_bytes()
    check_source(a_source(), log, tmp_path / "scratch")

    assert log.read_bytes() == before


def test_a_run_for_tests_needs_no_words():
    assert a_run().native_id == "run-1"
    assert a_run(suite="other").suite == "other"


def test_an_attempt_for_tests_is_a_failure():
    assert an_attempt().is_failure
    assert not an_attempt(outcome="pass").is_failure
