"""The blocks of one run, each unpacked once, with the records that rows ask for and those that none asks for."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from errata.store.blocks import LENGTH, ZstdError, decompress
from errata.store.schema import blocks


class BlockScan:
    """Gives records by address. Rows come in the order of addresses, so a block is unpacked once or twice."""

    def __init__(self, connection: Connection, pk: int) -> None:
        self._connection, self._pk = connection, pk
        self._number, self._data = -1, b""
        self._problem = ""
        self._asked: dict[int, int] = {}
        """Block → how many of its records were asked for, each once: rows come in the order of addresses."""
        self._last = (-1, -1)

    def record(self, number: int, at: int) -> bytes:
        """`LookupError`, with the reason, where the block or the place in it is lost."""
        if number != self._number:
            self._load(number)
        if self._problem:
            raise LookupError(self._problem)
        if (number, at) != self._last:
            self._asked[number] = self._asked.get(number, 0) + 1
            self._last = (number, at)
        start = at + LENGTH
        end = start + int.from_bytes(self._data[at:start], "big")
        if at < 0 or start > len(self._data) or end > len(self._data):
            raise LookupError(f"block {number} has no record at {at}")
        return self._data[start:end]

    def _load(self, number: int) -> None:
        row = select(blocks.c.data).where(blocks.c.run_pk == self._pk, blocks.c.number == number)
        data = self._connection.execute(row).scalar()
        self._number, self._data, self._problem = number, b"", ""
        if data is None:
            self._problem = f"block {number} is missing"
            return
        try:
            self._data = decompress(data)
        except ZstdError:
            self._problem = f"block {number} can't be unpacked"

    def without_a_row(self) -> Iterator[str]:
        """Records that no row of `attempts` names: their rows are lost. Call it after every record was asked for."""
        query = select(blocks.c.number).where(blocks.c.run_pk == self._pk).order_by(blocks.c.number)
        for number in self._connection.scalars(query).all():
            self._load(number)
            if self._problem:
                if number not in self._asked:
                    yield self._problem
                continue
            records, at = 0, 0
            while at < len(self._data):
                records += 1
                at += LENGTH + int.from_bytes(self._data[at : at + LENGTH], "big")
            if at != len(self._data):
                yield f"block {number} ends in the middle of a record"
            elif records != (asked := self._asked.get(number, 0)):
                yield f"block {number} has {records:,} records, and rows of `attempts` name {asked:,}"
