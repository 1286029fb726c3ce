"""Changing buckets: every change is one transaction with its event, and the event holds all that an undo needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from errata.model import Bucket, Verdict
from errata.store.bucket_events import (
    Change,
    Event,
    Move,
    Place,
    all_events,
    change_of,
    heirs,
    last_by_a_person,
    packed,
    since,
    touched_by_persons,
)
from errata.store.buckets import (
    Filed,
    Placement,
    filed_as,
    filed_in,
    mark_bucketed,
    placed,
    row_of,
    row_of_placement,
    run_of,
    verdicts_in,
)
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import bucket_events, bucket_members, buckets

CHUNK = 5_000


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """What is done, by whom and when; `by` is empty where a rule does it."""

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
            runs = sorted({run_of(attempt) for attempt in some})
            where = bucket_members.c.run_id.in_(runs) & bucket_members.c.attempt_id.in_(some)
            found += placed(self._connection, where)
        return found

    def verdicts(self, bucket_ids: Sequence[str]) -> dict[str, list[Verdict]]:
        return verdicts_in(self._connection, bucket_ids)

    def last(self, suite: str | None) -> Event | None:
        """What a person did last."""
        return last_by_a_person(self._connection, suite)

    def since(self, suite: str, number: int) -> list[Event]:
        return since(self._connection, suite, number)

    def file(self, bucket: Bucket, *, gone: bool = False) -> None:
        """Keep a bucket as it is now; one that did not change is no change."""
        if bucket.id not in self._before:
            self._before[bucket.id] = self.find(bucket.id)
        old, new = self._after.get(bucket.id, self._before[bucket.id]), Filed(bare(bucket), gone)
        if old is None:
            self._connection.execute(insert(buckets), row_of(new))
        elif old != new:
            self._connection.execute(update(buckets).where(buckets.c.id == bucket.id), row_of(new))
        self._after[bucket.id] = new

    def move(self, members: Iterable[Placement], to: Callable[[Placement], Place]) -> None:
        """Put failures elsewhere; those that lie there already stay as they are."""
        rows = []
        for one in members:
            before, after = Place(one.bucket, one.author, one.at), to(one)
            if before != after:
                first = self._moves[one.attempt].before if one.attempt in self._moves else before
                self._moves[one.attempt] = Move(one.attempt, first, after)
                rows.append({"the_run": one.run, "the_attempt": one.attempt, **after._asdict()})
        the_run = bucket_members.c.run_id == bindparam("the_run")
        the_attempt = bucket_members.c.attempt_id == bindparam("the_attempt")
        if rows:
            self._connection.execute(update(bucket_members).where(the_run, the_attempt), rows)

    def replace(self, run_id: str, members: Sequence[Placement], gone: Sequence[str] = ()) -> None:
        """Write what a rule says of some failures of a run; no part of the change, since no person undoes it."""
        for some in chunks([*gone, *(one.attempt for one in members)]):
            where = (bucket_members.c.run_id == run_id) & bucket_members.c.attempt_id.in_(some)
            self._connection.execute(delete(bucket_members).where(where))
        for at in range(0, len(members), CHUNK):
            rows = [row_of_placement(one) for one in members[at : at + CHUNK]]
            self._connection.execute(insert(bucket_members), rows)

    def add(self, new: Sequence[Bucket]) -> None:
        """Buckets that a rule has made; no part of the change either."""
        for at in range(0, len(new), CHUNK):
            self._connection.execute(insert(buckets), [row_of(Filed(one)) for one in new[at : at + CHUNK]])

    def retire(self, bucket_ids: Sequence[str], suite: str) -> None:
        """Of these, the ones that have no members left and that no person has ever touched."""
        for some in chunks(sorted(set(bucket_ids) - touched_by_persons(self._connection, suite))):
            filled = select(bucket_members.c.bucket).where(bucket_members.c.bucket.in_(some))
            empty = buckets.c.id.in_(some) & buckets.c.id.not_in(filled)
            self._connection.execute(update(buckets).where(empty).values(gone=True))

    def touched(self, suite: str) -> set[str]:
        """Buckets that some person named, made, filled or confirmed."""
        return touched_by_persons(self._connection, suite)

    def heirs(self, suite: str) -> dict[str, str]:
        """Merged bucket → the one that took its place."""
        return heirs(all_events(self._connection, suite))

    def mark(self, pk: int, mark: str) -> None:
        """From which state of the run its suggestions were made."""
        mark_bucketed(self._connection, pk, mark)

    @property
    def change(self) -> Change:
        """What was made different so far."""
        filed = [(self._before[each], after) for each, after in self._after.items() if self._before[each] != after]
        moves = [one for one in self._moves.values() if one.before != one.after]
        return Change(filed=tuple(filed), moves=tuple(moves))

    def note(self, signed: Signed, bucket: str, change: Change) -> int:
        """The event's number."""
        values = {"bucket": bucket, "what": signed.what, "author": signed.by, "at": signed.at, "undone": False}
        made = self._connection.execute(insert(bucket_events).values(**values, record=packed(change)))
        for number in change.undoes:
            self._mark_undone(number, undone=True)
        assert made.inserted_primary_key is not None
        return int(made.inserted_primary_key[0])

    def _mark_undone(self, number: int, *, undone: bool) -> None:
        """Whoever takes an undo back does again what it had undone."""
        same = bucket_events.c.number == number
        self._connection.execute(update(bucket_events).where(same).values(undone=undone))
        row = self._connection.execute(select(bucket_events.c.record).where(same)).first()
        others = change_of(row.record).undoes if row else ()
        for other in others[::-1] if undone else others:
            self._mark_undone(other, undone=not undone)


@contextmanager
def filing(store: Store, *, keep: bool = True) -> Iterator[Filing]:
    """All that is done in it is kept together, or not at all; with `keep` false it is only tried."""
    with store.writing() as connection:
        yield Filing(connection)
        if not keep and (begun := connection.get_transaction()) is not None:
            begun.rollback()


def bare(bucket: Bucket) -> Bucket:
    """Members and history have tables of their own."""
    return msgspec.structs.replace(bucket, members=(), history=())
