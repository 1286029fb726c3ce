"""What was done to buckets, by whom and when, and what each change made different."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, Select, delete, select

from errata.store.buckets import Filed
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import bucket_events, bucket_members, buckets
from errata.store.zstd import compress, decompress

BY_PERSONS = ("merge", "split", "rename", "move", "confirm", "undo", "redo")
"""What people do; the rest is what rules make of verdicts and new runs."""


class Place(NamedTuple):
    bucket: str
    author: str = ""
    at: str = ""


class Move(NamedTuple):
    attempt: str
    before: Place | None
    after: Place | None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """All that one change made different."""

    filed: tuple[tuple[Filed | None, Filed], ...] = ()
    """Buckets, before and after."""
    moves: tuple[Move, ...] = ()
    undoes: tuple[int, ...] = ()
    """The events that it takes back."""

    def __bool__(self) -> bool:
        return bool(self.filed or self.moves)

    def touches(self, bucket: str) -> bool:
        ends = (place.bucket for move in self.moves for place in (move.before, move.after) if place)
        return any(after.bucket.id == bucket for _, after in self.filed) or bucket in ends


class Event(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    suite: str
    bucket: str
    what: str
    by: str
    """Empty where a rule did it."""
    at: str
    undone: bool
    change: Change


def events_of(store: Store, suite: str | None = None) -> list[Event]:
    """Oldest first."""
    with store.reading() as connection:
        return all_events(connection, suite)


def all_events(connection: Connection, suite: str | None) -> list[Event]:
    return [_event(row) for row in connection.execute(_events(suite).order_by(bucket_events.c.number))]


def last_by_a_person(connection: Connection, suite: str | None) -> Event | None:
    query = _events(suite).where(bucket_events.c.what.in_(BY_PERSONS)).order_by(bucket_events.c.number.desc())
    row = connection.execute(query.limit(1)).first()
    return _event(row) if row else None


def since(connection: Connection, suite: str, number: int) -> list[Event]:
    """What people did from this event on, the newest first."""
    query = _events(suite).where(bucket_events.c.number >= number, bucket_events.c.what.in_(BY_PERSONS))
    return [_event(row) for row in connection.execute(query.order_by(bucket_events.c.number.desc()))]


def touched_by_persons(connection: Connection, suite: str | None = None) -> set[str]:
    """Buckets that somebody named, made, filled or confirmed."""
    query = _events(suite).where(bucket_events.c.what.in_(BY_PERSONS))
    events = [_event(row) for row in connection.execute(query)]
    return {after.bucket.id for event in events for _, after in event.change.filed} | {one.bucket for one in events}


def forget_empty(connection: Connection) -> None:
    """Buckets without members that no person has touched: their names may be words of a run that was forgotten."""
    query = select(buckets.c.id).where(buckets.c.id.not_in(select(bucket_members.c.bucket)))
    empty = {row.id for row in connection.execute(query)} - touched_by_persons(connection)
    for some in chunks(sorted(empty)):
        connection.execute(delete(bucket_events).where(bucket_events.c.bucket.in_(some)))
        connection.execute(delete(buckets).where(buckets.c.id.in_(some)))


def packed(change: Change) -> bytes:
    return compress(msgspec.msgpack.encode(change))


def change_of(record: bytes) -> Change:
    return msgspec.msgpack.decode(decompress(record), type=Change)


def heirs(events: Iterable[Event]) -> dict[str, str]:
    """Merged bucket → the one that took its place, as far as nobody took that back."""
    into: dict[str, str] = {}
    for event in events:
        if event.what == "merge" and not event.undone:
            into |= {after.bucket.id: event.bucket for _, after in event.change.filed if after.gone}
    return {each: _last(each, into) for each in into}


def _last(bucket: str, into: dict[str, str]) -> str:
    seen = {bucket}
    while (following := into.get(bucket)) is not None and following not in seen:
        seen.add(following)
        bucket = following
    return bucket


def _events(suite: str | None) -> Select[Any]:
    query = select(bucket_events, buckets.c.suite).join(buckets, buckets.c.id == bucket_events.c.bucket)
    return query if suite is None else query.where(buckets.c.suite == suite)


def _event(row: Row[Any]) -> Event:
    return Event(
        number=row.number,
        suite=row.suite,
        bucket=row.bucket,
        what=row.what,
        by=row.author,
        at=row.at,
        undone=bool(row.undone),
        change=change_of(row.record),
    )
