"""What `errata rm` weighs: how many bytes each run takes, and which runs people or gates still need."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, select

from errata.model import Action, StoredRun
from errata.model.codec import unpack
from errata.model.output.store import RunSizeOutput
from errata.store.database import Store
from errata.store.schema import actions, attempts, blob_uses, blobs, blocks, bucket_members, cases, gates, verdicts
from errata.store.server_schema import live_runs
from errata.store.thinning import thinned_runs

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
    """What removing the run alone would free."""
    return size.records + size.transcripts + size.files_own + size.cases


def size_of_texts(store: Store) -> int:
    """Texts of files of all runs, each once."""
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
