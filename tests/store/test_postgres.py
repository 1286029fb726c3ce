"""A store in PostgreSQL: the same answers as from a file, writers beside each other, and failures in words."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime
from urllib.parse import quote

import msgspec
import psycopg
import pytest
from soak.postgres_server import PASSWORD
from sqlalchemy import select
from store_fixtures import batches, put, put_owners, put_run
from test_reviews import a_call, a_verdict
from tests.engines import in_a_file, the_server

from errata.errors import DamagedStoreError, StoreError
from errata.model import Attribution, Case, FailureKey
from errata.model.gate import CodeRef, GateRecord
from errata.model.live import LiveRunState
from errata.model.store_address import StoreAddress
from errata.model.token import Token
from errata.model.verdict import Lease
from errata.store import engine, postgres, schema
from errata.store.attempts import attempts_of, cases_of
from errata.store.attributions import attributions_of
from errata.store.case_outcomes import case_outcomes, case_tallies, cells_of, failed_tasks, passes_of_tasks
from errata.store.case_versions import tasks_apart
from errata.store.database import open_store
from errata.store.doctor import problems_of
from errata.store.elsewhere import cases_ending, elsewhere, tries_of
from errata.store.failure_list import triaged_rows
from errata.store.failures import attributions_with, listed_failures, loaded
from errata.store.importing import Importing
from errata.store.index_file import marks_of
from errata.store.ledger import calls_of, open_ledger
from errata.store.removal import collect_garbage
from errata.store.reviews import keep_verdicts, take_lease, verdicts_of
from errata.store.runs import (
    all_runs,
    code_refs_of,
    exclude,
    gates_of,
    keep_code_ref,
    keep_findings,
    keep_gate,
    keep_summary,
    kept_summary,
    run_by_id,
)
from errata.store.server import (
    ChangeFeed,
    JournalItem,
    add_to_journal,
    all_tokens,
    attempts_in_journal,
    keep_token,
    start_live_run,
)
from errata.store.whole_runs import RunGroup, whole_runs
from errata.testing import a_run, an_attempt
from errata.verbs.store_maintenance import backup_store, copy_store

AT = "2026-03-01T10:00:00Z"


@pytest.fixture
def address():
    name = the_server().new_database("empty_store")
    yield the_server().address(name)
    the_server().drop(name)


@pytest.fixture
def store(address, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return open_store(address)


def cut(store):
    return the_server().cut_connections(store.path.name)


# --- the same answers


def fill(store):
    """Something in every table of the store, with the values that the engines treat differently."""
    run = a_run(native_id="Zebra", suite="tides")
    names = ("b", "a", "B", "ä", "nul\x00in it", "half\ud800", "_x%", "\ufdd0")
    items = [Case(run=run.id, suite="tides", native_id=name, input=f"? {name}", category="c") for name in names]
    items += [Case(run=run.id, suite="tides", native_id="a", input="another question")]
    items += [
        an_attempt(run=run.id, case=f"tides/{name}", index=1 + at, position=2**40 + at if at % 2 else None)
        for at, name in enumerate(names)
    ]
    (done,) = put(store, run, *items)
    with RunGroup(store) as group:
        for number in range(3):
            other = a_run(native_id=f"small-{number}", suite="tides", started_at=AT if number else None)
            passed = an_attempt(run=other.id, case="tides/a", outcome="pass", duration=float("nan"))
            group.add(whole_runs(batches(other, passed)))
    tried = list(attempts_of(store, done.pk))
    owned = [
        (at, Attribution(attempt=one.id, owner="model", confidence="likely", decided_by="r", rules_version="1",
                         failure_key=FailureKey(exact=f"key {at}", coarse="c")), at % 2 == 0)
        for at, one in enumerate(tried)
    ]  # fmt: skip
    put_owners(store, done.pk, owned)
    keep_findings(store, all_runs(store)[0], [])
    keep_summary(store, done.pk, "k", "v", b"sum")
    keep_verdicts(store, [a_verdict(id="v2", attempt=tried[0].id), a_verdict(id="v1", attempt=tried[1].id)])
    take_lease(store, run.id, [one.id for one in tried], reviewer="ada", lease=Lease("", "t", "2099"), now=AT)
    with open_ledger(store) as ledger:
        assert ledger.intend(a_call())
        ledger.close(msgspec.structs.replace(a_call(), state="answered"))
    exclude(store, done.id, reason="nul\x00", author="ada")
    keep_code_ref(store, [run.id], CodeRef(branch="main", commit="1", at=AT))
    keep_gate(store, run.id, GateRecord(verdict="passed", at=AT))
    for name in ("z", "a"):
        keep_token(store, Token(id=name, name=name, scopes=("read",), created_at=AT, created_by="ada"), "hash")
    state = LiveRunState(run="live", state="running", started_at=AT, heard_at=AT, token="ci")
    start_live_run(store, state, "key", JournalItem("run", "k", "d", b"{}"), silence=1.5)
    add_to_journal(store, "live", [JournalItem("attempt", "k2", "d", b"{}", attempt="x")], now=AT)
    return done


def answers(store, done):
    """What the modules of the store say about it."""
    runs = all_runs(store)
    pks = [one.pk for one in runs]
    texts = [one.id for one in attempts_of(store, done.pk)]
    tasks = tasks_apart(store, tuple(pks))
    return {
        "runs": [(one.run.native_id, one.counts, one.run.excluded and one.run.excluded.reason) for one in runs],
        "attempts": list(attempts_of(store, done.pk)),
        "cases": list(cases_of(store, done.pk)),
        "attributions": attributions_of(store, done.pk),
        "listed": [one[:3] for one in listed_failures(store, done.pk, done.id)],
        "loaded": loaded(store, done.pk, [0, 4, 5]),
        "rows": list(triaged_rows(store, done.pk, done.id, lambda _: True)),
        "cells": sorted(map(str, cells_of(store, pks))),
        "outcomes": list(case_outcomes(store, pks)),
        "tallies": list(
            case_tallies(store, dict.fromkeys(pks, 0), tasks, not_measured=("provider",), faults_of_tests=())
        ),
        "passes": passes_of_tasks(store, tuple(pks), tasks),
        "failed": sorted(failed_tasks(store, done.pk, tasks)),
        "elsewhere": [one.run for one in elsewhere(store, run_by_id(store, done.id), ["tides/a"])["tides/a"]],
        "endings": [cases_ending(store, name) for name in ("A", "_x%", "nul\x00in it", "b")],
        "tries": sorted(tries_of(store, ["tides/a"]), key=str),
        "search": [one.attempt for one in attributions_with(store, done.pk, ["key 3"])],
        "verdicts": [verdicts_of(store, done.id), [verdicts_of(store, done.id, attempt=one) for one in texts]],
        "calls": list(calls_of(store)),
        "summary": kept_summary(store, done.pk, "k", "v"),
        "gates": (gates_of(store), code_refs_of(store)),
        "tokens": [one.name for one in all_tokens(store)],
        "live": list(attempts_in_journal(store, "live")),
        "marks": marks_of(store),
        "problems": problems_of(store),
    }  # fmt: skip


def test_both_engines_give_the_same_answers(store, tmp_path):
    in_file = open_store(in_a_file(tmp_path / "errata.db"))

    in_database, expected = answers(store, fill(store)), answers(in_file, fill(in_file))

    for topic, answer in expected.items():
        assert in_database[topic] == answer, topic


def test_an_older_database_gets_the_schema_of_a_new_one(store, address):
    new_shape = shape(store)
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE thinned; DROP TABLE live_items; ALTER TABLE runs DROP COLUMN bucketed")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0008'")

    assert shape(open_store(address)) == new_shape


def shape(store):
    columns = (
        "SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default, is_identity"
        " FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position"
    )
    with store.reading() as connection:
        indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
        made = [tuple(row) for row in connection.exec_driver_sql(columns)]
        return [row for row in made if row[0] != "alembic_version"], list(connection.exec_driver_sql(indexes).scalars())


def test_every_text_is_sorted_by_its_bytes(store):
    made, _ = shape(store)

    assert {row[3] for row in made if row[2] == "text"} == {"C"}
    assert {row[2] for row in made} == {"bigint", "text", "boolean", "bytea", "double precision"}


# --- several processes


def test_of_several_that_open_an_empty_database_one_creates_the_store():
    name = the_server().new_database()
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(open_store, [the_server().address(name)] * 4))

    assert all(all_runs(one) == [] for one in opened)
    the_server().drop(name)


def test_importers_write_beside_each_other_and_of_one_run_a_revision_is_left(address):
    def import_all(number):
        own = open_store(address)
        for at in range(4):
            run = a_run(native_id=f"run-{at}")
            put(own, run, *(an_attempt(run=run.id, index=1 + index) for index in range(20 + number)))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(import_all, range(3)))

    stored = all_runs(open_store(address))
    assert sorted(one.run.native_id for one in stored) == [f"run-{at}" for at in range(4)]
    assert {one.counts.attempts for one in stored} == {22}


def test_a_batch_is_staged_while_another_import_has_one_open(store, address):
    other = open_store(address)
    one, two = a_run(native_id="one"), a_run(native_id="two")
    with Importing(store) as slow, Importing(other) as fast:
        with store.writing(rows=True) as connection:
            slow._add_run(connection, one)
            fast.add(batches(two, an_attempt(run=two.id))[0])
        assert [done.change for done in fast.finish()] == ["new"]

    assert [stored.run.native_id for stored in all_runs(store)] == ["two"]


def test_no_two_reviewers_get_the_same_lease(address):
    candidates = [f"run:{number}#1" for number in range(24)]

    def take(number):
        own, taken = open_store(address), []
        with own.kept_open():
            while attempt := take_lease(
                own, "run", candidates, reviewer="agent", lease=Lease("", f"t{number}", "2099"), now=AT
            ):
                taken.append(attempt)
        return taken

    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(take, range(4)))

    assert sorted(attempt for some in taken for attempt in some) == sorted(candidates)


def test_one_of_two_processes_asks_a_model_the_same(address):
    now = datetime.now(UTC).isoformat()

    def ask(number):
        with open_ledger(open_store(address)) as ledger:
            ledger._holder = f"host/x:{number}"
            return ledger.intend(msgspec.structs.replace(a_call(), id=f"c{number}", started_at=now))

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(ask, range(4))) == [False, False, False, True]


def test_a_reader_has_one_view_while_others_write(store, address):
    with store.reading() as connection:
        before = connection.execute(select(schema.runs.c.pk)).all()
        put_run(open_store(address))
        assert connection.execute(select(schema.runs.c.pk)).all() == before
    assert len(all_runs(store)) == 1


def test_changes_of_others_are_seen_also_after_the_connection_was_cut(store, address):
    with ChangeFeed(store) as feed:
        assert feed.poll() == []
        put_run(open_store(address))
        assert [change.kind for change in feed.poll()] == ["run"]
        assert cut(store)
        with pytest.raises(StoreError):
            feed.poll()
        keep_verdicts(open_store(address), [a_verdict()])
        assert [change.kind for change in feed.poll()] == ["verdict"]


# --- failures


def test_an_import_whose_connection_is_cut_leaves_nothing_and_can_be_repeated(store):
    run = a_run()
    items = [run, *(an_attempt(run=run.id, index=1 + at) for at in range(5))]
    with pytest.raises(StoreError, match="connection to the store was lost") as result, Importing(store) as importing:
        importing.add(batches(*items)[0])
        assert cut(store)
        importing.finish()

    assert "run the command again" in result.value.hint
    assert all_runs(store) == []
    assert [done.change for done in put(store, *items)] == ["new"]


def test_what_is_kept_open_is_used_again_after_a_cut(store):
    with store.kept_open():
        put_run(store)
        assert cut(store)
        with pytest.raises(StoreError, match="was lost"):
            all_runs(store)
        assert len(all_runs(store)) == 1
        with suppress(StoreError):
            collect_garbage(store)
        put_run(store, "second")

    assert len(all_runs(store)) == 2


def test_a_store_that_another_process_locks_is_told_in_words(store, address, monkeypatch):
    monkeypatch.setattr(postgres, "_BEGIN_WRITING", "BEGIN; SET LOCAL lock_timeout = '50ms'")
    with open_store(address).writing(), pytest.raises(StoreError, match="locked by another process"):
        put_run(store)

    put_run(store)
    assert len(all_runs(store)) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (lambda: the_server().tcp_address("empty_store", password="hunter22"), "refuses this user or password"),
        (lambda: the_server().tcp_address("empty_store"), "refuses this user or password"),
        (lambda: the_server().address("no_such"), "does not exist"),
        (lambda: "postgresql://me:hunter22@127.0.0.1:1/x", "No PostgreSQL server answers"),
        (lambda: "postgresql://me:hunter22@no-such-host.invalid/x", "host of the store is not known"),
        (lambda: "postgresql://me:hunter22@127.0.0.1:1/x?no_such_option=1", "can't be read"),
    ],
    ids=["password", "no-password", "database", "port", "host", "option"],
)
def test_an_address_that_does_not_work_is_told_in_words(url, words):
    with pytest.raises(StoreError, match=words) as result:
        open_store(url())

    assert result.value.hint
    assert "hunter22" not in f"{result.value.message} {result.value.hint}"


def test_the_right_password_opens_the_store_and_is_not_shown(address):
    name = StoreAddress(address).name
    store = open_store(the_server().tcp_address(name, password=quote(PASSWORD, safe="")))

    assert all_runs(store) == []
    assert "***" in str(store.path) and "sesame" not in f"{store.path} {store.path!r} {store.place}"


def test_a_database_of_another_program_is_left_alone():
    name = the_server().new_database()
    the_server().execute("CREATE TABLE notes (a INTEGER)", name)
    with pytest.raises(StoreError, match="tables of another program"):
        open_store(the_server().address(name))

    assert the_server().execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", name) == [("notes",)]
    the_server().drop(name)


def test_a_newer_store_is_refused(store, address):
    with closing(psycopg.connect(address)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0099'")
        connection.commit()

    with pytest.raises(StoreError, match="newer errata: schema 99"):
        open_store(address)


def test_who_may_only_read_works_on_a_copy_and_can_not_write(store, address):
    put_run(store)
    the_server().execute("DROP ROLE IF EXISTS guest")
    the_server().execute("CREATE ROLE guest LOGIN")
    name = StoreAddress(address).name
    the_server().execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", name)

    guest = open_store(address.replace("errata@", "guest@"))

    assert [one.run.native_id for one in all_runs(guest)] == ["run-1"]
    keep_findings(guest, all_runs(guest)[0], [])
    with pytest.raises(StoreError, match="may only read"):
        put_run(guest, "second")
    assert len(all_runs(store)) == 1


def test_damage_that_the_server_reports_is_damage(store):
    with pytest.raises(DamagedStoreError), store.translated():
        raise psycopg.errors.DataCorrupted("invalid page in block 7")


def test_without_the_driver_the_extra_is_named(monkeypatch):
    for name in ("errata.store.postgres",):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("errata.store.postgres")
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(StoreError, match="psycopg") as result:
        engine.postgres()
    assert "errata[postgres]" in result.value.hint


def test_numbers_of_copied_rows_are_not_given_again(store):
    with store.writing() as connection:
        connection.execute(schema.live_items.insert().values(
            number=41, run_id="r", attempt_id="", kind="run", key="k", digest="d", record=b""
        ))  # fmt: skip
        engine.catch_up_numbers(connection, schema.live_items)
        made = connection.execute(
            schema.live_items.insert().values(run_id="r", attempt_id="", kind="run", key="l", digest="d", record=b"")
        )

        assert made.inserted_primary_key[0] == 42
        assert list(engine.new_numbers(connection, schema.runs, 3)) == [1, 2, 3]


def test_a_store_is_copied_into_a_database_and_back_without_a_difference(address, tmp_path):
    first = open_store(in_a_file(tmp_path / "first.db"))
    done = fill(first)

    there = copy_store(tmp_path / "first.db", StoreAddress(address))
    back = copy_store(StoreAddress(address), tmp_path / "back.db")

    assert there.equal and back.equal
    assert {table.table: table.digest for table in there.tables} == {table.table: table.digest for table in back.tables}
    assert there.rows > 30
    assert answers(open_store(address), done) == answers(first, done) == answers(open_store(tmp_path / "back.db"), done)
    with pytest.raises(StoreError, match="already holds"):
        copy_store(tmp_path / "first.db", StoreAddress(address))
    put_run(open_store(address), "one more")  # numbers go on behind those that were copied


def test_the_backup_of_a_database_is_a_checked_file(store, tmp_path):
    fill(store)

    backup = backup_store(store, tmp_path / "saved.db", now=datetime.now(UTC))

    assert backup.verified
    assert open_store(tmp_path / "saved.db").path == tmp_path / "saved.db"
    assert backup.runs == len(all_runs(open_store(tmp_path / "saved.db")))
