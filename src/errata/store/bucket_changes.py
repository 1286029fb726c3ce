"""Changes of buckets: each is one transaction with its event, and the event holds all that an undo needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, bindparam, delete, insert, select, update

from errata.model import (
    Bucket,
    BucketChange,
    BucketEvent,
    BucketVersion,
    Location,
    MemberMove,
    Placement,
    Verdict,
)
from errata.store import engine
from errata.store.blocks import compress, decompress
from errata.store.buckets import (
    mark_bucketed,
    placement_row,
    read_placements,
    read_version,
    read_versions,
    run_of,
    verdicts_in,
    version_row,
)
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.schema import bucket_events, bucket_members, buckets

BY_PERSONS = ("merge", "split", "rename", "move", "confirm", "undo", "redo")
"""What people do; the rest is what rules make of verdicts and new runs."""
CHUNK = 5_000


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    by: str = ""
    at: str = ""


@contextmanager
def bucket_transaction(store: Store, *, keep: bool = True, derived: bool = False) -> Iterator["BucketTransaction"]:
    """Everything in it is kept together, or not at all; with `keep` false it is rolled back.

    `derived`: rules make the change, not people.
    """
    with store.writing(derived=derived or not keep) as connection:
        yield BucketTransaction(connection)
        if not keep and (begun := connection.get_transaction()) is not None:
            begun.rollback()


class BucketTransaction:
    """One change while it is made. What it reads is what it changes: nobody else writes meanwhile."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._before: dict[str, BucketVersion | None] = {}
        self._after: dict[str, BucketVersion] = {}
        self._moves: dict[str, MemberMove] = {}

    # reading

    def versions(self, suite: str) -> list[BucketVersion]:
        return read_versions(self._connection, suite)

    def version(self, bucket_id: str) -> BucketVersion | None:
        return read_version(self._connection, bucket_id)

    def members(self, *bucket_ids: str) -> list[Placement]:
        placements: list[Placement] = []
        for some in chunks(bucket_ids):
            placements += read_placements(self._connection, bucket_members.c.bucket.in_(some))
        return placements

    def members_of_run(self, run_id: str) -> dict[str, Placement]:
        return {one.attempt: one for one in read_placements(self._connection, bucket_members.c.run_id == run_id)}

    def placements(self, attempts: Sequence[str]) -> list[Placement]:
        placements: list[Placement] = []
        for some in chunks(attempts):
            runs = sorted({run_of(attempt) for attempt in some})
            where = bucket_members.c.run_id.in_(runs) & bucket_members.c.attempt_id.in_(some)
            placements += read_placements(self._connection, where)
        return placements

    def verdicts(self, bucket_ids: Sequence[str]) -> dict[str, list[Verdict]]:
        return verdicts_in(self._connection, bucket_ids)

    def last_event(self, suite: str | None) -> BucketEvent | None:
        query = _events(suite).where(bucket_events.c.what.in_(BY_PERSONS)).order_by(bucket_events.c.number.desc())
        row = self._connection.execute(query.limit(1)).first()
        return _event(row) if row else None

    def events_since(self, suite: str, number: int) -> list[BucketEvent]:
        query = _events(suite).where(bucket_events.c.number >= number, bucket_events.c.what.in_(BY_PERSONS))
        return [_event(row) for row in self._connection.execute(query.order_by(bucket_events.c.number.desc()))]

    def touched_by_persons(self, suite: str) -> set[str]:
        return _touched_by_persons(self._connection, suite)

    def merged_into(self, suite: str) -> dict[str, str]:
        return merges_in(_read_events(self._connection, suite))

    # writing what becomes part of the change

    def write(self, bucket: Bucket, *, gone: bool = False) -> None:
        if bucket.id not in self._before:
            self._before[bucket.id] = self.version(bucket.id)
        old, new = self._after.get(bucket.id, self._before[bucket.id]), BucketVersion(bucket, gone)
        if old is None:
            self._connection.execute(insert(buckets), version_row(new))
        elif old != new:
            self._connection.execute(update(buckets).where(buckets.c.id == bucket.id), version_row(new))
        self._after[bucket.id] = new

    def move(self, members: Iterable[Placement], to: Callable[[Placement], Location]) -> None:
        """Put failures elsewhere; those that lie there already stay as they are."""
        rows = []
        for member in members:
            before, after = Location(member.bucket, member.author, member.at), to(member)
            if before != after:
                first = self._moves[member.attempt].before if member.attempt in self._moves else before
                self._moves[member.attempt] = MemberMove(member.attempt, first, after)
                rows.append({"the_run": member.run, "the_attempt": member.attempt, **after._asdict()})
        the_run = bucket_members.c.run_id == bindparam("the_run")
        the_attempt = bucket_members.c.attempt_id == bindparam("the_attempt")
        if rows:
            self._connection.execute(update(bucket_members).where(the_run, the_attempt), rows)

    @property
    def change(self) -> BucketChange:
        versions = [(self._before[each], after) for each, after in self._after.items() if self._before[each] != after]
        moves = [one for one in self._moves.values() if one.before != one.after]
        return BucketChange(versions=tuple(versions), moves=tuple(moves))

    def add_event(self, signature: Signature, bucket: str, change: BucketChange) -> int:
        values = {"bucket": bucket, "what": signature.what, "author": signature.by, "at": signature.at}
        record = compress(msgspec.msgpack.encode(change))
        made = self._connection.execute(insert(bucket_events).values(**values, undone=False, record=record))
        for number in change.undoes:
            self._mark_undone(number, undone=True)
        assert made.inserted_primary_key is not None
        return int(made.inserted_primary_key[0])

    def _mark_undone(self, number: int, *, undone: bool) -> None:
        """Whoever takes an undo back does again what it had undone."""
        same = bucket_events.c.number == number
        self._connection.execute(update(bucket_events).where(same).values(undone=undone))
        row = self._connection.execute(select(bucket_events.c.record).where(same)).first()
        others = _change(row.record).undoes if row else ()
        for other in others[::-1] if undone else others:
            self._mark_undone(other, undone=not undone)

    # a rule's own status is not part of the change, since no person undoes it

    def replace_members(self, run_id: str, members: Sequence[Placement], gone: Sequence[str] = ()) -> None:
        of_run = bucket_members.c.run_id == run_id
        has_any = self._connection.execute(select(bucket_members.c.bucket).where(of_run).limit(1)).first() is not None
        for some in chunks([*gone, *(one.attempt for one in members)]) if has_any else ():
            self._connection.execute(delete(bucket_members).where(of_run, bucket_members.c.attempt_id.in_(some)))
        for at in range(0, len(members), CHUNK):
            rows = [placement_row(one) for one in members[at : at + CHUNK]]
            engine.bulk_insert(self._connection, bucket_members, rows)

    def add(self, new: Sequence[Bucket]) -> None:
        for at in range(0, len(new), CHUNK):
            self._connection.execute(insert(buckets), [version_row(BucketVersion(one)) for one in new[at : at + CHUNK]])

    def retire(self, bucket_ids: Sequence[str], suite: str) -> None:
        """Those of them that have no members left and that no person has ever touched."""
        for some in chunks(sorted(set(bucket_ids) - self.touched_by_persons(suite))):
            filled = select(bucket_members.c.bucket).where(bucket_members.c.bucket.in_(some))
            empty = buckets.c.id.in_(some) & buckets.c.id.not_in(filled)
            self._connection.execute(update(buckets).where(empty).values(gone=True))

    def mark(self, pk: int, mark: str) -> None:
        mark_bucketed(self._connection, pk, mark)


