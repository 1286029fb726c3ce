"""Small runs are written many at a time, each whole or not at all, and the same as one that is written alone."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from soak.visible import FACTS, TIMES
from sqlalchemy import select
from store_fixtures import batches, put, rows
from tests.engines import new_place
from tests.length import LONG

from errata.errors import SourceError, StoreError
from errata.model import Artefact, Case, Check, Unreadable, UsageByRole
from errata.model.usage import Usage
from errata.store import engine, sqlite, whole_runs
from errata.store.database import open_store
from errata.store.removal import remove_run
from errata.store.runs import all_runs
from errata.store.schema import metadata
from errata.store.whole_runs import RunGroup
from errata.testing import a_run, an_attempt
from record_strategies import attempts as any_attempts


def a_log(name, count=2, **changes):
    run = a_run(native_id=name)
    return [run, *(an_attempt(run=run.id, case=f"suite/{number}", **changes) for number in range(count))]


def put_together(store, *logs):
    """Import each log as a path of its own."""
    done = []
    with RunGroup(store) as group:
        for items in logs:
            done.append(whole_runs.whole_runs(batches(*items)))
            group.add(done[-1])
    return [run.pending.result for runs in done for run in runs]


def facts_in(store):
    """Every row of every fact, without times and numbers."""
    facts = {}
    with store.reading() as connection:
        for table in (metadata.tables[name] for name in ("runs", *FACTS, "blobs")):
            columns = [column for column in table.columns if column.name not in TIMES]
            facts[table.name] = sorted(map(tuple, connection.execute(select(*columns))), key=repr)
    return facts


def another_store(store):
    return open_store(new_place(store))


def a_file(path, text):
    return Artefact(role="log", path=path, text=text)


RUN = a_run().id
RICH = [
    Case(run=RUN, suite="suite", native_id="a", input="?", artefacts=(a_file("case.txt", "A"),)),
    an_attempt(
        run=RUN,
        case="suite/a",
        outcome="fail",
        checks=(Check(name="x", status="fail"), Check(name="x", status="fail"), Check(name="y", status="pass")),
        artefacts=(a_file("log.txt", "cut"),),
        usage=UsageByRole(subject=Usage(total=10, cost=0.5, cost_source="reported")),
    ),
    an_attempt(run=RUN, case="suite/b", parent="p", outcome="fail", checks=(Check(name="x", status="fail"),)),
    Unreadable(source="s", where="line 3", why="cut off"),
]


def test_a_run_is_the_same_whether_it_is_written_alone_or_with_others(store):
    other = another_store(store)
    items = [a_run(context=(a_file("readme.md", "read me"),)), *RICH]
    put(store, *items)
    put_together(other, items)

    assert facts_in(other) == facts_in(store)
    assert len(facts_in(store)["blobs"]) == 3


def of_the_run(attempt):
    return msgspec.structs.replace(attempt, run=RUN, id="")


@settings(max_examples=100 if LONG else 8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(many=st.lists(any_attempts.map(of_the_run), max_size=4, unique_by=lambda one: one.id))
def test_any_run_is_the_same_whether_it_is_written_alone_or_with_others(store, many):
    other = another_store(store)
    for one in (store, other):
        remove_run(one, a_run().id)
    put(store, a_run(), *many)
    put_together(other, [a_run(), *many])

    assert facts_in(other) == facts_in(store)


@pytest.mark.sqlite
def test_very_many_runs_take_a_few_statements(store, monkeypatch):
    statements = []
    connect = sqlite._on_connect

    def listen(driver, record):
        connect(driver, record)
        driver.set_trace_callback(statements.append)

    monkeypatch.setattr(sqlite, "_on_connect", listen)
    opened = open_store(store.path)
    put_together(opened, *(a_log(f"run-{number}", count=1) for number in range(300)))
    begun = [statement for statement in statements if statement.startswith("BEGIN IMMEDIATE")]

    assert len(all_runs(opened)) == 300
    assert len(begun) == 1


def test_an_error_in_the_middle_leaves_nothing_of_the_group_and_all_before_it(store, monkeypatch):
    put_together(store, a_log("before"))
    before = facts_in(store)
    write = engine.bulk_insert

    def fail_at_blocks(connection, table, given, **named):
        if table.name == "blocks":
            raise KeyboardInterrupt
        return write(connection, table, given, **named)

    monkeypatch.setattr(engine, "bulk_insert", fail_at_blocks)
    with pytest.raises(KeyboardInterrupt):
        put_together(store, a_log("one"), a_log("two"), a_log("before", count=5))

    assert facts_in(store) == before


def test_nothing_of_a_group_is_seen_before_all_of_it_is_written(store, monkeypatch):
    seen, write = [], engine.bulk_insert

    def look_and_write(*arguments, **named):
        seen.append(len(all_runs(store)))
        return write(*arguments, **named)

    monkeypatch.setattr(engine, "bulk_insert", look_and_write)
    put_together(store, a_log("one"), a_log("two"))

    assert set(seen) == {0}
    assert len(all_runs(store)) == 2


def test_what_was_read_before_a_path_that_can_not_be_read_is_kept(store):
    with pytest.raises(SourceError), RunGroup(store) as group:
        group.add(whole_runs.whole_runs(batches(*a_log("one"))))
        raise SourceError("the next one is damaged")

    assert len(all_runs(store)) == 1


def test_the_same_run_twice_in_one_import_is_held_against_itself(store):
    results = put_together(store, a_log("one"), a_log("one"), a_log("one", count=3), a_log("one", count=1))

    assert [(one.change, one.revision) for one in results] == [("new", 1), ("unchanged", 1), ("grown", 2), ("kept", 2)]
    assert [one.counts.attempts for one in all_runs(store)] == [3]
    assert rows(store.path, "attempts") == 3


def test_a_log_that_moved_is_the_same_run_with_another_origin(store):
    run, *rest = a_log("one")
    moved = msgspec.structs.replace(run, origin="/elsewhere")
    put_together(store, [run, *rest])
    (result,) = put_together(store, [moved, *rest])

    assert result.change == "unchanged"
    assert [one.run.origin for one in all_runs(store)] == ["/elsewhere"]


def test_a_number_is_never_given_twice(store):
    (first,) = put_together(store, a_log("one"))
    remove_run(store, first.id)
    (second,) = put_together(store, a_log("two"))
    (third,) = put(store, *a_log("three"))

    assert first.pk < second.pk < third.pk


def test_a_case_with_two_descriptions_is_left_to_the_database():
    run = a_run()
    described = [Case(run=run.id, suite="suite", native_id="a", input=text) for text in ("one", "two")]

    assert whole_runs.whole_runs(batches(run, *described)) is None


@pytest.mark.sqlite
def test_a_read_only_store_is_refused_before_anything_is_read(store):
    put_together(store, a_log("one"))
    store.is_read_only = True
    with pytest.raises(StoreError, match="read-only"), RunGroup(store):
        pytest.fail("it was opened")
