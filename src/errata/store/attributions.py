"""The attribution of each failure by triage, stored beside the facts."""

from collections.abc import Iterable, Iterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import Any, Self

import msgspec
from sqlalchemy import bindparam, delete, select, update

from errata.model import Attempt, Attribution
from errata.model.codec import pack, unpack
from errata.store import engine
from errata.store.attempts import PLACES, read_rows
from errata.store.database import Store
from errata.store.schema import attempts, attributions, runs, thinned

CHUNK = 25_000
IN_MEMORY = 16 * 1024 * 1024
"""Bytes; what is larger waits in a file."""

Row = tuple[Any, ...]
Kept = tuple[int, Attribution, bool]


class AttributionSpool:
    """Attributions of one run on their way into the store. Those of a large run wait in a temporary file.

    Computing them takes long, so the write lock is held only while they are copied.
    """

    def __init__(self) -> None:
        self.count = 0
        self._waiting: list[Row] = []
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 closed by `__exit__`
        self._sizes: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def fill(self, records: Iterable[Kept]) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._sizes, self._waiting, self.count = [], [], 0
        for record in records:
            self._waiting.append(_row(*record))
            self.count += 1
            if len(self._waiting) >= CHUNK:
                self._sizes.append(self._file.write(_encoded(self._waiting)))
                self._waiting = []

    def write(self, store: Store, pk: int, version: str) -> None:
        with store.writing(derived=True, rows=True) as connection:
            # first, since it locks the run: two that triage it at once take turns
            connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=version))
            connection.execute(delete(attributions).where(attributions.c.run_pk == pk))
            for rows in self._chunks():
                engine.bulk_insert(connection, attributions, rows, run_pk=pk)

    def _chunks(self) -> Iterator[Sequence[Sequence[Any]]]:
        self._file.seek(0)
        for size in self._sizes:
            yield msgspec.msgpack.decode(self._file.read(size))
        yield self._waiting


def _encoded(rows: list[Row]) -> bytes:
    try:
        return msgspec.msgpack.encode(rows)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode([tuple(map(engine.fitting, row)) for row in rows])


def _row(seq: int, attribution: Attribution, breaks: bool) -> Row:
    return (
        seq,
        attribution.owner,
        attribution.confidence,
        attribution.decided_by,
        breaks,
        attribution.rules_version,
        pack(attribution),
    )


def attributions_of_thinned(store: Store, pk: int) -> dict[int, Kept]:
    """By the number of the attempt: those of attempts whose transcript was thinned since."""
    same = (thinned.c.run_pk == attributions.c.run_pk) & (thinned.c.seq == attributions.c.seq)
    query = select(attributions.c.seq, attributions.c.record, attributions.c.breaks).join(thinned, same)
    with store.reading() as connection:
        rows = connection.execute(query.where(attributions.c.run_pk == pk))
        return {row.seq: (row.seq, unpack(row.record, Attribution), bool(row.breaks)) for row in rows}


def attributions_of(store: Store, pk: int) -> dict[str, Attribution]:
    with store.reading() as connection:
        query = select(attributions.c.record).where(attributions.c.run_pk == pk).order_by(attributions.c.seq)
        records = (unpack(row.record, Attribution) for row in connection.execute(query))
        return {one.attempt: one for one in records}


def each_attribution(store: Store, pk: int) -> Iterator[tuple[Attribution, bool]]:
    """One by one, with whether a signal shows that the measurement, not the answer, is at fault."""
    with store.reading() as connection:
        query = select(attributions.c.record, attributions.c.breaks).where(attributions.c.run_pk == pk)
        for row in connection.execute(query.execution_options(yield_per=CHUNK)):
            yield unpack(row.record, Attribution), bool(row.breaks)


def broken_measurements(store: Store, pk: int) -> set[str]:
    with store.reading() as connection:
        query = select(attributions.c.record).where(attributions.c.run_pk == pk, attributions.c.breaks)
        return {unpack(row.record, Attribution).attempt for row in connection.execute(query)}


_TRIAGED = select(runs.c.triaged).where(runs.c.pk == bindparam("run"))
_ATTRIBUTED_FAILURES = (
    select(*PLACES, attributions.c.record)
    .join(attributions, (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq))
    .where(attempts.c.run_pk == bindparam("run"), attempts.c.failure)
    .order_by(attempts.c.seq)
)


def rules_version_of(store: Store, pk: int) -> str | None:
    """With which rules a run was triaged; none where it was not, or not to the end."""
    version = store.read_once(("rules", pk), lambda connection: connection.execute(_TRIAGED, {"run": pk}).scalar())
    return None if version is None else str(version)


def attributed_failures(store: Store, pk: int, *, steps: bool = False) -> Iterator[tuple[Attempt, Attribution]]:
    for row, attempt in read_rows(store, pk, _ATTRIBUTED_FAILURES, steps=steps):
        yield attempt, unpack(row.record, Attribution)
