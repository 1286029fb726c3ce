"""The attribution of each failure by triage, stored beside the facts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import delete, select, update

from errata.model import Attempt, Attribution
from errata.model.codec import pack, unpack
from errata.store import sqlite
from errata.store.attempts import read_rows
from errata.store.database import Store
from errata.store.schema import attempts, attributions, runs

CHUNK = 5_000

Kept = tuple[int, Attribution, bool]
"""The attempt's number, its attribution, and whether its measurement is broken."""


def keep_attributions(store: Store, pk: int, records: Iterable[Kept]) -> int:
    """Replace the attributions of a run; returns their number.

    They are written in small transactions; the run counts as triaged only after `mark_triaged`.
    """
    with store.writing(derived=True) as connection:
        connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=None))
        connection.execute(delete(attributions).where(attributions.c.run_pk == pk))
    count = 0
    for chunk in batched(records, CHUNK):
        rows = [_row(*record) for record in chunk]
        count += len(rows)
        with store.writing(derived=True) as connection:
            sqlite.bulk_insert(connection, attributions, rows, run_pk=pk)
    return count


def keep_triage(store: Store, pk: int, records: Sequence[Kept], version: str) -> None:
    """Replace the attributions of a run and mark it as triaged, in one transaction: for as many as fit a chunk."""
    rows = [_row(*record) for record in records]
    with store.writing(derived=True) as connection:
        connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=version))
        connection.execute(delete(attributions).where(attributions.c.run_pk == pk))
        sqlite.bulk_insert(connection, attributions, rows, run_pk=pk)


def _row(seq: int, attribution: Attribution, breaks: bool) -> tuple[Any, ...]:
    return (
        seq,
        attribution.owner,
        attribution.confidence,
        attribution.decided_by,
        breaks,
        attribution.rules_version,
        pack(attribution),
    )


def mark_triaged(store: Store, pk: int, version: str) -> None:
    with store.writing(derived=True) as connection:
        connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=version))


def attributions_of(store: Store, pk: int) -> dict[str, Attribution]:
    """By attempt id."""
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
    """Attempts with a signal that the measurement, not the answer, is at fault."""
    with store.reading() as connection:
        query = select(attributions.c.record).where(attributions.c.run_pk == pk, attributions.c.breaks)
        return {unpack(row.record, Attribution).attempt for row in connection.execute(query)}


def rules_version_of(store: Store, pk: int) -> str | None:
    """With which rules a run was triaged; none where it was not, or not to the end."""
    with store.reading() as connection:
        version = connection.execute(select(runs.c.triaged).where(runs.c.pk == pk)).scalar()
        return None if version is None else str(version)


def batched(items: Iterable[Kept], size: int) -> Iterator[list[Kept]]:
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def attributed_failures(store: Store, pk: int, *, steps: bool = False) -> Iterator[tuple[Attempt, Attribution]]:
    """In the order of the log; of a run that was triaged."""
    same = (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq)
    query = select(attempts, attributions.c.record.label("said")).join(attributions, same)
    query = query.where(attempts.c.run_pk == pk, attempts.c.failure).order_by(attempts.c.seq)
    for row, attempt in read_rows(store, pk, query, steps=steps):
        yield attempt, unpack(row.said, Attribution)
