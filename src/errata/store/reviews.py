"""Reviews: verdicts, refusals, and current leases."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, tuple_, update

from errata.errors import ConflictError
from errata.model import Verdict
from errata.model.codec import pack, unpack
from errata.model.identity import TASK, split_attempt_id
from errata.model.standing import without_withdrawn
from errata.model.verdict import Lease, Refusal, word_for
from errata.store import engine
from errata.store.blocks import compress, decompress
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.schema import leases, refusals, verdicts

OF_TASK = f"#0/{TASK}"


def keep_verdicts(store: Store, records: Iterable[Verdict], *, seen: Collection[str] | None = None) -> int:
    """Kept once: a verdict of a known id changes nothing. How many were new.

    With `seen`, nothing is kept where one of the attempts has a verdict that its reviewer had not seen.
    """
    rows: list[dict[str, Any]] = [
        {
            "id": verdict.id,
            "run_id": split_attempt_id(verdict.attempt).run,
            "attempt_id": verdict.attempt,
            "reviewer": word_for(verdict.reviewer),
            "kind": verdict.reviewer.kind,
            "label": verdict.label,
            "owner": verdict.owner,
            "inherited": verdict.inherited_from is not None,
            "at": verdict.at or "",
            "record": pack(verdict),
        }
        for verdict in records
    ]
    with store.writing() as connection:
        known = _known_ids(connection, [row["id"] for row in rows])
        if seen is not None:
            _refuse_unseen(connection, [row for row in rows if row["id"] not in known], frozenset(seen))
        new = [row for row in rows if row["id"] not in known]
        if new:
            connection.execute(insert(verdicts), new)
    return len(new)


def _known_ids(connection: Connection, ids: Sequence[str]) -> set[str]:
    queries = (select(verdicts.c.id).where(verdicts.c.id.in_(some)) for some in chunks(ids))
    return {row.id for query in queries for row in connection.execute(query)}


def _refuse_unseen(connection: Connection, rows: Sequence[dict[str, Any]], seen: frozenset[str]) -> None:
    for row in rows:
        query = select(verdicts.c.id).where(verdicts.c.run_id == row["run_id"], ~verdicts.c.inherited)
        others = connection.execute(query.where(verdicts.c.attempt_id == row["attempt_id"]))
        if any(each.id not in seen for each in others):
            raise ConflictError("Another verdict was saved in the meantime", hint="read it, then save again")


_OLDEST_FIRST = (
    select(verdicts.c.record).where(verdicts.c.run_id == bindparam("run")).order_by(verdicts.c.at, verdicts.c.id)
)
_OF_ATTEMPT = _OLDEST_FIRST.where(verdicts.c.attempt_id == bindparam("attempt"))
_OF_RUN = _OLDEST_FIRST.where(~verdicts.c.attempt_id.endswith(OF_TASK, autoescape=True))


def verdicts_of(store: Store, run_id: str, *, attempt: str = "", withdrawn: bool = False) -> list[Verdict]:
    """Oldest first; without those on tasks, and without withdrawn ones unless they are asked for."""
    query, given = (_OF_ATTEMPT, {"attempt": attempt}) if attempt else (_OF_RUN, {})
    with store.reading() as connection:
        rows = connection.execute(query, {"run": run_id, **given})
        records = [unpack(row.record, Verdict) for row in rows]
    return records if withdrawn else without_withdrawn(records)


def task_verdicts(store: Store, run_ids: Iterable[str]) -> list[Verdict]:
    records: list[Verdict] = []
    with store.reading() as connection:
        for some in chunks(list(run_ids)):
            query = select(verdicts.c.record).where(verdicts.c.run_id.in_(some))
            query = query.where(verdicts.c.attempt_id.endswith(OF_TASK, autoescape=True))
            records += [unpack(row.record, Verdict) for row in connection.execute(query)]
    return sorted(records, key=lambda one: (one.at or "", one.id))


def remove_verdicts(store: Store, ids: Sequence[str]) -> None:
    """Only for inherited copies, which can be made again."""
    if not ids:
        return
    with store.writing() as connection:
        for some in chunks(ids):
            connection.execute(delete(verdicts).where(verdicts.c.id.in_(some), verdicts.c.inherited))


def keep_refusal(store: Store, refusal: Refusal) -> None:
    with store.writing() as connection:
        connection.execute(
            insert(refusals).values(
                run_id=split_attempt_id(refusal.attempt).run,
                attempt_id=refusal.attempt,
                reviewer=refusal.reviewer,
                packet_hash=refusal.packet_hash,
                reasons="\n".join(refusal.reasons),
                answer=compress(refusal.answer.encode("utf-8", "replace")),
                at=refusal.at,
            )
        )


def refusals_of(store: Store, run_id: str) -> list[Refusal]:
    with store.reading() as connection:
        rows = connection.execute(select(refusals).where(refusals.c.run_id == run_id).order_by(refusals.c.number))
        return [_refusal(row) for row in rows]


def refusals_on(store: Store, attempt: str) -> list[Refusal]:
    query = select(refusals).where(refusals.c.run_id == split_attempt_id(attempt).run, refusals.c.attempt_id == attempt)
    with store.reading() as connection:
        return [_refusal(row) for row in connection.execute(query.order_by(refusals.c.number))]


def _refusal(row: Row[tuple[object, ...]]) -> Refusal:
    answer = decompress(row.answer).decode()
    return Refusal(row.attempt_id, row.reviewer, row.packet_hash, tuple(row.reasons.splitlines()), answer, row.at)


def take_lease(store: Store, run_id: str, candidates: Iterable[str], *, reviewer: str, lease: Lease, now: str) -> str:
    """The first candidate that nobody of this name is reading gets the lease; empty where all are taken."""
    with store.writing(rows=True) as connection:
        _end_expired(connection, now)
        query = select(leases.c.attempt_id).where(leases.c.run_id == run_id, leases.c.reviewer == reviewer)
        taken = {row.attempt_id for row in connection.execute(query.where(leases.c.until > now))}
        for attempt in candidates:
            if attempt not in taken and _insert_lease(connection, attempt, reviewer, lease):
                return attempt
        return ""


def _end_expired(connection: Connection, now: str) -> None:
    """Those that another process is ending just now are left to it."""
    over = select(leases.c.attempt_id, leases.c.reviewer).where(leases.c.until <= now)
    key = tuple_(leases.c.attempt_id, leases.c.reviewer)
    connection.execute(delete(leases).where(key.in_(over.with_for_update(skip_locked=True))))


def _insert_lease(connection: Connection, attempt: str, reviewer: str, lease: Lease) -> bool:
    """False where the reviewer has it in hand: the row of a lease is there once."""
    run_id = split_attempt_id(attempt).run
    values = {"attempt_id": attempt, "reviewer": reviewer, "run_id": run_id, "token": lease.token}
    return engine.insert_unless_there(connection, leases, values | {"until": lease.until})


def renew_lease(store: Store, attempt: str, *, reviewer: str, lease: Lease, now: str) -> Lease:
    """The reviewer has it in hand at least until then; a lease that lasts longer stays as it is."""
    own = (leases.c.attempt_id == attempt) & (leases.c.reviewer == reviewer)
    with store.writing(rows=True) as connection:
        _end_expired(connection, now)
        if _insert_lease(connection, attempt, reviewer, lease):
            return lease._replace(attempt=attempt)
        held = connection.execute(select(leases).where(own).with_for_update()).one()
        until = max(held.until, lease.until)
        connection.execute(update(leases).where(own).values(until=until))
        return Lease(attempt, held.token, until)


def leases_of(store: Store, run_id: str, *, now: str) -> dict[str, set[str]]:
    labels: dict[str, set[str]] = {}
    with store.reading() as connection:
        query = select(leases).where(leases.c.run_id == run_id, leases.c.until > now)
        for row in connection.execute(query):
            labels.setdefault(row.attempt_id, set()).add(row.reviewer)
    return labels


def held_by(store: Store, run_id: str, *, reviewer: str, now: str) -> list[Lease]:
    own = (leases.c.run_id == run_id) & (leases.c.reviewer == reviewer) & (leases.c.until > now)
    with store.reading() as connection:
        rows = connection.execute(select(leases).where(own).order_by(leases.c.until, leases.c.attempt_id))
        return [Lease(row.attempt_id, row.token, row.until) for row in rows]


def lease_on(store: Store, attempt: str, *, reviewer: str, now: str) -> Lease | None:
    held = held_by(store, split_attempt_id(attempt).run, reviewer=reviewer, now=now)
    return next((one for one in held if one.attempt == attempt), None)


def end_lease(store: Store, attempt: str, *, reviewer: str) -> None:
    with store.writing(rows=True) as connection:
        connection.execute(delete(leases).where(leases.c.attempt_id == attempt, leases.c.reviewer == reviewer))
