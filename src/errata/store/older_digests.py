"""Digests that earlier versions of errata gave to runs: over cases and blocks in the order of reading."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select

from errata.model import Attempt, Case, Item, Run
from errata.model.codec import unpack
from errata.store import engine
from errata.store.attempts import STEPS, with_file_texts
from errata.store.block_scan import BlockScan
from errata.store.blocks import decompress
from errata.store.packing import pack_items
from errata.store.schema import attempts, blocks, cases

FEW_BLOCKS = 2


def older_contents(connection: Connection, head: Row[Any]) -> Iterator[str]:
    """The digests over the content of a run that its rows allow for: the store does not keep the order of reading."""
    yield _of_few_blocks(connection, head.pk)
    yield _as_read(connection, head)


def _of_few_blocks(connection: Connection, pk: int) -> str:
    content = sha256()
    for record in case_records(connection, pk):
        content.update(record)
    first = select(attempts.c.record_block).where(attempts.c.run_pk == pk).limit(1)
    records = connection.execute(first).scalar()
    query = select(blocks.c.number, blocks.c.data).where(blocks.c.run_pk == pk)
    few = connection.execute(query.limit(FEW_BLOCKS + 1)).all()
    if len(few) <= FEW_BLOCKS:
        for row in sorted(few, key=lambda block: block.number != records):
            content.update(decompress(row.data))
    return content.hexdigest()


def case_records(connection: Connection, pk: int) -> Iterator[bytes]:
    """In the order of the log, which the engine keeps as the order of rows."""
    query = select(cases.c.record).where(cases.c.run_pk == pk).order_by(engine.ROW)
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
    described = {case.key: case for case in (unpack(record, Case) for record in case_records(connection, pk))}
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
