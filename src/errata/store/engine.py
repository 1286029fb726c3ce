"""The database under the store: SQLite in a file, or PostgreSQL. Nothing else in `store` knows which it is."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    Table,
    bindparam,
    func,
    literal_column,
    update,
)

from errata.errors import StoreError, extra_hint
from errata.model.store_address import StoreLocation
from errata.store import sqlite
from errata.store.sqlite import fitting as fitting

ROW: ColumnElement[int] = literal_column("rowid", Integer)
"""The number of a row in the order of writing: SQLite's own, and a column of its name in PostgreSQL."""


T = TypeVar("T")
FEW = 500


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(values)
    while some := list(islice(rest, FEW)):
        yield some


def holds(column: ColumnElement[Any], data: bytes) -> ColumnElement[bool]:
    return func.instr(column, data) > 0


WITH_ROW_NUMBERS = ("verdicts", "tokens")
"""Tables whose rows are asked for in the order of writing."""


def is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def postgres() -> ModuleType:
    """Imported when it is needed: most stores are files."""
    try:
        from errata.store import postgres as module  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise StoreError("A store in PostgreSQL needs the driver psycopg", hint=extra_hint("postgres")) from error
    except ImportError as error:  # psycopg without libpq
        raise StoreError("The driver psycopg can't be loaded", hint=extra_hint("postgres")) from error
    return module


def of_location(location: StoreLocation) -> ModuleType:
    return sqlite if isinstance(location, Path) else postgres()


def has_table(connection: Connection, name: str) -> bool:
    return bool(_of(connection).has_table(connection, name))


def mark_as_ours(connection: Connection) -> None:
    if not is_sqlite(connection):
        postgres().mark_as_ours(connection)


def bulk_insert(
    connection: Connection, table: Table, rows: Sequence[Sequence[Any]], *, run_pk: int | None = None
) -> int:
    """Whole rows, or rows of one run, which lack only its number. Returns how many are new: others stay as they are."""
    if is_sqlite(connection):
        return sqlite.bulk_insert(connection, table, rows, run_pk=run_pk)
    return int(postgres().bulk_insert(connection, table, rows, run_pk=run_pk))


def insert_unless_there(connection: Connection, table: Table, values: dict[str, Any]) -> bool:
    """False where a row with this key is there, or is being written by a transaction that then commits."""
    dialect = import_module(f"sqlalchemy.dialects.{connection.dialect.name}")
    statement = dialect.insert(table).values(values).on_conflict_do_nothing().returning(*table.primary_key)
    return connection.execute(statement).first() is not None


def set_many(connection: Connection, column: Column[Any], pairs: Sequence[tuple[Any, int]]) -> None:
    if pairs:
        statement = (
            update(column.table).where(column.table.c.pk == bindparam("number")).values({column: bindparam("new")})
        )
        connection.execute(statement, [{"new": value, "number": number} for value, number in pairs])


def new_numbers(connection: Connection, table: Table, count: int) -> Iterator[int]:
    if is_sqlite(connection):
        return sqlite.new_numbers(connection, table)
    numbers: Iterator[int] = postgres().new_numbers(connection, table, count)
    return numbers


def catch_up_numbers(connection: Connection, table: Table) -> None:
    """After rows with numbers of their own were written into a table that numbers its rows."""
    if not is_sqlite(connection):
        postgres().catch_up_numbers(connection, table)


def lock_name(connection: Connection, name: str) -> None:
    """In a transaction that locks only rows: no other has the lock of this name until its end."""
    if not is_sqlite(connection):
        postgres().lock_name(connection, name)


def data_version(connection: Connection) -> int | str:
    """Another value after a commit of any other connection, in this process or another."""
    version: int | str = _of(connection).data_version(connection)
    return version


def read_since_last_change(connection: Connection) -> dict[Any, Any]:
    """What this connection has read and nobody has written since; a new dictionary after each change.

    A transaction that writes knows nothing: it may be rolled back. PostgreSQL can't say at once that nothing changed.
    """
    writes = connection.get_execution_options().get("errata_write") is not None
    return sqlite.read_since_last_change(connection) if is_sqlite(connection) and not writes else {}


def free_space(connection: Connection) -> None:
    _of(connection).free_space(connection)


def integrity(connection: Connection) -> list[str]:
    problems: list[str] = _of(connection).integrity(connection)
    return problems


def size_of(connection: Connection) -> int:
    return int(_of(connection).size_of(connection))


def version_of(connection: Connection) -> str:
    return str(_of(connection).version_of(connection))


def _of(connection: Connection) -> ModuleType:
    return sqlite if is_sqlite(connection) else postgres()
