"""The table of buckets, counted in the indexes of their members: nothing of a run is opened."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, case, func, select, true

from errata.model import Bucket
from errata.model.codec import unpack
from errata.model.words import OWNERS
from errata.store.database import Store
from errata.store.schema import bucket_members, buckets, exclusions, runs


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """One bucket over some runs."""

    bucket: Bucket
    rows: int
    followers: int
    """Rows that only follow from another one."""
    cases: int
    read: int
    """Rows that a reviewer has read themselves."""
    elsewhere: int
    """Rows in runs that are not looked at."""
    runs: tuple[str, ...]
    models: tuple[str, ...]
    owners: dict[str, int]
    """The most frequent first; those of followers only where nothing else is there."""
    first_seen: str | None = None
    last_seen: str | None = None

    @property
    def mistakes(self) -> int:
        """Distinct ones: what follows from another row is none of its own."""
        return self.rows - self.followers

    @property
    def owner(self) -> str:
        return next(iter(self.owners), "unknown")


class Table(msgspec.Struct, frozen=True, kw_only=True):
    listed: tuple[Counted, ...]
    """The largest first."""
    buckets: int
    """Listed or not, apart from those of one failure that nobody has read."""
    statuses: dict[str, int]
    """Of these."""
    failures: int
    alone: int
    """Failures that share their bucket with no other, and that nobody has read; not listed unless asked for."""


def bucket_table(
    store: Store, *, run_ids: Sequence[str] | None = None, alone: bool = False, limit: int | None = None
) -> Table:
    """Buckets with members in the runs; without runs, in all that are not left out of every score."""
    with store.reading() as connection:
        records, chosen = _records(connection), _chosen(connection, run_ids)
        everywhere = _rows(connection, true())
        here = {each: rows for each, rows in _rows(connection, chosen).items() if each in records}
        single = {each for each in here if everywhere[each] == 1 and records[each].status == "provisional"}
        order = sorted(here, key=lambda each: (-here[each], records[each].slug))
        listed = [each for each in order if alone or each not in single][:limit]
        counted = _counted(connection, [records[each] for each in listed], chosen, everywhere)
    return Table(
        listed=tuple(counted),
        buckets=len(here) - len(single),
        statuses=dict(Counter(records[each].status for each in here if each not in single)),
        failures=sum(here.values()),
        alone=len(single),
    )


def count_bucket(store: Store, bucket: Bucket) -> Counted:
    """One over all runs; also one without members."""
    with store.reading() as connection:
        query = _RECORDS.where(buckets.c.id == bucket.id)
        of_it = bucket_members.c.bucket == bucket.id
        found = _counted(connection, connection.execute(query).all(), of_it, _rows(connection, of_it))
    empty = Counted(bucket=bucket, rows=0, followers=0, cases=0, read=0, elsewhere=0, runs=(), models=(), owners={})
    return next(iter(found), empty)


def _chosen(connection: Connection, run_ids: Sequence[str] | None) -> ColumnElement[bool]:
    if run_ids is not None:
        return bucket_members.c.run_id.in_(run_ids)
    excluded = [row.run_id for row in connection.execute(select(exclusions.c.run_id))]
    return bucket_members.c.run_id.not_in(excluded)


_RECORDS = select(buckets.c.id, buckets.c.slug, buckets.c.status, buckets.c.record)


def _records(connection: Connection) -> dict[str, Any]:
    return {row.id: row for row in connection.execute(_RECORDS.where(buckets.c.gone.is_(False)))}


def _rows(connection: Connection, where: ColumnElement[bool]) -> dict[str, int]:
    query = select(bucket_members.c.bucket, func.count().label("rows")).where(where).group_by(bucket_members.c.bucket)
    return {row.bucket: row.rows for row in connection.execute(query)}


def _counted(
    connection: Connection, records: Sequence[Any], chosen: ColumnElement[bool], everywhere: dict[str, int]
) -> list[Counted]:
    """Those with members, in this order."""
    ids = [record.id for record in records]
    where = chosen & bucket_members.c.bucket.in_(ids) if len(ids) <= FEW else chosen
    known = {row.run_id: row for row in connection.execute(_current())}
    sums = {row.bucket: row for row in connection.execute(_sums().where(where))}
    cases = {row.bucket: row.cases for row in connection.execute(_cases().where(where))}
    seen = _runs(connection, where)
    return [
        _one(record, sums[each], cases[each], everywhere[each], [known[run] for run in seen[each] if run in known])
        for each, record in zip(ids, records, strict=True)
        if each in sums
    ]


FEW = 500
"""Buckets that a query names."""


def _current() -> Any:
    columns = (runs.c.run_id, runs.c.model, runs.c.started_at, runs.c.imported_at)
    return select(*columns).where(runs.c.state == "current")


def _sums() -> Any:
    stands = bucket_members.c.follows.is_(False)
    counts = [_often((bucket_members.c.owner == owner) & stands).label(f"own_{owner}") for owner in OWNERS]
    return select(
        bucket_members.c.bucket,
        func.count().label("rows"),
        _often(bucket_members.c.follows).label("followers"),
        _often(bucket_members.c.role == "reviewed").label("read"),
        func.min(bucket_members.c.owner).label("some_owner"),
        *counts,
    ).group_by(bucket_members.c.bucket)


def _often(met: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((met, 1), else_=0))


def _cases() -> Any:
    counted = func.count(bucket_members.c.case_key.distinct()).label("cases")
    return select(bucket_members.c.bucket, counted).group_by(bucket_members.c.bucket)


def _runs(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for bucket, run in connection.execute(
        select(bucket_members.c.bucket, bucket_members.c.run_id).where(chosen).distinct()
    ):
        found.setdefault(bucket, []).append(run)
    return found


def _one(record: Any, row: Any, cases: int, everywhere: int, seen: Sequence[Any]) -> Counted:
    times = sorted(one.started_at or one.imported_at for one in seen)
    owners = {owner: often for owner in OWNERS if (often := getattr(row, f"own_{owner}"))}
    return Counted(
        bucket=unpack(record.record, Bucket),
        rows=row.rows,
        followers=row.followers,
        cases=cases,
        read=row.read,
        elsewhere=everywhere - row.rows,
        runs=tuple(sorted(one.run_id for one in seen)),
        models=tuple(sorted({one.model for one in seen if one.model})),
        owners=dict(sorted(owners.items(), key=lambda pair: -pair[1])) or {row.some_owner: row.rows},
        first_seen=times[0] if times else None,
        last_seen=times[-1] if times else None,
    )
