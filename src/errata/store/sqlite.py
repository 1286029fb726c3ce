"""All that is special about SQLite: the file, its pragmas, its transactions and its error texts."""

import logging
import os
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import count, islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Table,
    create_engine,
    event,
)
from sqlalchemy.pool import NullPool

from errata.model.codec import fitting as fitting

# an interrupt that hits the closing of a connection ends the command in one word, without a traceback of the pool
logging.getLogger("sqlalchemy.pool").addHandler(logging.NullHandler())

BUSY_SECONDS = 60
PAGE_SIZE = 16 * 1024
"""Blocks of compressed records are many times a page; larger pages make shorter chains."""
CHECKPOINT_BYTES = 32 * 1024 * 1024
DRIVER_ERRORS = (sqlite3.Error,)
APPLICATION = 0x65727261
_MAGIC = b"SQLite format 3\x00"
_HEADER, _ID_AT, _FORMAT_AT = 100, 68, 18
_WAL_FORMAT = b"\x02\x02"


_File = tuple[int, int]
_files = threading.Lock()
_connections: Counter[_File] = Counter()
"""How many connections this process has to each file.

Whoever opens a file and closes it again gives up every lock that the process has on it, those of SQLite too (POSIX).
Another process would then take the store for unused, and remove the log that connections here still read. So nothing
else opens the file while there is a connection.
"""


class _CountedConnection(sqlite3.Connection):
    """Counted from before it opens the file until after it has closed it."""

    file: _File | None = None

    def close(self) -> None:
        super().close()
        with _files:
            if self.file is not None:
                _connections[self.file] -= 1
            self.file = None


def _file_at(path: Path) -> _File:
    status = path.stat()
    return status.st_dev, status.st_ino


def engine_for(path: Path) -> Engine:
    """The engine of one file. All engines share a dialect, so that a statement is compiled once for every store."""
    url = URL.create("sqlite", database=str(path))
    model = _in_memory()
    arguments, given = model.dialect.create_connect_args(url)
    driver: Callable[..., _CountedConnection] = sqlite3.connect

    def connect() -> Any:
        with _files:
            opened = driver(*arguments, **given, timeout=BUSY_SECONDS, isolation_level=None, factory=_CountedConnection)
            if path.exists():
                opened.file = _file_at(path)
                _connections[opened.file] += 1
        # on a disk that fills up, the log leaves room for the file: else neither fits, and the log stays
        pages = min(CHECKPOINT_BYTES, _room_at(path) // 8) // PAGE_SIZE or 1
        opened.execute(f"PRAGMA wal_autocheckpoint = {pages}")
        return opened

    pool = NullPool(connect, dialect=model.dialect)
    engine = Engine(pool, model.dialect, url, execution_options={"compiled_cache": _COMPILED})
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


_COMPILED: dict[Any, Any] = {}


@cache
def _in_memory() -> Engine:
    """A database in memory, connected once: from then on its dialect is ready."""
    engine = create_engine("sqlite://")
    engine.connect().close()
    engine.dispose()
    return engine


def prepare(path: Path) -> bool:
    """Make a new file ours; false where the file is something else. Nothing of a stranger's file is changed."""
    if path.exists() and path.stat().st_size:
        with _files:
            if _connections[_file_at(path)] > 0:
                return True
            head = _head_of(path)
        ours = _is_marked(head)
        if ours and head[_FORMAT_AT : _FORMAT_AT + 2] != _WAL_FORMAT and is_writable(path):
            _switch_on_log(path)
        return ours
    driver = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        # before the write-ahead log is switched on, so that the mark is in the file itself at once
        driver.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        driver.execute(f"PRAGMA application_id = {APPLICATION}")
        driver.execute("PRAGMA journal_mode = WAL")
    finally:
        driver.close()
    return True


def _head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEADER)


def _is_marked(head: bytes) -> bool:
    return head.startswith(_MAGIC) and head[_ID_AT : _ID_AT + 4] == APPLICATION.to_bytes(4, "big")


def has_mark(path: Path) -> bool:
    return _is_marked(_head_of(path))


def is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def copy(path: Path, to: Path) -> None:
    if path.with_name(f"{path.name}-shm").exists():  # another process may be writing
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as driver,
            closing(sqlite3.connect(to)) as target,
        ):
            driver.backup(target)
            return
    for end in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(path.with_name(path.name + end), to.with_name(to.name + end))


def _switch_on_log(path: Path) -> None:
    """For a store whose maker was killed before it did: without the write-ahead log, a reader stops every writer."""
    # a writer meets the same obstacle and reports it
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as driver, suppress(sqlite3.OperationalError):
        driver.execute("PRAGMA journal_mode = WAL")


def data_version(connection: Connection) -> int:
    return int(connection.exec_driver_sql("PRAGMA data_version").scalar_one())


