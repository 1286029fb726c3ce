"""The digest of a run, computed again from its rows.

The digest was taken while the log was read: over blocks in the order of their numbers, cases in the order of the log.
The store does not keep repeated descriptions of a case, so the digest of some runs can be confirmed only by their logs.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec
from sqlalchemy import JSON, Boolean, Connection, Float, Integer, LargeBinary, Row, Table, func, select

from errata.model import Run
from errata.model.codec import pack, unpack
from errata.model.run import without_folder_names
from errata.store.blocks import BLOCK_SIZE, decompress
from errata.store.content_digest import DIGEST_SIZE, OLDER_SIZE, ContentDigest, is_older
from errata.store.older_digests import FEW_BLOCKS, case_records, older_contents
from errata.store.run_totals import UNREADABLE_KEPT
from errata.store.schema import attempts, blobs, blocks, case_versions, cases, metadata, thinned, unreadables

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


# --- a digest of all rows of a table that depends neither on their order nor on the engine that holds them


_SIZE = 16
_MODULUS = 1 << (8 * _SIZE)
_LARGE = frozenset((blobs.name, blocks.name, cases.name))
_encode = msgspec.msgpack.Encoder().encode
OnRows = Callable[[str, int], None]
"""Called with a table's name and how many more of its rows are done."""


def rows_at_once(table: Table) -> int:
    """How many rows are in memory together: a block or a file may have a megabyte."""
    return 16 if table.name in _LARGE else 1_000


class RowDigest:
    """The sum of a hash of each row. Every row has a weight, so a row that is missing or double changes it."""

    def __init__(self, table: Table) -> None:
        self.rows = 0
        self._sum = 0
        self._forms = [_form_of(column.type) for column in table.columns]

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        forms = self._forms
        for row in rows:
            values = [None if value is None else form(value) for form, value in zip(forms, row, strict=True)]
            self._sum += int.from_bytes(blake2b(_encode(values), digest_size=_SIZE).digest(), "big")
            self.rows += 1

    @property
    def text(self) -> str:
        return f"{self._sum % _MODULUS:0{2 * _SIZE}x}"


def _form_of(kind: object) -> Callable[[Any], Any]:
    """The one form of a value, whatever type a driver gives it."""
    if isinstance(kind, JSON):
        return lambda value: json.dumps(value, sort_keys=True, ensure_ascii=False)
    if isinstance(kind, Boolean):
        return bool
    if isinstance(kind, Integer):
        return int
    if isinstance(kind, Float):
        return float
    return bytes if isinstance(kind, LargeBinary) else str


def digests_of(connection: Connection, on_rows: OnRows = lambda *_: None) -> dict[str, RowDigest]:
    """Table → the digest of its rows, in the transaction of the caller."""
    digests = {}
    for table in metadata.sorted_tables:
        digests[table.name] = digest = RowDigest(table)
        result = connection.execute(select(table).execution_options(yield_per=rows_at_once(table)))
        for part in result.partitions():
            digest.add(part)
            on_rows(table.name, len(part))
    return digests
