"""The digest of a run, computed again from its rows.

The digest was taken while the log was read, over cases and blocks in the order of reading. The store does not keep that
order, so the digest of some runs can be confirmed only by their logs.
"""

from collections.abc import Iterator
from hashlib import blake2b, sha256
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, func, select

from errata.model import Attempt, Case, Item, Run
from errata.model.codec import pack, unpack
from errata.model.run import without_folder_names
from errata.store import engine
from errata.store.attempts import STEPS, with_file_texts
from errata.store.block_scan import BlockScan
from errata.store.blocks import BLOCK_SIZE, decompress
from errata.store.packing import pack_items
from errata.store.run_totals import UNREADABLE_KEPT
from errata.store.schema import attempts, blocks, case_versions, cases, thinned, unreadables

DigestState = Literal["confirmed", "open", "differs"]
_FEW_BLOCKS = 2


def digest_state(connection: Connection, head: Row[Any]) -> DigestState:
    """`differs` only where there is one possible order. The caller has decoded every record before."""
    if any(_has_rows(connection, table, head.pk) for table in (thinned, case_versions)):
        return "open"
    try:
        if _whole(connection, head, _of_few_blocks(connection, head.pk)) == head.digest:
            return "confirmed"
        if _is_small(connection, head.pk):
            return "differs"
        return "confirmed" if _whole(connection, head, _as_read(connection, head)) == head.digest else "open"
    except LookupError:
        return "open"


def _has_rows(connection: Connection, table: Any, pk: int) -> bool:
    return connection.execute(select(table.c.run_pk).where(table.c.run_pk == pk).limit(1)).first() is not None


def _whole(connection: Connection, head: Row[Any], content: str) -> str:
    """As `RunTotals.digest` computes it."""
    whole = blake2b(pack(without_folder_names(unpack(head.record, Run))), digest_size=16)
    whole.update(content.encode())
    whole.update(str(head.counts.get("unreadable", 0)).encode())
    query = select(unreadables.c.record).where(unreadables.c.run_pk == head.pk).order_by(unreadables.c.number)
    for record in connection.scalars(query):
        whole.update(record)
    return whole.hexdigest()


def _is_small(connection: Connection, pk: int) -> bool:
    """At most one block of records and one of steps, neither full, of one reader: both were written at the end."""
    query = select(blocks.c.number, blocks.c.data).where(blocks.c.run_pk == pk).order_by(blocks.c.number)
    few = connection.execute(query.limit(_FEW_BLOCKS + 1)).all()
    if [row.number for row in few] != list(range(1, len(few) + 1)) or len(few) > _FEW_BLOCKS:
        return False
    kinds = connection.execute(
        select(attempts.c.record_block, attempts.c.steps_block).where(attempts.c.run_pk == pk).distinct()
    ).all()
    one_each = len({row[0] for row in kinds}) <= 1 and len({row[1] for row in kinds} - {None}) <= 1
    unread = connection.execute(select(func.count()).where(unreadables.c.run_pk == pk)).scalar_one()
    return one_each and unread < UNREADABLE_KEPT and all(len(decompress(row.data)) < BLOCK_SIZE for row in few)


def _of_few_blocks(connection: Connection, pk: int) -> str:
    content = sha256()
    for record in _case_records(connection, pk):
        content.update(record)
    first = select(attempts.c.record_block).where(attempts.c.run_pk == pk).limit(1)
    records = connection.execute(first).scalar()
    query = select(blocks.c.number, blocks.c.data).where(blocks.c.run_pk == pk)
    few = connection.execute(query.limit(_FEW_BLOCKS + 1)).all()
    if len(few) <= _FEW_BLOCKS:
        for row in sorted(few, key=lambda block: block.number != records):
            content.update(decompress(row.data))
    return content.hexdigest()


def _case_records(connection: Connection, pk: int) -> Iterator[bytes]:
    """In the order of the log, which the engine keeps as the order of rows."""
    query = select(cases.c.record).where(cases.c.run_pk == pk)
    if connection.dialect.name == "sqlite":
        query = query.order_by(engine.ROW)
    yield from connection.scalars(query.execution_options(yield_per=500))


def _as_read(connection: Connection, head: Row[Any]) -> str:
    """Packed again, as if a source gave every case before its first attempt."""
    content = sha256()
    run = msgspec.structs.replace(unpack(head.record, Run), origin=head.origin)
    for batch in pack_items(_items(connection, head.pk, run)):
        for part in batch.parts.values():
            for case in part.cases:
                content.update(case[-1])
            for _, data in part.blocks:
                content.update(data)
    return content.hexdigest()


def _items(connection: Connection, pk: int, run: Run) -> Iterator[Item]:
    yield run
    described = {case.key: case for case in (unpack(record, Case) for record in _case_records(connection, pk))}
    waiting, given = iter(described.values()), set[str]()
    records, steps = BlockScan(connection, pk), BlockScan(connection, pk)
    query = select(attempts).where(attempts.c.run_pk == pk).order_by(attempts.c.seq)
    for row in connection.execute(query.execution_options(yield_per=200)):
        attempt = unpack(records.record(row.record_block, row.record_at), Attempt)
        if row.steps_block is not None:
            transcript = STEPS.decode(steps.record(row.steps_block, row.steps_at))
            attempt = msgspec.structs.replace(attempt, steps=transcript)
        while attempt.case in described and attempt.case not in given:
            case = next(waiting)
            given.add(case.key)
            yield msgspec.structs.replace(case, artefacts=with_file_texts(connection, case.artefacts))
        yield msgspec.structs.replace(attempt, artefacts=with_file_texts(connection, attempt.artefacts))
    yield from waiting
