"""Forgetting: runs that were removed, replaced, or left behind by an import that died."""

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import delete, select, update

from errata.errors import StoreError
from errata.store import sqlite
from errata.store.database import Store
from errata.store.schema import FACTS, blob_uses, blobs, exclusions, runs

GIVEN_UP_AFTER = timedelta(days=2)
"""An import of another machine or container can't be asked whether it lives; after this long it does not."""


def remove_run(store: Store, run_id: str) -> None:
    """Forget a run: its facts and what was said of it."""
    with store.writing() as connection:
        connection.execute(update(runs).where(runs.c.run_id == run_id, runs.c.state == "current").values(state="stale"))
        connection.execute(delete(exclusions).where(exclusions.c.run_id == run_id))
    collect_garbage(store)


def free_space(store: Store) -> bool:
    """Give the space back to the disk; false where another process is using the store."""
    try:
        with store.translated(), store.engine.connect() as connection:
            sqlite.free_space(connection.execution_options(isolation_level="AUTOCOMMIT"))
    except StoreError:
        return False
    return True


def collect_garbage(store: Store) -> int:
    """Delete the rows of stale runs and of dead imports; how many runs that were."""
    with store.reading() as connection:
        rows = connection.execute(
            select(runs.c.pk, runs.c.state, runs.c.importer, runs.c.imported_at).where(runs.c.state != "current")
        ).all()
    dead = [row.pk for row in rows if row.state == "stale" or _is_dead(row.importer, row.imported_at)]
    for pk in dead:
        with store.writing() as connection:
            for table in FACTS:
                connection.execute(delete(table).where(table.c.run_pk == pk))
            connection.execute(delete(runs).where(runs.c.pk == pk))
    if dead:
        with store.writing() as connection:
            connection.execute(delete(blobs).where(blobs.c.digest.not_in(select(blob_uses.c.digest))))
    return len(dead)


def importer() -> str:
    """This process, so that another can tell whether it still lives: its host, its process namespace, its number."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}:{os.getpid()}"


def _is_dead(of: str, since: str) -> bool:
    if datetime.now(UTC) - datetime.fromisoformat(since) > GIVEN_UP_AFTER:
        return True
    place, _, pid = of.rpartition(":")
    if place != importer().rpartition(":")[0]:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):
        pass
    return False
