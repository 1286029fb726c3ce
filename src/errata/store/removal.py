"""Forgetting: runs that were removed, replaced, or left behind by an import that died."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from errata.errors import StoreError
from errata.model import Action, StoredRun
from errata.model.codec import unpack
from errata.model.output.store import RunSizeOutput
from errata.store import engine
from errata.store.bucket_changes import forget_empty_buckets
from errata.store.database import Store, is_dead
from errata.store.schema import (
    FACTS,
    REVIEWS,
    actions,
    attempts,
    blob_uses,
    blobs,
    blocks,
    bucket_members,
    cases,
    exclusions,
    gates,
    live_items,
    live_runs,
    runs,
    verdicts,
)
from errata.store.thinning import thinned_runs


def remove_run(store: Store, run_id: str) -> None:
    with store.writing() as connection:
        connection.execute(update(runs).where(runs.c.run_id == run_id, runs.c.state == "current").values(state="stale"))
        for table in (exclusions, *REVIEWS, live_runs, live_items):
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
    for some in engine.chunks(dead):
        with store.writing() as connection:
            for table in FACTS:
                connection.execute(delete(table).where(table.c.run_pk.in_(some)))
            connection.execute(delete(runs).where(runs.c.pk.in_(some)))
    if dead:
        with store.writing() as connection:
            connection.execute(delete(blobs).where(blobs.c.digest.not_in(select(blob_uses.c.digest))))
    return len(dead)


# --- what `errata rm` weighs: how many bytes each run takes, and which runs people or gates still need


_SHARED = (
    select(blob_uses.c.digest, func.count().label("users")).group_by(blob_uses.c.digest).subquery("uses_of_each_text")
)


def sizes_of(store: Store, stored: Iterable[StoredRun]) -> list[RunSizeOutput]:
    """The largest first."""
    known = list(stored)
    dates = thinned_runs(store, (one.pk for one in known))
    with store.reading() as connection:
        sizes = [_size_of(connection, one, dates.get(one.pk)) for one in known]
    return sorted(sizes, key=lambda size: (-total_of(size), size.run))


def total_of(size: RunSizeOutput) -> int:
    return size.records + size.transcripts + size.files_own + size.cases


def size_of_texts(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.sum(func.length(blobs.c.data)))).scalar() or 0)


def _size_of(connection: Connection, stored: StoredRun, thinned: str | None) -> RunSizeOutput:
    pk = stored.pk
    of_steps = select(attempts.c.steps_block).where(attempts.c.run_pk == pk, attempts.c.steps_block.is_not(None))
    size = func.coalesce(func.sum(func.length(blocks.c.data)), 0)
    whole = select(size).where(blocks.c.run_pk == pk)
    total = int(connection.execute(whole).scalar_one())
    transcripts = int(connection.execute(whole.where(blocks.c.number.in_(of_steps))).scalar_one())
    files = _files_of(connection, pk)
    described = select(func.coalesce(func.sum(func.length(cases.c.record)), 0)).where(cases.c.run_pk == pk)
    return RunSizeOutput(
        run=stored.run.native_id,
        run_id=stored.run.id,
        attempts=stored.counts.attempts_made,
        records=total - transcripts,
        transcripts=transcripts,
        files_own=sum(int(row.size) for row in files if row.users == 1),
        files_shared=sum(int(row.size) for row in files if row.users > 1),
        cases=int(connection.execute(described).scalar_one()),
        thinned=thinned,
    )


def _files_of(connection: Connection, pk: int) -> list[Any]:
    query = (
        select(func.length(blobs.c.data).label("size"), _SHARED.c.users)
        .select_from(blob_uses)
        .join(blobs, blobs.c.digest == blob_uses.c.digest)
        .join(_SHARED, _SHARED.c.digest == blob_uses.c.digest)
        .where(blob_uses.c.run_pk == pk)
    )
    return list(connection.execute(query).all())


# --- which runs people or gates still need: these are kept when old runs are removed


def runs_with_opinions(store: Store) -> dict[str, set[str]]:
    """Run id → why it is needed: `verdicts`, `actions`, `baseline`, `running`."""
    reasons: dict[str, set[str]] = {}
    with store.reading() as connection:
        for reason, query in (
            ("verdicts", select(verdicts.c.run_id).where(~verdicts.c.inherited).distinct()),
            ("verdicts", select(bucket_members.c.run_id).where(bucket_members.c.author != "").distinct()),
            ("baseline", select(gates.c.baseline_id).where(gates.c.baseline_id != "").distinct()),
            ("baseline", select(gates.c.run_id).where(gates.c.verdict == "passed")),
            ("running", select(live_runs.c.run_id).where(live_runs.c.state != "finished")),
        ):
            for run_id in connection.scalars(query):
                reasons.setdefault(run_id, set()).add(reason)
        for record in connection.scalars(select(actions.c.record)):
            action = unpack(record, Action)
            if action.worked_in:
                reasons.setdefault(action.worked_in, set()).add("actions")
    return reasons
