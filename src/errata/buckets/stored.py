"""Buckets in the store: each edit, undo and suggestion is read, decided and written in one transaction."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from errata.buckets.edit import Author, BucketEdit, BucketState, EditResult
from errata.buckets.failure import FailureToGroup
from errata.buckets.history import HistoryEntry, UndoResult, history_entry, merged_bucket, take_back, touched_by
from errata.buckets.opinions import Review, StandingVerdict
from errata.buckets.reconcile import RunPlacements, SuggestionResult, reconcile, result_of
from errata.buckets.restate import restate
from errata.buckets.suggest import Suggestion
from errata.errors import NotFoundError, SettingsError
from errata.model import (
    Bucket,
    BucketChange,
    BucketCounts,
    BucketSum,
    BucketVersion,
    Placement,
    RunBuckets,
    StoredRun,
)
from errata.store.bucket_changes import (
    BY_PERSONS,
    BucketTransaction,
    Signature,
    bucket_transaction,
    events_of,
    merges_in,
)
from errata.store.buckets import bucket_table, buckets_of
from errata.store.database import Store


class BucketEditing:
    """An edit between its begin and its end: the state that it is decided on, and the writing of what was decided."""

    def __init__(self, transaction: BucketTransaction, state: BucketState, author: Author) -> None:
        self.state = state
        self._transaction, self._author = transaction, author

    def commit(self, edit: BucketEdit) -> EditResult:
        change = _write(self._transaction, self.state, edit)
        signature = Signature(what=edit.what, by=self._author.name, at=self._author.at)
        event = self._transaction.add_event(signature, edit.bucket, change)
        bucket = next(one.bucket for one in edit.versions if one.bucket.id == edit.bucket)
        return EditResult(what=edit.what, bucket=bucket, members=edit.members, event=event, change=change)


@contextmanager
def editing(
    store: Store, buckets: Sequence[Bucket], author: Author, standing_verdict: StandingVerdict
) -> Iterator[BucketEditing]:
    """An edit of these buckets of one suite; a dry run is rolled back."""
    with bucket_transaction(store, keep=not author.dry_run) as transaction:
        state = _state(transaction, buckets[0].suite, [one.id for one in buckets], standing_verdict)
        yield BucketEditing(transaction, state, author)


def undo(
    store: Store, author: Author, standing_verdict: StandingVerdict, *, suite: str | None = None, to: int | None = None
) -> UndoResult:
    """What a person did last, in a suite or at all; with `to` that change and all that came after it."""
    suite = suite if to is None else _suite_of_event(to, store)
    with bucket_transaction(store, keep=not author.dry_run) as transaction:
        last = transaction.last_event(suite)
        if last is None:
            raise NotFoundError("No bucket was changed yet", hint="`errata buckets history` lists changes")
        events = [last] if to is None else transaction.events_since(last.suite, to)
        state = _state(transaction, last.suite, sorted(touched_by(events)), standing_verdict)
        edit = take_back(state, events)
        change = msgspec.structs.replace(_write(transaction, state, edit), undoes=edit.undoes)
        number = transaction.add_event(Signature(what=edit.what, by=author.name, at=author.at), edit.bucket, change)
    return UndoResult(what=edit.what, event=number, undone=tuple(events), failures=len(change.moves))


def _suite_of_event(number: int, store: Store) -> str:
    event = next((one for one in events_of(store) if one.number == number), None)
    if event is None:
        raise NotFoundError(f"There is no change {number}", hint="`errata buckets history` numbers them")
    if event.what not in BY_PERSONS:
        raise SettingsError(
            f"Change {number} ({event.what}) was made by a rule",
            hint="only changes by people can be undone; `errata buckets move` overrules a rule",
        )
    return event.suite


def keep_suggestion(
    store: Store,
    stored: StoredRun,
    suggestion: Suggestion,
    failures: Sequence[FailureToGroup],
    *,
    known: Mapping[str, Bucket],
    freed: Collection[str],
    standing_verdict: StandingVerdict,
    mark: str,
    at: str,
    dry_run: bool = False,
) -> SuggestionResult:
    """What people placed stays; only differences are written, and where failures lay before is kept as an event."""
    run = stored.run
    with bucket_transaction(store, keep=not dry_run, derived=True) as transaction:
        state = RunPlacements(
            run=run.id,
            versions={move.bucket.id: move for move in transaction.versions(run.suite)},
            merged_into=transaction.merged_into(run.suite),
            placements=transaction.members_of_run(run.id),
        )
        result = reconcile(suggestion, failures, state, known=known, freed=freed)
        transaction.add(result.new)
        for bucket in result.changed:
            transaction.write(bucket)
        before, after = state.placements, result.placements
        transaction.replace_members(
            run.id,
            [move for attempt, move in after.items() if before.get(attempt) != move],
            [attempt for attempt in before if attempt not in after],
        )
        for move in result.moves:
            signature = Signature(what=move.what, by=move.by, at=at)
            transaction.add_event(signature, move.bucket, BucketChange(moves=move.moves))
        touched = result.used | {move.bucket for move in before.values()}
        versions = state.versions | {move.id: BucketVersion(move) for move in (*result.new, *result.changed)}
        _restate(transaction, run.suite, versions, touched, standing_verdict, at)
        transaction.retire(sorted(touched - result.used), run.suite)
        transaction.mark(stored.pk, mark)
    return result_of(run.id, result)


def _restate(
    transaction: BucketTransaction,
    suite: str,
    versions: Mapping[str, BucketVersion],
    touched: Collection[str],
    standing_verdict: StandingVerdict,
    at: str,
) -> None:
    """A status that changes is an event of its own."""
    reviews = _reviews(transaction, touched, standing_verdict)
    members = _read_members(transaction, reviews)
    named = transaction.touched_by_persons(suite) if reviews else ()
    for change in restate(versions, touched, members, reviews, named):
        ((before, after),) = change.versions
        if before is not None and before.bucket.status != after.bucket.status:
            transaction.add_event(Signature(what="standing", at=at), after.bucket.id, change)
        transaction.write(after.bucket, gone=after.gone)


def keep_parameters(store: Store, changed: Iterable[Bucket]) -> None:
    """No event, since nobody's opinion changes with them."""
    with bucket_transaction(store, derived=True) as transaction:
        for bucket in changed:
            now = transaction.version(bucket.id)
            if now is not None and not now.gone:
                transaction.write(msgspec.structs.replace(now.bucket, parameters=bucket.parameters))


