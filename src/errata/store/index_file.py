"""A file beside the store with what the server needs for lists and searches. It can be deleted at any time.

Everything in it comes from the store. It is a file of its own so that building it never holds the lock of the store,
and so that a store is not larger for users who never start the server.
"""

import sqlite3
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from errata.settings import local_file
from errata.store.database import Store
from errata.store.sqlite import BUSY_SECONDS

VERSION = 6
"""Counts up with every change of the tables: a file of another version is emptied."""
_TABLES = (
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL UNIQUE, rows_mark TEXT NOT NULL DEFAULT '',
        digest_mark TEXT NOT NULL DEFAULT '', texts_mark TEXT NOT NULL DEFAULT '', digest BLOB)""",
    """CREATE TABLE failures (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL, attempt TEXT NOT NULL, case_key TEXT NOT NULL,
        owner TEXT NOT NULL, confidence TEXT NOT NULL, check_name TEXT NOT NULL, category TEXT NOT NULL,
        key TEXT NOT NULL, review TEXT NOT NULL, bucket TEXT NOT NULL, past TEXT NOT NULL,
        tokens INTEGER, duration REAL, signals TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)) WITHOUT ROWID""",
    "CREATE INDEX failures_by_bucket ON failures (run_id, bucket, owner, review)",
    "CREATE INDEX failures_by_owner ON failures (run_id, owner, review)",
    "CREATE INDEX failures_by_check ON failures (run_id, check_name, owner, review)",
    "CREATE INDEX failures_by_category ON failures (run_id, category, owner, review)",
    "CREATE INDEX failures_by_case ON failures (case_key, run_id)",
    "CREATE INDEX failures_by_attempt ON failures (attempt)",
    """CREATE TABLE lines (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL, quote TEXT NOT NULL, place TEXT NOT NULL, anchor TEXT NOT NULL,
        checks TEXT NOT NULL, PRIMARY KEY (run_id, seq)) WITHOUT ROWID""",
    """CREATE VIRTUAL TABLE texts USING fts5 (
        body, kind UNINDEXED, run_id UNINDEXED, case_key UNINDEXED, attempt UNINDEXED, place UNINDEXED,
        anchor UNINDEXED,
        tokenize = "unicode61 tokenchars '_'")""",
)
_opened: "weakref.WeakKeyDictionary[Store, sqlite3.Connection]" = weakref.WeakKeyDictionary()


def index_path(store: Store) -> Path:
    """Beside the store; of one that can only be read, beside its private copy; of a database in the user's cache."""
    own = store.own_file or local_file(store.path)
    return own.with_name(f"{own.stem}.index{own.suffix}")


def index_of(store: Store) -> sqlite3.Connection:
    """The connection of this store's thread."""
    if store not in _opened:
        _opened[store] = _connect(index_path(store))
    return _opened[store]


def close_index(store: Store) -> None:
    if (connection := _opened.pop(store, None)) is not None:
        connection.close()


CHUNK = 5_000
"""Rows of a transaction: pages that keep what they looked up do not wait longer."""


@contextmanager
def writing_index(store: Store) -> Iterator[sqlite3.Connection]:
    connection = index_of(store)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return _prepared(path)
    except sqlite3.DatabaseError:  # damaged, or a folder that can't be written: it is only a cache
        return _prepared(Path(tempfile.mkdtemp(prefix="errata-index-")) / path.name)


def _prepared(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '[a-z]*' AND name NOT GLOB '*_*'"
        for (name,) in connection.execute(named).fetchall():
            connection.execute(f"DROP TABLE {name}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    return connection
