"""A whole store copied into another one, table by table, with a proof that nothing was lost; and private copies.

A file is written under another name, in the same folder, and gets its own name in one step at the end. An interrupted
copy is therefore not taken for a store, and the next one starts again.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from errata.errors import StoreError
from errata.model.output.store import TableProof
from errata.store import engine
from errata.store.database import Store, open_store, schema_of
from errata.store.run_digest import OnRows, RowDigest, digests_of, rows_at_once
from errata.store.schema import SCHEMA, metadata, runs

IN_WORK = ".part"
"""How the name of an unfinished file ends."""


def part_of(path: Path) -> Path:
    """The name of a file while it is being written."""
    return path.with_name(f".{path.name}{IN_WORK}")


def remove_store_file(path: Path) -> None:
    """A file and what SQLite keeps beside it."""
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


@contextmanager
def new_store_file(path: Path) -> Iterator[Path]:
    """The name under which to write it; it gets its own name in one step, and nothing is left where that fails."""
    part = part_of(path)
    part.parent.mkdir(parents=True, exist_ok=True)
    remove_store_file(part)
    try:
        yield part
        part.chmod(0o600)  # it may hold secrets of the logs, and its folder may be open to others
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    finally:
        remove_store_file(part)


def _sync(path: Path) -> None:
    """A crash of the machine must not leave a name without its content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems can't sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


def is_empty(store: Store) -> bool:
    """Whether no table has a row."""
    with store.reading() as connection:
        return not any(connection.execute(select(table).limit(1)).first() for table in metadata.sorted_tables)


def count_runs(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).where(runs.c.state == "current")).scalar_one())


def copy_into_file(source: Store, path: Path, on_rows: OnRows = lambda *_: None) -> tuple[TableProof, ...]:
    """Where the proof fails, there is no file."""
    part = part_of(path)
    try:
        with new_store_file(path):
            target = open_store(part)
            proof = copy_into_store(source, target, on_rows)
            close_file(target)
            if differing(proof):
                raise _DiffersError(proof)
    except _DiffersError as error:
        return error.proof
    return proof


def close_file(store: Store) -> None:
    """Move everything that was written into the file itself."""
    with store.translated(), store.engine.connect() as connection:
        own = connection.execution_options(isolation_level="AUTOCOMMIT")
        own.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.engine.dispose()


def copy_into_store(source: Store, target: Store, on_rows: OnRows = lambda *_: None) -> tuple[TableProof, ...]:
    """Into an empty store: all of it, or nothing where the copy breaks off or differs."""
    try:
        with source.reading() as reader, target.writing() as writer:
            given = {table.name: _copy_table(reader, writer, table, on_rows) for table in metadata.sorted_tables}
            for table in metadata.sorted_tables:
                if table.autoincrement_column is not None:
                    engine.catch_up_numbers(writer, table)
            proof = proof_of(given, digests_of(writer, on_rows))
            if differing(proof):
                raise _DiffersError(proof)
    except _DiffersError as error:
        return error.proof
    return proof


class _DiffersError(Exception):
    """Ends the transaction, or the writing of the file, without a result."""

    def __init__(self, proof: tuple[TableProof, ...]) -> None:
        super().__init__()
        self.proof = proof


def _copy_table(reader: Connection, writer: Connection, table: Table, on_rows: OnRows) -> RowDigest:
    digest, names = RowDigest(table), [column.name for column in table.columns]
    query = select(table)
    if table.name in engine.WITH_ROW_NUMBERS:  # the copy numbers them in the order of writing, too
        query = query.order_by(engine.ROW)
    result = reader.execute(query.execution_options(yield_per=rows_at_once(table)))
    for part in result.partitions():
        digest.add(part)
        writer.execute(insert(table), [dict(zip(names, row, strict=True)) for row in part])
        on_rows(table.name, len(part))
    return digest


def proof_of(given: dict[str, RowDigest], arrived: dict[str, RowDigest]) -> tuple[TableProof, ...]:
    return tuple(
        TableProof(
            table=name,
            rows=digest.rows,
            digest=digest.text,
            rows_copied=arrived[name].rows,
            digest_copied=arrived[name].text,
        )
        for name, digest in given.items()
    )


def differing(proof: tuple[TableProof, ...]) -> tuple[TableProof, ...]:
    return tuple(table for table in proof if not table.is_equal)


# --- a copy of a database that may only be read, in a file that nobody else sees


ROWS = 2_000


def copy_database(source: Store, target: Store) -> None:
    """All rows of one moment; `target` is new and empty."""
    with source.reading() as origin, target.writing() as connection:
        version = schema_of(origin)
        if version not in (0, SCHEMA):
            hint = f"use an errata of that schema, or let a user who may write bring it to schema {SCHEMA}"
            raise StoreError(
                f"The store has schema {version}, and this user may only read it: `{source.path}`", hint=hint
            )
        for table in metadata.sorted_tables if version else ():
            query = select(table).order_by(*_order(table)).execution_options(yield_per=ROWS)
            for rows in origin.execute(query).partitions():
                engine.bulk_insert(connection, table, [_plain(row) for row in rows])


def _plain(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(json.dumps(value) if isinstance(value, dict) else value for value in row)


def _order(table: Table) -> list[Any]:
    """That of writing, where it matters."""
    return [engine.ROW] if table.name in engine.WITH_ROW_NUMBERS else list(table.primary_key)
