"""Opening a store: where it lies, whether it is ours, which schema it has."""

import gzip
import sqlite3
import stat
import subprocess
import sys
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from random import randbytes

import pytest
from sqlalchemy import event, inspect
from store_fixtures import put_run, quick_to_give_up, sql

from errata.errors import StoreError
from errata.store import sqlite
from errata.store.database import Store, open_store, schema_of
from errata.store.doctor import problems_of
from errata.store.runs import all_runs
from errata.store.schema import SCHEMA


def test_a_new_store_has_its_own_folder_that_nobody_else_can_read(tmp_path):
    open_store(tmp_path / ".errata" / "errata.db")

    assert stat.S_IMODE((tmp_path / ".errata").stat().st_mode) == 0o700


def test_a_new_errata_folder_keeps_itself_out_of_git(tmp_path):
    open_store(tmp_path / ".errata" / "errata.db")

    assert "*" in (tmp_path / ".errata" / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize("name", ["a b", "a?b", "a#b", "a%20b", "ü", "a:b", "a'b"])
def test_a_store_lies_where_its_path_says(tmp_path, name):
    path = tmp_path / name / "errata.db"

    open_store(path)

    assert path.is_file()
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.sqlite
def test_an_old_store_gets_the_schema_of_a_new_one(tmp_path):
    oldest = min((Path(__file__).parents[1] / "fixtures" / "old").glob("*/store.db.gz"))
    (tmp_path / "old.db").write_bytes(gzip.decompress(oldest.read_bytes()))
    sql(tmp_path / "old.db", "ALTER TABLE runs DROP COLUMN bucketed")

    assert shape(open_store(tmp_path / "old.db")) == shape(open_store(tmp_path / "made.db"))


def shape(store: Store) -> dict[str, object]:
    with store.reading() as connection:
        seen = inspect(connection)
        result = {
            table: (
                [
                    (column["name"], str(column["type"]), column["nullable"], column["primary_key"])
                    for column in seen.get_columns(table)
                ],
                sorted((one["name"], one["column_names"], one["unique"]) for one in seen.get_indexes(table)),
                seen.get_pk_constraint(table)["constrained_columns"],
            )
            for table in seen.get_table_names()
        }
        without_rowid = connection.exec_driver_sql("SELECT name, wr FROM pragma_table_list WHERE schema = 'main'")
        strange = sorted(tuple(row) for row in without_rowid if not row[0].startswith("sqlite_"))
        return {"tables": result, "rowid": strange, "schema": schema_of(connection)}


@pytest.mark.sqlite
def test_opening_a_store_a_second_time_keeps_the_locks_of_the_first(store):
    """Else another process takes the store for unused and removes the log that is still read here."""
    put_run(store)
    with store.kept_open(), store.reading() as connection:
        connection.exec_driver_sql("SELECT 1 FROM runs").all()
        again = open_store(store.path)
        code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('DELETE FROM actions'); c.commit()"
        subprocess.run([sys.executable, "-c", f"{code}; c.close()", str(store.path)], check=True)

        assert store.path.with_name(f"{store.path.name}-wal").exists()
        assert connection.exec_driver_sql("SELECT count(*) FROM runs").scalar() == 1
    again.engine.dispose()


@pytest.mark.sqlite
def test_a_newer_store_is_refused_with_both_numbers_and_nothing_is_changed(store):
    put_run(store)
    sql(store.path, "UPDATE alembic_version SET version_num = '0099'")
    before = contents(store.path)

    with pytest.raises(StoreError) as result:
        open_store(store.path)

    assert "99" in result.value.message
    assert str(SCHEMA) in result.value.message
    assert "upgrade" in result.value.hint
    assert contents(store.path) == before


def contents(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def foreign_database(path: Path, *statements: str) -> Path:
    sql(path, *statements)
    return path


FOREIGN = {
    "another program's": ["CREATE TABLE notes (a)", "INSERT INTO notes VALUES (1)"],
    "another program's with numbered migrations": [
        "CREATE TABLE runs (a)",
        "CREATE TABLE alembic_version (version_num)",
        "INSERT INTO alembic_version VALUES ('0001')",
    ],
}


@pytest.mark.parametrize("statements", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_database_of_another_program_is_refused(tmp_path, statements):
    path = foreign_database(tmp_path / "foreign.db", *statements)

    with pytest.raises(StoreError, match="not a store of errata"):
        open_store(path)


def test_a_database_of_another_program_is_not_changed(tmp_path):
    path = foreign_database(tmp_path / "foreign.db", *FOREIGN["another program's"])
    before = path.read_bytes()

    with pytest.raises(StoreError):
        open_store(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello", b"{}", b"SQLite format 3\x00", b"SQLite format 3\x00" + b"x" * 5000])
def test_a_file_that_is_no_database_is_refused_and_not_changed(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)

    with pytest.raises(StoreError):
        open_store(path)

    assert path.read_bytes() == content


@pytest.mark.sqlite
@pytest.mark.parametrize("place", ["/proc/errata.db", "/proc/none/errata.db", "/dev/full", "/dev/null/errata.db"])
def test_a_place_that_can_not_be_written_is_told_with_what_would_be_right(place):
    with pytest.raises(StoreError) as result:
        open_store(Path(place))

    assert "--store" in result.value.hint


def with_pragma(store: Store, pragma: str) -> Store:
    event.listen(store.engine, "connect", lambda driver, _: driver.execute(f"PRAGMA {pragma}"))
    return store


@pytest.mark.sqlite
def test_a_read_only_store_is_told_in_words(store):
    with pytest.raises(StoreError, match="read-only") as result:
        put_run(with_pragma(store, "query_only = ON"))

    assert "permissions" in result.value.hint


@pytest.mark.sqlite
def test_a_full_disk_is_told_in_words_and_nothing_of_the_import_is_seen(store):
    put_run(store, "before")
    with closing(sqlite3.connect(store.path)) as outside:
        (pages,) = outside.execute("PRAGMA page_count").fetchone()
    full = with_pragma(open_store(store.path), f"max_page_count = {pages}")

    with pytest.raises(StoreError, match="No space"):
        put_run(full, "after", [f"{number}-{randbytes(2000).hex()}" for number in range(500)])

    assert [one.run.native_id for one in all_runs(open_store(store.path))] == ["before"]


@pytest.mark.sqlite
def test_a_store_that_another_process_locks_is_told_in_words(store, monkeypatch):
    quick_to_give_up(monkeypatch)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreError, match="locked"):
            put_run(open_store(store.path))


@pytest.mark.sqlite
def test_a_reader_does_not_wait_for_a_writer(store, monkeypatch):
    quick_to_give_up(monkeypatch)
    put_run(store, "run-1")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE runs SET name = 'half-written'")

        assert [one.run.native_id for one in all_runs(open_store(store.path))] == ["run-1"]


OPEN = (
    "import sys; from pathlib import Path; from errata.store.database import open_store; open_store(Path(sys.argv[1]))"
)


def test_several_processes_may_make_the_store_at_once(tmp_path):
    path = tmp_path / ".errata" / "errata.db"

    started = [subprocess.Popen([sys.executable, "-c", OPEN, path], stderr=subprocess.PIPE) for _ in range(6)]
    data = [one.communicate(timeout=60)[1].decode() for one in started]

    assert data == [""] * 6
    assert problems_of(open_store(path)) == []


def test_a_store_whose_maker_was_killed_halfway_gets_its_write_ahead_log_when_it_is_opened(tmp_path):
    path = tmp_path / "errata.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as driver:
        driver.execute(f"PRAGMA application_id = {sqlite.APPLICATION}")

    store = open_store(path)

    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def connections(store, *, kept):
    """How many are opened for three reads and two writes."""
    opened = []
    event.listen(store.engine, "connect", lambda *_: opened.append(1))
    with store.kept_open() if kept else nullcontext():
        for _ in range(3):
            all_runs(store)
        for _ in range(2):
            with store.writing() as connection:
                connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS scratch (a INTEGER)")
    return len(opened)


def test_many_small_transactions_share_what_is_kept_open(tmp_path):
    assert connections(open_store(tmp_path / "a.db"), kept=False) == 5
    assert connections(open_store(tmp_path / "b.db"), kept=True) == 1
    with ExitStack() as kept:
        assert connections(open_store(tmp_path / "b.db", keep_open=kept.enter_context), kept=True) == 0


def test_a_read_inside_a_read_has_its_own_view_although_one_is_kept_open(tmp_path):
    store = open_store(tmp_path / "errata.db")

    with store.kept_open(), store.reading() as outer, store.reading() as inner, store.writing():
        assert outer is not inner


def test_after_a_failure_what_is_kept_open_can_be_used_again(tmp_path):
    store = open_store(tmp_path / "errata.db")

    with store.kept_open():
        with pytest.raises(ZeroDivisionError), store.writing() as connection:
            connection.exec_driver_sql("CREATE TABLE scratch (a INTEGER)")
            raise ZeroDivisionError
        with store.writing() as connection:
            assert "scratch" not in inspect(connection).get_table_names()


def test_what_was_read_is_read_again_only_after_somebody_has_written(store):
    reads = []

    def count(connection):
        reads.append(1)
        return connection.exec_driver_sql("SELECT count(*) FROM deployments").scalar()

    def asked():
        return store.read_once("count", count)

    insert = "INSERT INTO deployments VALUES ('{}', '2026-03-04')"
    with store.kept_open():
        assert [asked(), asked(), len(reads)] == [0, 0, 1 if store.own_file else 2]
        with store.writing() as connection:
            connection.exec_driver_sql(insert.format("own"))
            assert asked() == 0
        assert asked() == 1
        with open_store(store.path).writing() as connection:
            connection.exec_driver_sql(insert.format("of another"))
        assert asked() == 2
        with pytest.raises(ValueError, match="taken back"), store.writing() as connection:
            connection.exec_driver_sql(insert.format("never"))
            raise ValueError("taken back")
        assert asked() == 2
    assert [asked(), asked()] == [2, 2]
