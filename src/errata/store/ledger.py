"""The ledger: every call that costs something, committed before it is made and again when it is answered."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from errata.model import ReviewBatch, ReviewCall
from errata.model.codec import pack, unpack
from errata.model.words import BatchState
from errata.store import engine
from errata.store.database import Store, is_dead, this_process
from errata.store.engine import chunks
from errata.store.schema import calls, leases, review_batches

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


# --- batches of review calls: committed with their calls before anything is sent, and after every step


OPEN: tuple[BatchState, ...] = ("intended", "submitted")


def intend_batch(store: Store, batch: ReviewBatch, wanted: Sequence[ReviewCall], *, until: str) -> list[ReviewCall]:
    """In one transaction: the batch, its calls, and a lease on each packet. Without what is answered or asked already.

    Nothing is written where no call is left.
    """
    holder = f"{IN_BATCH}{batch.id}"
    with store.writing() as connection:
        keys, asked = [call.cache_key for call in wanted], set()
        for some in chunks(keys):
            query = select(calls.c.cache_key, calls.c.state, calls.c.holder, calls.c.record)
            for row in connection.execute(query.where(calls.c.cache_key.in_(some))):
                if row.state == "answered" or (row.state == "intended" and _is_alive(row.holder, row.record)):
                    asked.add(row.cache_key)
        kept = [call for call in wanted if call.cache_key not in asked]
        if kept:
            connection.execute(insert(review_batches).values(_row(batch) | {"holder": this_process()}))
            connection.execute(insert(calls), [call_row(call) | {"holder": holder} for call in kept])
            _lease(connection, batch, [call.attempt for call in kept], until)
    return kept


def _lease(connection: Connection, batch: ReviewBatch, attempts: Sequence[str], until: str) -> None:
    for some in chunks(attempts):
        connection.execute(delete(leases).where(leases.c.attempt_id.in_(some), leases.c.reviewer == batch.reviewer))
    values = {"reviewer": batch.reviewer, "run_id": batch.run, "token": _token(batch), "until": until}
    connection.execute(insert(leases), [{"attempt_id": attempt, **values} for attempt in attempts])


def _token(batch: ReviewBatch) -> str:
    return batch.id[:16]


def _is_alive(holder: str, record: bytes) -> bool:
    return holder.startswith(IN_BATCH) or not is_dead(holder, unpack(record, ReviewCall).started_at)


def keep_batch(store: Store, batch: ReviewBatch) -> None:
    """Together with the end of its leases, where it has ended."""
    with store.writing() as connection:
        same = review_batches.c.id == batch.id
        connection.execute(update(review_batches).where(same).values(_row(batch)))
        if not batch.is_open:
            own = (leases.c.run_id == batch.run) & (leases.c.reviewer == batch.reviewer)
            connection.execute(delete(leases).where(own, leases.c.token == _token(batch)))


def batches_of(
    store: Store, run_ids: Iterable[str], *, reviewer: str = "", states: Sequence[BatchState] = ()
) -> list[ReviewBatch]:
    query = select(review_batches.c.record).where(review_batches.c.run_id.in_(list(run_ids)))
    if reviewer:
        query = query.where(review_batches.c.reviewer == reviewer)
    if states:
        query = query.where(review_batches.c.state.in_(states))
    with store.reading() as connection:
        batches = [unpack(row.record, ReviewBatch) for row in connection.execute(query)]
    return sorted(batches, key=lambda one: (one.created_at, one.id))


def is_being_submitted(store: Store, batch: ReviewBatch) -> bool:
    query = select(review_batches.c.holder).where(review_batches.c.id == batch.id)
    with store.reading() as connection:
        holder = connection.execute(query).scalar_one()
    return bool(holder != this_process() and not is_dead(holder, batch.created_at))


def is_intended(store: Store, batch: ReviewBatch) -> bool:
    query = select(review_batches.c.state).where(review_batches.c.id == batch.id)
    with store.reading() as connection:
        return bool(connection.execute(query).scalar() == "intended")


def calls_in(store: Store, batch: ReviewBatch) -> list[ReviewCall]:
    query = select(calls.c.record).where(calls.c.run_id == batch.run, calls.c.holder == f"{IN_BATCH}{batch.id}")
    with store.reading() as connection:
        return [unpack(row.record, ReviewCall) for row in connection.execute(query)]


def close_calls(store: Store, ended: Sequence[ReviewCall]) -> None:
    """In one transaction. What another process has closed meanwhile stays as it is."""
    with store.writing() as connection:
        for call in ended:
            still = (calls.c.id == call.id) & (calls.c.state == "intended")
            connection.execute(update(calls).where(still).values(state=call.state, record=pack(call)))


def _row(batch: ReviewBatch) -> dict[str, object]:
    return {
        "id": batch.id,
        "run_id": batch.run,
        "reviewer": batch.reviewer,
        "state": batch.state,
        "record": pack(batch),
    }
