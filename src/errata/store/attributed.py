"""Failures beside what triage says of them, one by one: neither all records nor all opinions are held at once."""

from collections.abc import Iterator

from sqlalchemy import select

from errata.model import Attempt, Attribution
from errata.model.codec import unpack
from errata.store.attempts import _read
from errata.store.database import Store
from errata.store.schema import attempts, attributions


def attributed_failures(store: Store, pk: int, *, steps: bool = False) -> Iterator[tuple[Attempt, Attribution]]:
    """In the order of the log; of a run that was triaged."""
    same = (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq)
    query = select(attempts, attributions.c.record.label("said")).join(attributions, same)
    query = query.where(attempts.c.run_pk == pk, attempts.c.failure).order_by(attempts.c.seq)
    for row, attempt in _read(store, pk, query, steps=steps):
        yield attempt, unpack(row.said, Attribution)