def events_of(store: Store, suite: str | None = None) -> list[BucketEvent]:
    """Oldest first."""
    with store.reading() as connection:
        return _read_events(connection, suite)


def merges_in(events: Iterable[BucketEvent]) -> dict[str, str]:
    """Merged bucket → the one that took its place, as far as nobody took that back."""
    into: dict[str, str] = {}
    for event in events:
        if event.what == "merge" and not event.undone:
            into |= {after.bucket.id: event.bucket for _, after in event.change.versions if after.gone}
    return {each: _last(each, into) for each in into}


def _last(bucket: str, into: dict[str, str]) -> str:
    seen = {bucket}
    while (following := into.get(bucket)) is not None and following not in seen:
        seen.add(following)
        bucket = following
    return bucket


def forget_empty_buckets(connection: Connection) -> None:
    """Buckets without members that no person has touched: their names may be words of a run that was forgotten."""
    query = select(buckets.c.id).where(buckets.c.id.not_in(select(bucket_members.c.bucket)))
    empty = {row.id for row in connection.execute(query)} - _touched_by_persons(connection)
    for some in chunks(sorted(empty)):
        connection.execute(delete(bucket_events).where(bucket_events.c.bucket.in_(some)))
        connection.execute(delete(buckets).where(buckets.c.id.in_(some)))


def _touched_by_persons(connection: Connection, suite: str | None = None) -> set[str]:
    query = _events(suite).where(bucket_events.c.what.in_(BY_PERSONS))
    events = [_event(row) for row in connection.execute(query)]
    return {after.bucket.id for event in events for _, after in event.change.versions} | {one.bucket for one in events}


def _read_events(connection: Connection, suite: str | None) -> list[BucketEvent]:
    return [_event(row) for row in connection.execute(_events(suite).order_by(bucket_events.c.number))]


def _events(suite: str | None) -> Select[Any]:
    query = select(bucket_events, buckets.c.suite).join(buckets, buckets.c.id == bucket_events.c.bucket)
    return query if suite is None else query.where(buckets.c.suite == suite)


def _event(row: Row[Any]) -> BucketEvent:
    return BucketEvent(
        number=row.number,
        suite=row.suite,
        bucket=row.bucket,
        what=row.what,
        by=row.author,
        at=row.at,
        undone=bool(row.undone),
        change=_change(row.record),
    )


def _change(record: bytes) -> BucketChange:
    return msgspec.msgpack.decode(decompress(record), type=BucketChange)
