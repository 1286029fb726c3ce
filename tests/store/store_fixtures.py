"""Short ways to fill a store in a test."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from errata.model import Item
from errata.model.store_address import StoreLocation
from errata.store.attributions import AttributionSpool, Kept
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.packing import PackedBatch, pack_items, seal
from errata.store.run_totals import ImportedRun
from errata.testing import a_run, an_attempt


def batches(*items: Item) -> list[PackedBatch]:
    return list(seal(pack_items(items)))


def put(store: Store, *items: Item) -> list[ImportedRun]:
    """Import what a source would yield."""
    with Importing(store) as importing:
        for batch in batches(*items):
            importing.add(batch)
        return importing.finish()


def put_owners(store: Store, pk: int, records: Iterable[Kept], version: str = "rules-1") -> None:
    """Attributions of a run, as triage writes them."""
    with AttributionSpool() as spool:
        spool.fill(records)
        spool.write(store, pk, version)


def put_run(store: Store, native_id: str = "run-1", cases: Iterable[str] = ("a", "b"), **changes) -> ImportedRun:
    """Import a run with one failed attempt per case."""
    run = a_run(native_id=native_id, **changes)
    (done,) = put(store, run, *(an_attempt(run=run.id, case=f"suite/{case}") for case in cases))
    return done


def outside(path: StoreLocation) -> Any:
    """A connection of the driver itself, past errata."""
    return sqlite3.connect(path) if isinstance(path, Path) else psycopg.connect(path.url)


def rows(path: StoreLocation, table: str) -> int:
    """How many rows a table has, seen from outside."""
    with closing(outside(path)) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def tables_with_rows(path: StoreLocation) -> set[str]:
    names = ("runs", "cases", "attempts", "checks", "blocks", "blobs", "blob_uses", "unreadables", "findings")
    return {name for name in names if rows(path, name)}


def sql(path: StoreLocation, *statements: str) -> None:
    """Change a database behind errata's back."""
    with closing(outside(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def quick_to_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't wait a minute for a lock that never opens."""
    monkeypatch.setattr("errata.store.sqlite.BUSY_SECONDS", 0.2)
