"""Damaged rows replaced: from the logs, from intact records, or dropped so that they are derived again.

Verdicts and other opinions are never touched.
"""

from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Table, delete, insert, select, update

from errata.model import Attempt, Case, Run
from errata.model.codec import unpack
from errata.store import engine
from errata.store.block_scan import BlockScan
from errata.store.database import Store
from errata.store.deep_check import UNREADABLE, contradictions
from errata.store.packing import noteworthy_checks
from errata.store.removal import collect_garbage
from errata.store.run_digest import RowDigest, rows_at_once
from errata.store.schema import (
    FACTS,
    attempts,
    attributions,
    blob_uses,
    blobs,
    blocks,
    bucket_members,
    buckets,
    case_versions,
    cases,
    checks,
    findings,
    runs,
    summaries,
    unreadables,
    version_starts,
)

FROM_LOGS = (cases, case_versions, version_starts, attempts, checks, blocks, blob_uses, unreadables)
"""What an import writes, apart from the run itself and the texts of files."""
DERIVED = (attributions, findings, summaries)
_OWN = ("revision", "imported_at", "importer", "origin")
"""Columns of `runs` that a log does not have."""


def run_row(store: Store, pk: int) -> Row[Any] | None:
    with store.reading() as connection:
        return connection.execute(select(runs).where(runs.c.pk == pk)).first()


def current_row(store: Store, run_id: str) -> Row[Any] | None:
    with store.reading() as connection:
        return connection.execute(select(runs).where(runs.c.run_id == run_id, runs.c.state == "current")).first()


def has_same_facts(store: Store, pk: int, other: Store, other_pk: int) -> bool:
    """Whether only the run's own row can differ."""
    return _facts_of(store, pk) == _facts_of(other, other_pk)


def _facts_of(store: Store, pk: int) -> list[str]:
    digests = []
    with store.reading() as connection:
        for table in FROM_LOGS:
            digest = RowDigest(table)
            for part in _rows_of(connection, table, pk):
                digest.add((0, *row[1:]) for row in part)
            digests.append(digest.text)
    return digests


def _rows_of(connection: Connection, table: Table, pk: int) -> Iterator[Any]:
    query = select(table).where(table.c.run_pk == pk)
    if table is cases:
        query = query.order_by(engine.ROW)  # their order is part of the run's digest
    yield from connection.execute(query.execution_options(yield_per=rows_at_once(table))).partitions()


def replace_facts(store: Store, pk: int, other: Store, other_pk: int, damaged_blobs: Collection[str]) -> None:
    """Put the facts that were read again in the place of the damaged ones, in one transaction."""
    with other.reading() as reader, store.writing() as writer:
        old = writer.execute(select(runs).where(runs.c.pk == pk)).one()
        new = reader.execute(select(runs).where(runs.c.pk == other_pk)).one()
        values = {name: value for name, value in new._mapping.items() if name not in ("pk", "triaged", "bucketed")}
        values |= {name: getattr(old, name) for name in _OWN}
        made = writer.execute(insert(runs).values(**values)).inserted_primary_key
        assert made is not None
        for table in FROM_LOGS:
            _copy_rows(reader, writer, table, (other_pk, made[0]))
        _copy_blobs(reader, writer, other_pk, damaged_blobs)
        writer.execute(update(runs).where(runs.c.pk == pk).values(state="stale"))
    collect_garbage(store)


def _copy_rows(reader: Connection, writer: Connection, table: Table, numbers: tuple[int, int]) -> None:
    for part in _rows_of(reader, table, numbers[0]):
        writer.execute(insert(table), [dict(row._mapping) | {"run_pk": numbers[1]} for row in part])


def _copy_blobs(reader: Connection, writer: Connection, other_pk: int, damaged: Collection[str]) -> None:
    used = select(blob_uses.c.digest).where(blob_uses.c.run_pk == other_pk)
    for digest in reader.scalars(used).all():
        known = writer.execute(select(blobs.c.size).where(blobs.c.digest == digest)).first()
        if known is not None and digest not in damaged:
            continue
        row = reader.execute(select(blobs).where(blobs.c.digest == digest)).one()
        writer.execute(delete(blobs).where(blobs.c.digest == digest))
        writer.execute(insert(blobs).values(**row._mapping))


def rebuild_rows(store: Store, pk: int) -> None:
    """Columns, checks and lists of files from the records, as far as these are intact."""
    used: set[str] = set()
    with store.writing() as connection:
        scan = BlockScan(connection, pk)
        query = select(attempts).where(attempts.c.run_pk == pk).order_by(attempts.c.record_block, attempts.c.record_at)
        for row in connection.execute(query).all():
            try:
                attempt = unpack(scan.record(row.record_block, row.record_at), Attempt)
            except (LookupError, *UNREADABLE):
                continue
            _rebuild_attempt(connection, row, attempt)
            used |= {artefact.blob for artefact in attempt.artefacts if artefact.blob}
        head = connection.execute(select(runs.c.record).where(runs.c.pk == pk)).scalar_one()
        described = [*_records_in(connection, cases, pk), *_records_in(connection, case_versions, pk)]
        for record in (unpack(head, Run).context, *(case.artefacts for case in described)):
            used |= {artefact.blob for artefact in record if artefact.blob}
        connection.execute(delete(blob_uses).where(blob_uses.c.run_pk == pk))
        if used:
            connection.execute(insert(blob_uses), [{"run_pk": pk, "digest": digest} for digest in sorted(used)])


def _rebuild_attempt(connection: Connection, row: Row[Any], attempt: Attempt) -> None:
    own = (attempts.c.run_pk == row.run_pk) & (attempts.c.seq == row.seq)
    if wrong := contradictions(attempt, row):
        connection.execute(update(attempts).where(own).values({name: wrong[name] for name in wrong}))
    connection.execute(delete(checks).where(checks.c.run_pk == row.run_pk, checks.c.seq == row.seq))
    rows = [
        {"run_pk": row.run_pk, "seq": row.seq, "place": place, "name": engine.fitting(name), "status": status}
        for place, name, status in noteworthy_checks(attempt.checks)
    ]
    if rows:
        connection.execute(insert(checks), rows)


def _records_in(connection: Connection, table: Table, pk: int) -> Iterator[Case]:
    for record in connection.scalars(select(table.c.record).where(table.c.run_pk == pk)).all():
        try:
            yield unpack(record, Case)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue


def drop_derived(store: Store, pk: int) -> None:
    """Owners, findings and summaries of a run: the next command that needs them computes them again."""
    with store.writing() as connection:
        for table in DERIVED:
            connection.execute(delete(table).where(table.c.run_pk == pk))
        connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=None, bucketed=None))


def drop_lost_members(store: Store) -> int:
    """Failures that a rule put into a group that is not there: they are grouped again. How many."""
    lost = bucket_members.c.bucket.not_in(select(buckets.c.id)) & (bucket_members.c.author == "")
    with store.writing() as connection:
        concerned = select(bucket_members.c.run_id).where(lost).distinct()
        connection.execute(update(runs).where(runs.c.run_id.in_(concerned)).values(bucketed=None))
        return int(connection.execute(delete(bucket_members).where(lost)).rowcount)


def drop_rows_of_no_run(store: Store) -> int:
    """Rows whose run is gone; how many."""
    with store.writing() as connection:
        gone = sum(
            connection.execute(delete(table).where(table.c.run_pk.not_in(select(runs.c.pk)))).rowcount
            for table in FACTS
        )
        connection.execute(delete(blobs).where(blobs.c.digest.not_in(select(blob_uses.c.digest))))
    return gone
