"""Changing buckets: every change is one transaction with its event, and the event holds all that an undo needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from errata.model import Bucket, Verdict
from errata.store.buckets import (
    Filed,
    Placement,
    filed_as,
    filed_in,
    mark_bucketed,
    placed,
    row_of,
    row_of_placement,
    verdicts_in,
)
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import bucket_events, bucket_members, buckets
from errata.store.zstd import compress

CHUNK = 5_000


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

    filed: tuple[tuple[Filed | None, Filed | None], ...] = ()
    """Buckets, before and after."""
    moves: tuple[Move, ...] = ()
    undoes: tuple[int, ...] = ()
    """The events that it takes back."""

    def __bool__(self) -> bool:
        return bool(self.filed or self.moves)


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """What is done, by whom and when; `by` is empty where a rule did it."""

    what: str
    by: str = ""
    at: str = ""


class Filing:
    """One change while it is made. What it reads is what it changes: nobody else writes meanwhile."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._before: dict[str, Filed | None] = {}
        self._after: dict[str, Filed] = {}
        self._moves: dict[str, Move] = {}

    def filed(self, suite: str) -> list[Filed]:
        return filed_in(self._connection, suite)

    def find(self, bucket_id: str) -> Filed | None:
        return filed_as(self._connection, bucket_id)

    def members(self, *bucket_ids: str) -> list[Placement]:
        return list(placed(self._connection, bucket_members.c.bucket.in_(bucket_ids)))

    def members_of_run(self, run_id: str) -> dict[str, Placement]:
        return {one.attempt: one for one in placed(self._connection, bucket_members.c.run_id == run_id)}

    def placements(self, attempts: Sequence[str]) -> list[Placement]:
        """Fewer where a run was forgotten meanwhile."""
        found: list[Placement] = []
        for some in chunks(attempts):
            runs = sorted({attempt.partition(":")[0] for attempt in some})
            where = bucket_members.c.run_id.in_(runs) & bucket_members.c.attempt_id.in_(some)
            found += placed(self._connection, where)
        return found

    def verdicts(self, bucket_ids: Sequence[str]) -> dict[str, list[Verdict]]:
        return verdicts_in(self._connection, bucket_ids)

    def file(self, bucket: Bucket, *, gone: bool = False) -> None:
        """Keep a bucket as it is now; one that did not change is no change."""
        if bucket.id not in self._before:
            self._before[bucket.id] = self.find(bucket.id)
        old, new = self._after.get(bucket.id, self._before[bucket.id]), Filed(bucket, gone)
        if old is None:
            self._connection.execute(insert(buckets), row_of(new))
        elif row_of(old) != row_of(new):
            self._connection.execute(update(buckets).where(buckets.c.id == bucket.id), row_of(new))
        self._after[bucket.id] = new

    def move(self, members: Iterable[Placement], to: Callable[[Placement], Place]) -> None:
        """Put failures elsewhere; those that lie there already stay as they are."""
        rows = []
        for one in members:
            before, after = Place(one.bucket, one.author, one.at), to(one)
            first = self._moves[one.attempt].before if one.attempt in self._moves else before
            if before != after:
                self._moves[one.attempt] = Move(one.attempt, first, after)
                rows.append({"the_run": one.run, "the_attempt": one.attempt, **after._asdict()})
        same = (bucket_members.c.run_id == bindparam("the_run")) & (
            bucket_members.c.attempt_id == bindparam("the_attempt")
        )
        if rows:
            self._connection.execute(update(bucket_members).where(same), rows)

    def replace(self, run_id: str, members: Sequence[Placement], gone: Sequence[str] = ()) -> None:
        """Write what a rule says of some failures of a run; no part of the change, since no person undoes it."""
        stale = [*gone, *(one.attempt for one in members)]
        for some in chunks(stale):
            where = (bucket_members.c.run_id == run_id) & bucket_members.c.attempt_id.in_(some)
            self._connection.execute(delete(bucket_members).where(where))
        for at in range(0, len(members), CHUNK):
            rows = [row_of_placement(one) for one in members[at : at + CHUNK]]
            self._connection.execute(insert(bucket_members), rows)

    def mark(self, pk: int, mark: str) -> None:
        mark_bucketed(self._connection, pk, mark)

    @property
    def change(self) -> Change:
        filed = [(self._before[each], after) for each, after in self._after.items() if self._before[each] != after]
        moves = [one for one in self._moves.values() if one.before != one.after]
        return Change(filed=tuple(filed), moves=tuple(moves))

    def note(self, signed: Signed, bucket: str, change: Change) -> int:
        """The event's number."""
        values = {"bucket": bucket, "what": signed.what, "author": signed.by, "at": signed.at, "undone": False}
        made = self._connection.execute(
            insert(bucket_events).values(**values, record=compress(msgspec.msgpack.encode(change)))
        )
        for number in change.undoes:
            self._mark_undone(number, undone=True)
        assert made.inserted_primary_key is not None
        return int(made.inserted_primary_key[0])

    def _mark_undone(self, number: int, *, undone: bool) -> None:
        self._connection.execute(update(bucket_events).where(bucket_events.c.number == number).values(undone=undone))
        row = self._connection.execute(select(bucket_events.c.record).where(bucket_events.c.number == number)).first()
        for other in change_of(row.record).undoes if row else ():
            self._mark_undone(other, undone=not undone)


@contextmanager
def filing(store: Store, *, keep: bool = True) -> Iterator[Filing]:
    """All that is done in it is kept together, or not at all; with `keep` false it is only tried."""
    with store.writing() as connection:
        yield Filing(connection)
        if not keep and (begun := connection.get_transaction()) is not None:
            begun.rollback()