def history_of(store: Store, *, bucket: Bucket | None = None) -> list[HistoryEntry]:
    """Oldest first; all, or what touched one bucket."""
    slugs = {one.id: one.slug for one in buckets_of(store, gone=True)}
    events = events_of(store, bucket.suite if bucket else None)
    return [history_entry(one, slugs) for one in events if bucket is None or one.touches(bucket.id)]


def merged_into(name: str, living: Sequence[Bucket], store: Store) -> Bucket | None:
    return merged_bucket(name, buckets_of(store, gone=True), living, merges_in(events_of(store)))


def count_run_buckets(store: Store, run_id: str) -> RunBuckets:
    listed = bucket_table(store, run_ids=[run_id], alone=True).listed
    shared = [one for one in listed if one.rows + one.elsewhere > 1]
    by_status = {
        status: [one for one in shared if one.bucket.status == status]
        for status in ("final", "reviewed", "provisional")
    }
    return RunBuckets(
        final=_sum(by_status["final"], apart=True),
        reviewed=_sum(by_status["reviewed"]),
        provisional=_sum(by_status["provisional"]),
        assigned=sum(one.assigned for one in by_status["final"]),
        alone=len(listed) - len(shared),
    )


def _sum(counts: Sequence[BucketCounts], *, apart: bool = False) -> BucketSum:
    """`apart`: without what nobody has reviewed."""
    failures = tuple(sorted((one.rows - one.assigned * apart for one in counts), reverse=True))
    return BucketSum(buckets=len(counts), failures=failures, read=sum(one.read for one in counts))


def _write(transaction: BucketTransaction, state: BucketState, edit: BucketEdit) -> BucketChange:
    for version in edit.versions:
        transaction.write(version.bucket, gone=version.gone)
    members = [one for some in state.members.values() for one in some if one.attempt in edit.moves]
    transaction.move(members, lambda one: edit.moves[one.attempt])
    return transaction.change


def _state(
    transaction: BucketTransaction, suite: str, bucket_ids: Sequence[str], standing_verdict: StandingVerdict
) -> BucketState:
    members: dict[str, list[Placement]] = {each: [] for each in bucket_ids}
    for member in transaction.members(*members):
        members[member.bucket].append(member)
    return BucketState(
        versions={member.bucket.id: member for member in transaction.versions(suite)},
        members=members,
        reviews=_reviews(transaction, bucket_ids, standing_verdict),
    )


def _reviews(
    transaction: BucketTransaction, bucket_ids: Collection[str], standing_verdict: StandingVerdict
) -> dict[str, Review]:
    verdicts = transaction.verdicts(sorted(bucket_ids))
    reviews = {attempt: standing_verdict(some) for attempt, some in verdicts.items()}
    return {attempt: review for attempt, review in reviews.items() if review is not None}


def _read_members(transaction: BucketTransaction, reviews: Collection[str]) -> dict[str, list[Placement]]:
    read = {member.bucket for member in transaction.placements(sorted(reviews))}
    members: dict[str, list[Placement]] = {}
    for member in transaction.members(*sorted(read)):
        members.setdefault(member.bucket, []).append(member)
    return members