def read_since_last_change(connection: Connection) -> dict[Any, Any]:
    """Changes of others change the version of the data, own ones are counted."""
    driver = _driver_of(connection)
    state = (driver.execute("PRAGMA data_version").fetchone(), driver.total_changes)
    before, known = connection.info.get("errata_read", (None, {}))
    if before != state:
        known = {}
        connection.info["errata_read"] = (state, known)
    read: dict[Any, Any] = known
    return read


def bulk_insert(
    connection: Connection, table: Table, rows: Sequence[Sequence[Any]], *, run_pk: int | None = None
) -> int:
    """Whole rows, or rows of one run, which lack only its number. Returns how many are new: others stay as they are.

    It goes around the expression layer, which would take four times as long.
    """
    if not rows:
        return 0
    marks = ["?"] * len(table.columns)
    if run_pk is not None:
        marks[0] = str(int(run_pk))
    begins = f"INSERT INTO {table.name} ({','.join(column.name for column in table.columns)}) VALUES"
    rest = "" if table.name in NEVER_TWICE else " ON CONFLICT DO NOTHING"
    driver = _driver_of(connection)
    before = driver.total_changes
    try:
        driver.executemany(f"{begins} ({','.join(marks)}){rest}", rows)
    except (OverflowError, UnicodeEncodeError):
        # the rows before the one that does not fit are there; those of other tables are skipped as they are
        there = driver.total_changes - before if table.name in NEVER_TWICE else 0
        fit = [tuple(map(fitting, row)) for row in islice(rows, there, None)]
        driver.executemany(f"{begins} ({','.join(marks)}){rest}", fit)
    return driver.total_changes - before


def new_numbers(connection: Connection, table: Table) -> Iterator[int]:
    highest = connection.exec_driver_sql("SELECT seq FROM sqlite_sequence WHERE name = ?", (table.name,)).scalar()
    return count(int(highest or 0) + 1)


def has_table(connection: Connection, name: str) -> bool:
    known = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return known.first() is not None


def _driver_of(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


NEVER_TWICE = ("runs", "attempts", "checks", "blocks")


def free_space(connection: Connection) -> None:
    connection.exec_driver_sql("VACUUM")
    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def integrity(connection: Connection) -> list[str]:
    problems = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    return [] if problems == ["ok"] else problems


def size_of(connection: Connection) -> int:
    """In bytes: the file itself, without what its log still holds."""
    return Path(str(connection.engine.url.database)).stat().st_size


def version_of(_connection: Connection) -> str:
    return sqlite3.sqlite_version


def explain(error: BaseException, path: Path) -> tuple[str, str] | None:
    text = str(error).lower()
    if "disk i/o error" in text and is_disk_full(path):
        text = "disk is full"
    for sign, explanation in _EXPLAINED:
        if sign in text:
            return explanation
    return None


def is_disk_full(path: Path) -> bool:
    """SQLite calls it an I/O error if not even its lock file fits, without which nothing is read."""
    return _room_at(path) < 4 * PAGE_SIZE


def _room_at(path: Path) -> int:
    try:
        return shutil.disk_usage(path.absolute().parent).free
    except OSError:
        return 1 << 40


def is_damage(error: BaseException) -> bool:
    text = str(error).lower()
    return any(sign in text for sign in _DAMAGE)


_DAMAGE = ("malformed", "could not decode", "disk image", "corrupt")
READ_ONLY = (
    "The store can't be written: it is read-only",
    "change its permissions, or use another store with `--store FILE`; commands that only read work as they are",
)
FULL = (
    "No space is left on the disk of the store",
    "free some space, or use another store with `--store FILE`; nothing was lost",
)
_EXPLAINED: tuple[tuple[str, tuple[str, str]], ...] = (
    ("disk is full", FULL),
    ("readonly", READ_ONLY),
    (
        "unable to open database",
        (
            "The store can't be opened or created there",
            "check the folder's permissions, or use another store with `--store FILE`",
        ),
    ),
    (
        "locked",
        (
            f"The store has been locked by another process for {BUSY_SECONDS} s",
            "wait for it to end, or use another store with `--store FILE`",
        ),
    ),
    (
        "disk i/o error",
        ("The disk of the store gave an I/O error", "check the disk; `errata doctor` checks the store"),
    ),
    ("not a database", ("The store is not a SQLite database", "name another file with `--store FILE`")),
)


def _on_connect(driver: sqlite3.Connection, _record: object) -> None:
    driver.execute("PRAGMA synchronous = NORMAL")
    driver.execute("PRAGMA foreign_keys = ON")
    driver.execute("PRAGMA cache_size = -32000")


def _on_begin(connection: Connection) -> None:
    # a deferred transaction that reads first and writes later fails at once when another process wrote in between
    if connection.get_execution_options().get("isolation_level"):
        return
    write = connection.get_execution_options().get("errata_write", False)
    _driver_of(connection).execute("BEGIN IMMEDIATE" if write else "BEGIN")
