"""Buckets as they are kept: the records, where every failure lies, and what the suggestions of a run were made from."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, func, select, update

from errata.model import Bucket, Verdict
from errata.model.codec import pack, unpack
from errata.model.words import MemberRole
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import bucket_members, buckets, runs, verdicts


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where a failure lies, who put it there, and what the table of buckets counts of it."""

    run: str
    attempt: str
    bucket: str
    role: MemberRole = "assigned"
    owner: str = "unknown"
    case: str = ""
    follows: bool = False
    author: str = ""
    """The person who put it there; empty where a rule did."""
    at: str = ""


class Filed(msgspec.Struct, frozen=True):
    """A bucket, and whether it is one no more: merged into another, or undone."""

    bucket: Bucket
    gone: bool = False


class Slip(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a bucket beside a failure."""

    id: str
    slug: str
    title: str
    status: str


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Of which state of a run its suggestions were made, and which state it has."""

    run: str
    triaged: str | None
    bucketed: str | None
    verdicts: int = 0
    newest: str = ""


def buckets_of(store: Store, suite: str | None = None, *, gone: bool = False) -> list[Bucket]:
    """Of one suite or of all, without members and history; with `gone` also those that are none any more."""
    with store.reading() as connection:
        return [one.bucket for one in filed_in(connection, suite) if gone or not one.gone]


def placements_of_run(store: Store, run_id: str) -> dict[str, Placement]:
    """By attempt."""
    with store.reading() as connection:
        return {one.attempt: one for one in placed(connection, bucket_members.c.run_id == run_id)}


def placements_in(store: Store, bucket: str) -> list[Placement]:
    with store.reading() as connection:
        return list(placed(connection, bucket_members.c.bucket == bucket))


def run_of(attempt: str) -> str:
    """The run that an attempt's id begins with."""
    return attempt.partition(":")[0]


def slips_of(store: Store, run_id: str, attempts: Sequence[str] | None = None) -> dict[str, Slip]:
    """Attempt → its bucket: of all failures of a run, or of some."""
    query = select(bucket_members.c.attempt_id, buckets.c.id, buckets.c.record)
    query = query.join(buckets, buckets.c.id == bucket_members.c.bucket).where(bucket_members.c.run_id == run_id)
    with store.reading() as connection:
        if attempts is None:
            return _slips(connection.execute(query))
        found: dict[str, Slip] = {}
        for some in chunks(attempts):
            found |= _slips(connection.execute(query.where(bucket_members.c.attempt_id.in_(some))))
        return found


def _slips(rows: Iterable[Row[Any]]) -> dict[str, Slip]:
    slips: dict[str, Slip] = {}
    found = {}
    for row in rows:
        if row.id not in slips:
            bucket = unpack(row.record, Bucket)
            slips[row.id] = Slip(id=bucket.id, slug=bucket.slug, title=bucket.title, status=bucket.status)
        found[row.attempt_id] = slips[row.id]
    return found


def marks_of(store: Store, run_ids: Sequence[str]) -> dict[str, Mark]:
    """By run; verdicts are only ever added, so that their number and the newest tell whether there are others."""
    found = {}
    with store.reading() as connection:
        for some in chunks(run_ids):
            query = select(verdicts.c.run_id, func.count().label("often"), func.max(verdicts.c.at).label("newest"))
            query = query.where(verdicts.c.run_id.in_(some)).group_by(verdicts.c.run_id)
            said = {row.run_id: (row.often, row.newest) for row in connection.execute(query)}
            states = select(runs.c.run_id, runs.c.triaged, runs.c.bucketed)
            states = states.where(runs.c.run_id.in_(some), runs.c.state == "current")
            for row in connection.execute(states):
                count, newest = said.get(row.run_id, (0, ""))
                found[row.run_id] = Mark(
                    run=row.run_id, triaged=row.triaged, bucketed=row.bucketed, verdicts=count, newest=newest
                )
    return found


def mark_bucketed(connection: Connection, pk: int, mark: str) -> None:
    connection.execute(update(runs).where(runs.c.pk == pk).values(bucketed=mark))


def mark_told(store: Store, suite: str, pending: str) -> None:
    """What the buckets of the suite share was told: nothing is pending any more."""
    with store.writing() as connection:
        query = select(runs.c.pk, runs.c.bucketed).where(runs.c.suite == suite, runs.c.bucketed.endswith(pending))
        for row in connection.execute(query).all():
            mark_bucketed(connection, row.pk, row.bucketed.removesuffix(pending))


def filed_in(connection: Connection, suite: str | None) -> list[Filed]:
    query = select(buckets.c.record, buckets.c.gone).order_by(buckets.c.id)
    query = query if suite is None else query.where(buckets.c.suite == suite)
    return [Filed(unpack(row.record, Bucket), bool(row.gone)) for row in connection.execute(query)]


def filed_as(connection: Connection, bucket_id: str) -> Filed | None:
    row = connection.execute(select(buckets.c.record, buckets.c.gone).where(buckets.c.id == bucket_id)).first()
    return Filed(unpack(row.record, Bucket), bool(row.gone)) if row else None


def row_of(filed: Filed) -> dict[str, Any]:
    """Members and history have tables of their own."""
    bucket = msgspec.structs.replace(filed.bucket, members=(), history=())
    values = {"id": bucket.id, "suite": bucket.suite, "slug": bucket.slug, "status": bucket.status}
    return {**values, "gone": filed.gone, "record": pack(bucket)}


def placed(connection: Connection, where: Any) -> Iterable[Placement]:
    query: Select[Any] = select(bucket_members).where(where)
    query = query.order_by(bucket_members.c.run_id, bucket_members.c.attempt_id)
    for row in connection.execute(query.execution_options(yield_per=5_000)):
        yield Placement(
            run=row.run_id,
            attempt=row.attempt_id,
            bucket=row.bucket,
            role=row.role,
            owner=row.owner,
            case=row.case_key,
            follows=bool(row.follows),
            author=row.author,
            at=row.at,
        )


def row_of_placement(one: Placement) -> dict[str, Any]:
    return {
        "run_id": one.run,
        "attempt_id": one.attempt,
        "bucket": one.bucket,
        "role": one.role,
        "owner": one.owner,
        "case_key": one.case,
        "follows": one.follows,
        "author": one.author,
        "at": one.at,
    }


def verdicts_in(connection: Connection, bucket_ids: Sequence[str]) -> dict[str, list[Verdict]]:
    """Attempt → what was said of it, oldest first; of all members of some buckets."""
    same = (bucket_members.c.run_id == verdicts.c.run_id) & (bucket_members.c.attempt_id == verdicts.c.attempt_id)
    query = select(verdicts.c.record).join(bucket_members, same).order_by(verdicts.c.at, verdicts.c.id)
    found: dict[str, list[Verdict]] = {}
    for some in chunks(bucket_ids):
        for row in connection.execute(query.where(bucket_members.c.bucket.in_(some))):
            verdict = unpack(row.record, Verdict)
            found.setdefault(verdict.attempt, []).append(verdict)
    return found
