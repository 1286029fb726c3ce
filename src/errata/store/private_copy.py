"""A copy of a database that may only be read, in a file that nobody else sees."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, select

from errata.errors import StoreError
from errata.store import engine
from errata.store.database import Store, schema_of
from errata.store.schema import SCHEMA, metadata

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
