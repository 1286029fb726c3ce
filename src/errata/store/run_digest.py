"""The digest of a run, computed again from its rows.

The digest was taken while the log was read: over blocks in the order of their numbers, cases in the order of the log.
The store does not keep repeated descriptions of a case, so the digest of some runs can be confirmed only by their logs.
"""

from hashlib import blake2b
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, select

from errata.model import Run
from errata.model.codec import pack, unpack
from errata.model.run import without_folder_names
from errata.store.blocks import BLOCK_SIZE, decompress
from errata.store.content_digest import DIGEST_SIZE, OLDER_SIZE, ContentDigest, is_older
from errata.store.older_digests import FEW_BLOCKS, case_records, older_contents
from errata.store.run_totals import UNREADABLE_KEPT
from errata.store.schema import attempts, blocks, case_versions, thinned, unreadables

DigestState = Literal["confirmed", "open", "differs"]
_BLOCKS_AT_ONCE = 16


def digest_state(connection: Connection, head: Row[Any]) -> DigestState:
    """`differs` only where there is one possible order. The caller has decoded every record before."""
    if any(_has_rows(connection, table, head.pk) for table in (thinned, case_versions)):
        return "open"
    contents = older_contents(connection, head) if is_older(head.digest) else iter((_content(connection, head.pk),))
    try:
        if _whole(connection, head, next(contents)) == head.digest:
            return "confirmed"
        if _is_small(connection, head.pk):
            return "differs"
        return "confirmed" if any(_whole(connection, head, other) == head.digest for other in contents) else "open"
    except LookupError:
        return "open"


def _has_rows(connection: Connection, table: Any, pk: int) -> bool:
    return connection.execute(select(table.c.run_pk).where(table.c.run_pk == pk).limit(1)).first() is not None


def _whole(connection: Connection, head: Row[Any], content: str) -> str:
    """As `RunTotals.digest` computes it."""
    whole = blake2b(
        pack(without_folder_names(unpack(head.record, Run))),
        digest_size=OLDER_SIZE if is_older(head.digest) else DIGEST_SIZE,
    )
    whole.update(content.encode())
    whole.update(str(head.counts.get("unreadable", 0)).encode())
    query = select(unreadables.c.record).where(unreadables.c.run_pk == head.pk).order_by(unreadables.c.number)
    for record in connection.scalars(query):
        whole.update(record)
    return whole.hexdigest()


def _is_small(connection: Connection, pk: int) -> bool:
    """At most one block of records and one of steps, neither full, of one reader: both were written at the end."""
    query = select(blocks.c.number, blocks.c.data).where(blocks.c.run_pk == pk).order_by(blocks.c.number)
    few = connection.execute(query.limit(FEW_BLOCKS + 1)).all()
    if [row.number for row in few] != list(range(1, len(few) + 1)) or len(few) > FEW_BLOCKS:
        return False
    kinds = connection.execute(
        select(attempts.c.record_block, attempts.c.steps_block).where(attempts.c.run_pk == pk).distinct()
    ).all()
    one_each = len({row[0] for row in kinds}) <= 1 and len({row[1] for row in kinds} - {None}) <= 1
    unread = connection.execute(select(func.count()).where(unreadables.c.run_pk == pk)).scalar_one()
    return one_each and unread < UNREADABLE_KEPT and all(len(decompress(row.data)) < BLOCK_SIZE for row in few)


def _content(connection: Connection, pk: int) -> str:
    content = ContentDigest()
    content.add_cases(case_records(connection, pk))
    query = select(blocks.c.number, blocks.c.data).where(blocks.c.run_pk == pk).order_by(blocks.c.number)
    for row in connection.execute(query.execution_options(yield_per=_BLOCKS_AT_ONCE)):
        content.add_block(row.number, decompress(row.data))
    return content.hexdigest()
