"""All that is special about SQLite: the file, its pragmas, its transactions and its error texts."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.pool import NullPool

BUSY_SECONDS = 60
PAGE_SIZE = 16 * 1024
"""Blocks of compressed records are many times a page; larger pages make shorter chains."""
CHECKPOINT_BYTES = 32 * 1024 * 1024
DRIVER_ERRORS = (sqlite3.Error,)
_MAGIC = b"SQLite format 3\x00"


def engine_for(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": BUSY_SECONDS, "isolation_level": None}
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def is_database(path: Path) -> bool:
    """Whether a file may be opened as a database: it is one, or it is empty or absent."""
    if not path.exists():
        return True
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) in (_MAGIC, b"")


def bulk_insert(connection: Connection, table: Table, rows: Sequence[Sequence[Any]], *, run_pk: int) -> None:
    """Rows of one run, which lack only its number; what is there already stays as it is.

    It goes around the expression layer, which would take four times as long.
    """
    if rows:
        columns = [column.name for column in table.columns]
        marks = ",".join("?" * (len(columns) - 1))
        statement = f"INSERT INTO {table.name} ({','.join(columns)}) VALUES ({int(run_pk)},{marks})"  # noqa: S608
        rest = "" if table.name in _NEVER_TWICE else " ON CONFLICT DO NOTHING"
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        driver.executemany(statement + rest, rows)


_NEVER_TWICE = ("attempts", "checks", "blocks")


def free_space(connection: Connection) -> None:
    """Give the space of deleted rows back to the disk."""
    connection.exec_driver_sql("VACUUM")
    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def integrity(connection: Connection) -> list[str]:
    """What SQLite finds wrong with the file; empty where it is sound."""
    told = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
    return [] if told == ["ok"] else told


def explain(error: BaseException) -> tuple[str, str] | None:
    """A driver's error in words: what is wrong, and what would be right."""
    text = str(error).lower()
    for sign, told in _EXPLAINED:
        if sign in text:
            return told
    return None


_EXPLAINED: tuple[tuple[str, tuple[str, str]], ...] = (
    (
        "disk is full",
        (
            "No space is left on the disk of the store",
            "free some space, or use another store with `--store FILE`; nothing was lost",
        ),
    ),
    (
        "readonly",
        (
            "The store can't be written: it is read-only",
            "change its permissions, or use another store with `--store FILE`",
        ),
    ),
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
        ("The disk of the store gave an I/O error", "check the disk; `errata doctor` tells whether the store is sound"),
    ),
    (
        "malformed",
        (
            "The store is damaged",
            "`errata doctor` tells what is wrong; import the runs anew into another store with `--store FILE`",
        ),
    ),
    ("not a database", ("The store is not a SQLite database", "name another file with `--store FILE`")),
)


def _on_connect(driver: sqlite3.Connection, _record: object) -> None:
    driver.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    driver.execute("PRAGMA journal_mode = WAL")
    driver.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_BYTES // PAGE_SIZE}")
    driver.execute("PRAGMA synchronous = NORMAL")
    driver.execute("PRAGMA foreign_keys = ON")
    driver.execute("PRAGMA cache_size = -32000")


def _on_begin(connection: Connection) -> None:
    # a deferred transaction that reads first and writes later fails at once when another process wrote in between
    write = connection.get_execution_options().get("errata_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
