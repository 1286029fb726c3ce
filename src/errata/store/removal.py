"""Forgetting: runs that were removed, replaced, or left behind by an import that died."""

from sqlalchemy import delete, select, update

from errata.errors import StoreError
from errata.store import engine
from errata.store.bucket_changes import forget_empty_buckets
from errata.store.database import Store, is_dead
from errata.store.schema import FACTS, REVIEWS, blob_uses, blobs, exclusions, runs

AT_ONCE = 200
"""Runs whose rows are deleted in one transaction."""


def remove_run(store: Store, run_id: str) -> None:
    """Forget a run: its facts, attributions and reviews."""
    with store.writing() as connection:
        connection.execute(update(runs).where(runs.c.run_id == run_id, runs.c.state == "current").values(state="stale"))
        for table in (exclusions, *REVIEWS):
            connection.execute(delete(table).where(table.c.run_id == run_id))
        forget_empty_buckets(connection)
    collect_garbage(store)


def free_space(store: Store) -> bool:
    """Give the space back to the disk; false where another process is using the store."""
    try:
        with store.translated(), store.engine.connect() as connection:
            engine.free_space(connection.execution_options(isolation_level="AUTOCOMMIT"))
    except StoreError:
        return False
    return True


def collect_garbage(store: Store) -> int:
    """Delete the rows of stale runs and of dead imports; how many runs that were."""
    with store.reading() as connection:
        rows = connection.execute(
            select(runs.c.pk, runs.c.state, runs.c.importer, runs.c.imported_at).where(runs.c.state != "current")
        ).all()
    dead = [row.pk for row in rows if row.state == "stale" or is_dead(row.importer, row.imported_at)]
    for at in range(0, len(dead), AT_ONCE):
        some = dead[at : at + AT_ONCE]
        with store.writing() as connection:
            for table in FACTS:
                connection.execute(delete(table).where(table.c.run_pk.in_(some)))
            connection.execute(delete(runs).where(runs.c.pk.in_(some)))
    if dead:
        with store.writing() as connection:
            connection.execute(delete(blobs).where(blobs.c.digest.not_in(select(blob_uses.c.digest))))
    return len(dead)
