"""Opinions and their references: every record decoded, every id looked up."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, Table, func, select

from errata.errors import StoreError
from errata.model import Action, Bucket, KnownGap, ReviewBatch, ReviewCall, Verdict
from errata.model.codec import unpack
from errata.model.identity import is_task_id, split_attempt_id
from errata.model.output.store import StoreProblem
from errata.model.record import Record
from errata.model.verdict import word_for
from errata.store.blocks import decompress
from errata.store.database import Store
from errata.store.deep_check import UNREADABLE
from errata.store.schema import (
    actions,
    attempts,
    bucket_events,
    bucket_members,
    buckets,
    calls,
    exclusions,
    known_gaps,
    leases,
    refusals,
    review_batches,
    runs,
    verdicts,
)
from errata.store.server_schema import live_items


class _RecordTable(NamedTuple):
    """A table with packed records: their kind, and the columns that repeat what is in them."""

    table: Table
    kind: type[Record]
    values: Callable[[Any], dict[str, Any]]


def _of_verdict(verdict: Verdict) -> dict[str, Any]:
    reviewer = {"reviewer": word_for(verdict.reviewer), "kind": verdict.reviewer.kind}
    labels = {"label": verdict.label, "owner": verdict.owner, "inherited": verdict.inherited_from is not None}
    return {"id": verdict.id, "attempt_id": verdict.attempt, "at": verdict.at or "", **reviewer, **labels}


def _of_call(call: ReviewCall) -> dict[str, Any]:
    values = {"id": call.id, "run_id": call.run, "attempt_id": call.attempt, "reviewer": call.reviewer}
    return {**values, "cache_key": call.cache_key, "state": call.state}


def _of_bucket(bucket: Bucket) -> dict[str, Any]:
    return {"id": bucket.id, "slug": bucket.slug, "suite": bucket.suite, "status": bucket.status}


RECORDS = (
    _RecordTable(verdicts, Verdict, _of_verdict),
    _RecordTable(calls, ReviewCall, _of_call),
    _RecordTable(review_batches, ReviewBatch, lambda one: {"id": one.id, "run_id": one.run, "state": one.state}),
    _RecordTable(buckets, Bucket, _of_bucket),
    _RecordTable(actions, Action, lambda one: {"id": one.id, "date": one.date}),
    _RecordTable(known_gaps, KnownGap, lambda one: {"id": one.id, "suite": one.suite, "case_key": one.case_key}),
)
PACKED = ((refusals, "answer"), (live_items, "record"), (bucket_events, "record"))
"""Tables with a compressed text."""
FETCH = 200


def problems_of_opinions(store: Store) -> Iterator[StoreProblem]:
    for check in (_records, _packed_texts, _verdicts, _members, _ids):
        try:
            with store.reading() as connection:
                problems = list(check(connection))
        except StoreError:
            continue  # a table that can't be read at all is named by the plain check
        yield from problems


def _records(connection: Connection) -> Iterator[StoreProblem]:
    for table, kind, values_of in RECORDS:
        lost, contradicting = 0, 0
        for row in _rows(connection, select(table)):
            try:
                record = unpack(row.record, kind)
            except UNREADABLE:
                lost += 1
                continue
            contradicting += any(getattr(row, name) != value for name, value in values_of(record).items())
        if lost:
            yield _damaged(table, f"{lost:,} can't be decoded", lost)
        if contradicting:
            yield _damaged(table, f"{contradicting:,} contradict their records", contradicting)


def _packed_texts(connection: Connection) -> Iterator[StoreProblem]:
    for table, column in PACKED:
        rows = _rows(connection, select(table.c[column]).where(table.c[column].is_not(None)))
        lost = sum(not _unpacks(row[0]) for row in rows)
        if lost:
            yield _damaged(table, f"{lost:,} can't be unpacked", lost)


def _verdicts(connection: Connection) -> Iterator[StoreProblem]:
    """On an attempt of a run. One of a run that was imported again may have lost its attempt, without damage."""
    heads = select(runs.c.run_id, runs.c.pk, runs.c.revision).where(runs.c.state == "current")
    current = {row.run_id: row for row in connection.execute(heads)}
    without_run, without_attempt = [], []
    for row in _rows(connection, select(verdicts.c.run_id, verdicts.c.attempt_id)):
        run = current.get(row.run_id)
        if run is None:
            without_run.append(row.attempt_id)
        elif run.revision == 1 and not is_task_id(row.attempt_id) and not _has_attempt(connection, run.pk, row):
            without_attempt.append(row.attempt_id)
    for lost, message in (
        (without_run, "verdicts on runs that are not in the store; import the runs"),
        (without_attempt, "verdicts on attempts that are not in their run"),
    ):
        if lost:
            yield StoreProblem(
                kind="reference_lost",
                table=verdicts.name,
                count=len(lost),
                attempts=tuple(lost),
                message=f"{len(lost):,} {message}",
            )


def _has_attempt(connection: Connection, pk: int, row: Row[Any]) -> bool:
    try:
        parts = split_attempt_id(row.attempt_id)
    except ValueError:
        return False
    query = select(attempts.c.seq).where(
        attempts.c.run_pk == pk,
        attempts.c.case_key == parts.case,
        attempts.c.number == parts.index,
        attempts.c.session.is_(None) if parts.session is None else attempts.c.session == parts.session,
        attempts.c.path == parts.path,
    )
    return connection.execute(query).first() is not None


def _members(connection: Connection) -> Iterator[StoreProblem]:
    lost = bucket_members.c.bucket.not_in(select(buckets.c.id))
    query = select(func.count(), func.count().filter(bucket_members.c.author != "")).where(lost)
    count, by_people = connection.execute(query).one()
    if count:
        people = f", {by_people:,} of them put there by people" if by_people else ""
        message = f"{count:,} failures are in a group that is not there{people}"
        yield StoreProblem(kind="reference_lost", table=bucket_members.name, count=count, message=message)


def _ids(connection: Connection) -> Iterator[StoreProblem]:
    """The id of an attempt begins with that of its run."""
    for table in (verdicts, refusals, calls, leases, bucket_members):
        apart = table.c.attempt_id.not_like(table.c.run_id + ":%")
        if count := connection.execute(select(func.count()).select_from(table).where(apart)).scalar_one():
            yield _damaged(table, f"{count:,} name an attempt of another run", count)
    query = select(func.count()).where(exclusions.c.run_id.not_in(select(runs.c.run_id)))
    if count := connection.execute(query).scalar_one():
        message = f"{count:,} exclusions of runs that are not in the store"
        yield StoreProblem(kind="reference_lost", table=exclusions.name, count=count, message=message)


def _damaged(table: Table, message: str, count: int) -> StoreProblem:
    return StoreProblem(kind="opinions_damaged", table=table.name, message=message, count=count)


def _rows(connection: Connection, query: Select[Any]) -> Iterator[Row[Any]]:
    yield from connection.execute(query.execution_options(yield_per=FETCH))


def _unpacks(data: bytes) -> bool:
    try:
        decompress(data)
    except UNREADABLE:
        return False
    return True
