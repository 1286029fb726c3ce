"""Two versions of errata on one store: the older one stops with a sentence, and a killed migration loses nothing."""

import gzip
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from store_fixtures import put_run, rows, sql

from errata.errors import StoreError
from errata.model.store_address import StoreLocation
from errata.store import database as stores
from errata.store.copying import copy_rows
from errata.store.database import Store, open_store, schema_of
from errata.store.runs import all_runs, exclude
from errata.store.schema import SCHEMA, metadata

OLD = sorted((Path(__file__).parents[1] / "fixtures" / "old").glob("*/store.db.gz"))[0]


def raise_schema(path: StoreLocation) -> None:
    """What a newer errata does: a table of its own, and the next number."""
    number = f"UPDATE alembic_version SET version_num = '{SCHEMA + 1:04d}'"
    sql(path, "CREATE TABLE from_the_future (x INTEGER)", number)


def content(store: Store) -> object:
    """Every byte of a file, every row of a database."""
    if isinstance(store.path, Path):
        return store.path.read_bytes()
    with store.reading() as connection:
        return [copy_rows(connection, None, table).text for table in metadata.sorted_tables]


def test_an_older_process_does_not_write_after_a_newer_one_has_migrated(store):
    """It opened the store before; its next write ends in a sentence."""
    done = put_run(store)
    raise_schema(store.path)
    before = content(store)

    with pytest.raises(StoreError, match="newer errata"):
        exclude(store, done.id, reason="r", author="me")

    assert content(store) == before


def test_an_import_of_an_older_process_stops_where_a_newer_one_has_migrated(store):
    put_run(store)
    raise_schema(store.path)

    with pytest.raises(StoreError, match="newer errata"):
        put_run(store, "run-2")

    assert rows(store.path, "runs") == 1


def killed_in_migration(path: Path, step: int) -> bool:
    """A child opens the store and kills itself before this statement of the migration; false where it was done."""
    pid = os.fork()
    if pid == 0:
        upgrade, count = stores.upgrade, 0

        def counted(connection):
            def trace(_statement):
                nonlocal count
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)

            connection.connection.driver_connection.set_trace_callback(trace)
            upgrade(connection)

        stores.upgrade = counted
        try:
            open_store(path)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


@pytest.mark.parametrize("step", [1, 2, 5, 10, 20, 40, 80])
def test_a_migration_that_was_killed_is_completed_by_the_next_start(tmp_path, step):
    path = tmp_path / "errata.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
        verdicts = database.execute("SELECT id, record FROM verdicts ORDER BY id").fetchall()
        runs = database.execute("SELECT count(*) FROM runs WHERE state = 'current'").fetchone()

    if killed_in_migration(path, step):
        with closing(sqlite3.connect(path)) as database:  # before the next start: as if nothing had begun
            assert database.execute("SELECT version_num FROM alembic_version").fetchone() == (version,)
    store = open_store(path)

    with store.reading() as connection:
        assert schema_of(connection) == SCHEMA
    assert (len(all_runs(store)),) == runs
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT id, record FROM verdicts ORDER BY id").fetchall() == verdicts
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
