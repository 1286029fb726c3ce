"""Buckets in the store: the records, the place of every failure, the counts over them, and which runs are stale."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, case, func, select, true, update

from errata.model import (
    Bucket,
    BucketCounts,
    BucketMark,
    BucketPlace,
    BucketTable,
    BucketVersion,
    Placement,
    Verdict,
)
from errata.model.codec import pack, unpack
from errata.model.standing import without_withdrawn
from errata.model.words import OWNERS, MemberRole
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.schema import bucket_members, buckets, exclusions, runs, verdicts

FEW = 500


def buckets_of(store: Store, suite: str | None = None, *, gone: bool = False) -> list[Bucket]:
    """Of one suite or of all; with `gone` the retired ones too."""
    with store.reading() as connection:
        return [one.bucket for one in read_versions(connection, suite) if gone or not one.gone]


def placements_of_run(store: Store, run_id: str) -> dict[str, Placement]:
    with store.reading() as connection:
        return {one.attempt: one for one in read_placements(connection, bucket_members.c.run_id == run_id)}


def bucket_of_each(store: Store, run_id: str) -> dict[str, str]:
    query = select(bucket_members.c.attempt_id, bucket_members.c.bucket).where(bucket_members.c.run_id == run_id)
    known: dict[str, str] = {}
    with store.reading() as connection:
        return {attempt: known.setdefault(bucket, bucket) for attempt, bucket in connection.execute(query)}


def placements_in(store: Store, bucket: str) -> list[Placement]:
    with store.reading() as connection:
        return list(read_placements(connection, bucket_members.c.bucket == bucket))


def bucket_runs(store: Store, name: str) -> tuple[str, list[str]] | None:
    members = buckets.outerjoin(bucket_members, bucket_members.c.bucket == buckets.c.id)
    query = select(buckets.c.slug, bucket_members.c.run_id).select_from(members).where(~buckets.c.gone).distinct()
    with store.reading() as connection:
        rows = list(connection.execute(query.where((buckets.c.slug == name) | (buckets.c.id == name))))
    return (rows[0].slug, [row.run_id for row in rows if row.run_id]) if rows else None


def buckets_in_other_runs(store: Store, suite: str, run_id: str) -> set[str]:
    query = select(bucket_members.c.bucket).join(buckets, buckets.c.id == bucket_members.c.bucket).distinct()
    with store.reading() as connection:
        return set(connection.scalars(query.where(buckets.c.suite == suite, bucket_members.c.run_id != run_id)))


def run_of(attempt: str) -> str:
    return attempt.partition(":")[0]


def bucket_places(store: Store, run_id: str, attempts: Sequence[str] | None = None) -> dict[str, BucketPlace]:
    query = select(bucket_members.c.attempt_id, bucket_members.c.role, buckets.c.id, buckets.c.record)
    query = query.join(buckets, buckets.c.id == bucket_members.c.bucket).where(bucket_members.c.run_id == run_id)
    with store.reading() as connection:
        if attempts is None:
            return _places(connection.execute(query))
        places: dict[str, BucketPlace] = {}
        for some in chunks(attempts):
            places |= _places(connection.execute(query.where(bucket_members.c.attempt_id.in_(some))))
        return places


def _places(rows: Iterable[Row[Any]]) -> dict[str, BucketPlace]:
    places: dict[tuple[str, str], BucketPlace] = {}
    places_by_attempt = {}
    for row in rows:
        if (row.id, row.role) not in places:
            places[row.id, row.role] = _place(unpack(row.record, Bucket), row.role)
        places_by_attempt[row.attempt_id] = places[row.id, row.role]
    return places_by_attempt


def _place(bucket: Bucket, role: MemberRole) -> BucketPlace:
    title = bucket.title
    if role == "assigned" and bucket.named_by == "reviewer":
        title = bucket.rule_title or title
    return BucketPlace(id=bucket.id, slug=bucket.slug, title=title, status=bucket.status, role=role)


_VERDICTS_BY_RUN = (
    select(verdicts.c.run_id, func.count().label("often"), func.max(verdicts.c.at).label("newest"))
    .where(verdicts.c.run_id.in_(bindparam("runs", expanding=True)))
    .group_by(verdicts.c.run_id)
)
_STATES = select(runs.c.run_id, runs.c.triaged, runs.c.bucketed).where(
    runs.c.run_id.in_(bindparam("runs", expanding=True)), runs.c.state == "current"
)


def bucket_marks(store: Store, run_ids: Sequence[str]) -> dict[str, BucketMark]:
    """By run; verdicts are only ever added, so their number and the newest show whether there are others."""
    return dict(store.read_once(("marks", *run_ids), lambda connection: _read_marks(connection, run_ids)))


def _read_marks(connection: Connection, run_ids: Sequence[str]) -> dict[str, BucketMark]:
    marks = {}
    for some in chunks(run_ids):
        counted = {row.run_id: (row.often, row.newest) for row in connection.execute(_VERDICTS_BY_RUN, {"runs": some})}
        for row in connection.execute(_STATES, {"runs": some}):
            count, newest = counted.get(row.run_id, (0, ""))
            marks[row.run_id] = BucketMark(
                run=row.run_id, triaged=row.triaged, bucketed=row.bucketed, verdicts=count, newest=newest
            )
    return marks


def mark_bucketed(connection: Connection, pk: int, mark: str) -> None:
    connection.execute(update(runs).where(runs.c.pk == pk).values(bucketed=mark))


def remove_pending_marks(store: Store, suite: str, pending: str) -> None:
    with store.writing(derived=True) as connection:
        query = select(runs.c.pk, runs.c.bucketed).where(runs.c.suite == suite, runs.c.bucketed.endswith(pending))
        for row in connection.execute(query).all():
            mark_bucketed(connection, row.pk, row.bucketed.removesuffix(pending))


# rows and records, within a transaction


def read_versions(connection: Connection, suite: str | None) -> list[BucketVersion]:
    query = select(buckets.c.record, buckets.c.gone).order_by(buckets.c.id)
    query = query if suite is None else query.where(buckets.c.suite == suite)
    return [BucketVersion(unpack(row.record, Bucket), bool(row.gone)) for row in connection.execute(query)]


def read_version(connection: Connection, bucket_id: str) -> BucketVersion | None:
    row = connection.execute(select(buckets.c.record, buckets.c.gone).where(buckets.c.id == bucket_id)).first()
    return BucketVersion(unpack(row.record, Bucket), bool(row.gone)) if row else None


def version_row(version: BucketVersion) -> dict[str, Any]:
    bucket = version.bucket
    values = {"id": bucket.id, "suite": bucket.suite, "slug": bucket.slug, "status": bucket.status}
    return {**values, "gone": version.gone, "record": pack(bucket)}


def read_placements(connection: Connection, where: ColumnElement[bool]) -> Iterator[Placement]:
    query: Select[Any] = select(bucket_members).where(where)
    query = query.order_by(bucket_members.c.run_id, bucket_members.c.attempt_id)
    for row in connection.execute(query.execution_options(yield_per=5_000)):
        run, attempt, bucket, role, owner, case_key, follows, author, at = row
        yield Placement(
            run=run,
            attempt=attempt,
            bucket=bucket,
            role=role,
            owner=owner,
            case=case_key,
            follows=bool(follows),
            author=author,
            at=at,
        )


def placement_row(placement: Placement) -> tuple[Any, ...]:
    return _columns_of(placement)


_columns_of = attrgetter("run", "attempt", "bucket", "role", "owner", "case", "follows", "author", "at")


def verdicts_in(connection: Connection, bucket_ids: Sequence[str]) -> dict[str, list[Verdict]]:
    """Attempt → its verdicts, oldest first; of all members of some buckets."""
    same = (bucket_members.c.run_id == verdicts.c.run_id) & (bucket_members.c.attempt_id == verdicts.c.attempt_id)
    query = select(verdicts.c.record).join(bucket_members, same).order_by(verdicts.c.at, verdicts.c.id)
    # a bucket may have members in very many runs that nobody has reviewed
    query = query.where(bucket_members.c.run_id.in_(select(verdicts.c.run_id)))
    by_attempt: dict[str, list[Verdict]] = {}
    for some in chunks(bucket_ids):
        for row in connection.execute(query.where(bucket_members.c.bucket.in_(some))):
            verdict = unpack(row.record, Verdict)
            by_attempt.setdefault(verdict.attempt, []).append(verdict)
    return {attempt: left for attempt, given in by_attempt.items() if (left := without_withdrawn(given))}


# counts, from the indexes of the members: no run is opened


def bucket_table(
    store: Store, *, run_ids: Sequence[str] | None = None, alone: bool = False, limit: int | None = None
) -> BucketTable:
    """Buckets with members in the runs; without runs, in all that are not left out of every score."""
    with store.reading() as connection:
        records, chosen = _records(connection), _chosen(connection, run_ids)
        everywhere = _rows(connection, true())
        here = {each: rows for each, rows in _rows(connection, chosen).items() if each in records}
        single = {each for each in here if everywhere[each] == 1 and records[each].status == "provisional"}
        order = sorted(here, key=lambda each: (-here[each], records[each].slug))
        listed = [each for each in order if alone or each not in single][:limit]
        counted = _counted(connection, [records[each] for each in listed], chosen, everywhere)
    return BucketTable(
        listed=tuple(counted),
        buckets=len(here) - len(single),
        statuses=dict(Counter(records[each].status for each in here if each not in single)),
        failures=sum(here.values()),
        alone=len(single),
    )


def count_bucket(store: Store, bucket: Bucket) -> BucketCounts:
    """One over all runs; also one without members."""
    with store.reading() as connection:
        query = _RECORDS.where(buckets.c.id == bucket.id)
        of_it = bucket_members.c.bucket == bucket.id
        counted = _counted(connection, connection.execute(query).all(), of_it, _rows(connection, of_it))
    empty = BucketCounts(
        bucket=bucket,
        rows=0,
        followers=0,
        cases=0,
        read=0,
        inherited=0,
        assigned=0,
        elsewhere=0,
        runs=(),
        models=(),
        owners={},
    )
    return next(iter(counted), empty)


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
) -> list[BucketCounts]:
    ids = [record.id for record in records]
    where = chosen & bucket_members.c.bucket.in_(ids) if len(ids) <= FEW else chosen
    known = {row.run_id: row for row in connection.execute(_current())}
    sums = {row.bucket: row for row in connection.execute(_sums().where(where))}
    cases = {row.bucket: row.cases for row in connection.execute(_cases().where(where))}
    seen = _runs(connection, where)
    return [
        _counts(record, sums[each], cases[each], everywhere[each], [known[run] for run in seen[each] if run in known])
        for each, record in zip(ids, records, strict=True)
        if each in sums
    ]


def _current() -> Any:
    columns = (runs.c.run_id, runs.c.model, runs.c.started_at)
    return select(*columns).where(runs.c.state == "current")


def _sums() -> Any:
    stands = bucket_members.c.follows.is_(False)
    counts = [_often((bucket_members.c.owner == owner) & stands).label(f"own_{owner}") for owner in OWNERS]
    return select(
        bucket_members.c.bucket,
        func.count().label("rows"),
        _often(bucket_members.c.follows).label("followers"),
        _often(bucket_members.c.role == "reviewed").label("read"),
        _often(bucket_members.c.role == "inherited").label("inherited"),
        _often((bucket_members.c.role == "assigned") & stands).label("assigned"),
        func.min(bucket_members.c.owner).label("some_owner"),
        *counts,
    ).group_by(bucket_members.c.bucket)


def _often(met: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((met, 1), else_=0))


def _cases() -> Any:
    counted = func.count(bucket_members.c.case_key.distinct()).label("cases")
    return select(bucket_members.c.bucket, counted).group_by(bucket_members.c.bucket)


def _runs(connection: Connection, chosen: ColumnElement[bool]) -> dict[str, list[str]]:
    runs_by_bucket: dict[str, list[str]] = {}
    for bucket, run in connection.execute(
        select(bucket_members.c.bucket, bucket_members.c.run_id).where(chosen).distinct()
    ):
        runs_by_bucket.setdefault(bucket, []).append(run)
    return runs_by_bucket


def _counts(record: Any, row: Any, cases: int, everywhere: int, seen: Sequence[Any]) -> BucketCounts:
    times = sorted(one.started_at for one in seen if one.started_at)
    owners = {owner: often for owner in OWNERS if (often := getattr(row, f"own_{owner}"))}
    return BucketCounts(
        bucket=unpack(record.record, Bucket),
        rows=row.rows,
        followers=row.followers,
        cases=cases,
        read=row.read,
        inherited=row.inherited,
        assigned=row.assigned,
        elsewhere=everywhere - row.rows,
        runs=tuple(sorted(one.run_id for one in seen)),
        models=tuple(sorted({one.model for one in seen if one.model})),
        owners=dict(sorted(owners.items(), key=lambda pair: -pair[1])) or {row.some_owner: row.rows},
        first_seen=times[0] if times else None,
        last_seen=times[-1] if times else None,
    )
