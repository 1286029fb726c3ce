"""A digest of all rows of a table that depends neither on their order nor on the engine that holds them."""

import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from sqlalchemy import JSON, Boolean, Connection, Float, Integer, LargeBinary, Table, select

from errata.store.schema import blobs, blocks, cases, metadata

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
