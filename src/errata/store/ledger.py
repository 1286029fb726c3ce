"""The ledger: every call that costs something, committed before it is made and again when it is answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, update

from errata.model import ReviewCall
from errata.model.codec import pack, unpack
from errata.store import engine
from errata.store.database import Store, is_dead, this_process
from errata.store.schema import calls

IN_BATCH = "batch:"
"""Holds the calls of a batch, in place of a process: they are open until the batch is collected."""
# made once: they are used three times for every call
_ANSWERED = select(calls.c.record).where(calls.c.cache_key == bindparam("key"), calls.c.state == "answered").limit(1)
_INTENDED = select(calls.c.record, calls.c.holder).where(
    calls.c.cache_key == bindparam("key"), calls.c.state == "intended"
)
_INTEND = insert(calls)
_CLOSE = (
    update(calls).where(calls.c.id == bindparam("call")).values(state=bindparam("state"), record=bindparam("record"))
)


class StoredLedger:
    """For one process and one thread; it keeps its connection while it is open."""

    def __init__(self, store: Store, connection: Connection) -> None:
        self._store = store
        self._connection = connection
        self._holder = this_process()

    def answered(self, cache_key: str) -> ReviewCall | None:
        with self._store.translated(), self._connection.begin():
            row = self._connection.execute(_ANSWERED, {"key": cache_key}).first()
        return unpack(row.record, ReviewCall) if row else None

    def is_in_batch(self, cache_key: str) -> bool:
        with self._store.translated(), self._connection.begin():
            rows = self._connection.execute(_INTENDED, {"key": cache_key}).all()
        return any(row.holder.startswith(IN_BATCH) for row in rows)

    def intend(self, call: ReviewCall, *, unless_since: str = "") -> bool:
        """Nothing is intended where another living process has asked the same since then: its answer does for both."""
        with self._store.translated(), self._connection.begin():
            engine.lock_name(self._connection, call.cache_key)
            for row in self._connection.execute(_INTENDED, {"key": call.cache_key}):
                other = unpack(row.record, ReviewCall)
                if row.holder.startswith(IN_BATCH):
                    return False
                if (
                    row.holder != self._holder
                    and other.started_at >= unless_since
                    and not is_dead(row.holder, call.started_at)
                ):
                    return False
            self._connection.execute(_INTEND, call_row(call) | {"holder": self._holder})
        return True

    def close(self, call: ReviewCall) -> None:
        with self._store.translated(), self._connection.begin():
            self._connection.execute(_CLOSE, {"call": call.id, "state": call.state, "record": pack(call)})


@contextmanager
def open_ledger(store: Store) -> Iterator[StoredLedger]:
    store.refuse_read_only()
    with store.connected("rows") as connection:
        yield StoredLedger(store, connection)


def calls_of(store: Store, run_id: str = "") -> Iterator[ReviewCall]:
    """In the order they were intended; of one run, or all."""
    query = select(calls.c.record)
    if run_id:
        query = query.where(calls.c.run_id == run_id)
    with store.reading() as connection:
        unpacked = [unpack(row.record, ReviewCall) for row in connection.execute(query)]
    yield from sorted(unpacked, key=lambda call: (call.started_at, call.id))


def find_lost(store: Store, *, now: str) -> list[ReviewCall]:
    """Intended calls of dead processes were lost in flight: they are marked as lost, once, and returned."""
    with store.reading() as connection:
        rows = connection.execute(select(calls.c.record, calls.c.holder).where(calls.c.state == "intended")).all()
    lost = []
    for row in rows:
        call = unpack(row.record, ReviewCall)
        if not row.holder.startswith(IN_BATCH) and is_dead(row.holder, call.started_at):
            why = "the process ended before the answer was stored"
            lost.append(msgspec.structs.replace(call, state="lost", ended_at=now, why=why))
    with store.writing(derived=True) as connection:
        for call in lost:
            still = (calls.c.id == call.id) & (calls.c.state == "intended")
            connection.execute(update(calls).where(still).values(state="lost", record=pack(call)))
    return lost


def call_row(call: ReviewCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "run_id": call.run,
        "attempt_id": call.attempt,
        "reviewer": call.reviewer,
        "cache_key": call.cache_key,
        "state": call.state,
        "record": pack(call),
    }
