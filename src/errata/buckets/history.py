"""The history of buckets: what was done, by whom, where each failure lay before and after; and how it is undone."""

from collections.abc import Mapping, Sequence

import msgspec

from errata.buckets.edit import BucketEdit, BucketState, members_after
from errata.buckets.naming import free_slug
from errata.buckets.restate import restated
from errata.model import Bucket, BucketChange, BucketEvent, BucketVersion, Location, MemberMove
from errata.model.record import Struct


class HistoryEntry(Struct):
    """An event with the slugs that buckets have now."""

    event: BucketEvent
    bucket: str
    before: str
    """Of a rename the titles, of a changed status the statuses, of moves the buckets."""
    after: str
    moves: tuple[tuple[str, str, str], ...]
    """Attempt, old and new bucket; empty where there was or is none."""


class UndoResult(Struct):
    what: str
    """`undo`, or `redo` where an undo was taken back."""
    event: int
    undone: tuple[BucketEvent, ...]
    """What was taken back, the newest first."""
    failures: int
    """That lie elsewhere now."""


def history_entry(event: BucketEvent, slugs: Mapping[str, str]) -> HistoryEntry:
    """`slugs` are those of all buckets, by id, also of retired ones."""
    moves = tuple((one.attempt, *_ends(one, slugs)) for one in event.change.moves if _is_elsewhere(one))
    if event.what == "rename":
        before, after = _titles(event.change, 0), _titles(event.change, 1)
    elif event.what == "standing":
        before, after = _statuses(event.change, 0), _statuses(event.change, 1)
    elif event.what in ("undo", "redo", "confirm"):
        before, after = "", ""
    else:
        olds, news = {old for _, old, _ in moves if old}, {new for _, _, new in moves if new}
        before, after = ", ".join(sorted(olds)), ", ".join(sorted(news))
    slug = slugs.get(event.bucket, event.bucket)
    return HistoryEntry(event=event, bucket=slug, before=before, after=after, moves=moves)


def _is_elsewhere(move: MemberMove) -> bool:
    return (move.before and move.before.bucket) != (move.after and move.after.bucket)


def _ends(move: MemberMove, slugs: Mapping[str, str]) -> tuple[str, str]:
    old, new = (slugs.get(place.bucket, place.bucket) if place else "" for place in (move.before, move.after))
    return old, new


def _titles(change: BucketChange, at: int) -> str:
    return ", ".join(one.bucket.title for pair in change.versions if (one := pair[at]) is not None)


def _statuses(change: BucketChange, at: int) -> str:
    """With the title, where its readers gave it another one."""
    statuses = []
    for before, after in change.versions:
        renamed = before is not None and before.bucket.title != after.bucket.title
        for state in (before, after)[at : at + 1]:
            statuses += (
                [f"{state.bucket.status}: {state.bucket.title}" if renamed else state.bucket.status] if state else []
            )
    return ", ".join(statuses)


def touched_by(events: Sequence[BucketEvent]) -> set[str]:
    versions = {after.bucket.id for event in events for _, after in event.change.versions}
    ends = (place for event in events for move in event.change.moves for place in (move.before, move.after))
    return versions | {place.bucket for place in ends if place}


def take_back(state: BucketState, events: Sequence[BucketEvent]) -> BucketEdit:
    """What people did, the newest first; the state has the members of every bucket that is touched.

    A failure that a newer verdict has put elsewhere since stays there, and a run may be forgotten.
    """
    versions = dict(state.versions)
    lies_in = {move.attempt: bucket for bucket, some in state.members.items() for move in some}
    moves: dict[str, Location] = {}
    for event in events:
        for before, after in reversed(event.change.versions):
            # where nothing was before, the bucket was made by this change
            back = BucketVersion(after.bucket, gone=True) if before is None else _with_own_slug(before, versions)
            versions[after.bucket.id] = back
        for move in event.change.moves:
            if move.before and move.after and lies_in.get(move.attempt) == move.after.bucket:
                moves[move.attempt] = move.before
                lies_in[move.attempt] = move.before.bucket
    members = members_after(state, moves)
    changed = [move for each, move in versions.items() if state.versions.get(each) != move]
    first = events[0]
    return BucketEdit(
        what="redo" if len(events) == 1 and first.what == "undo" else "undo",
        bucket=events[-1].bucket,
        versions=tuple(_restated(move, members.get(move.bucket.id, ()), state) for move in changed),
        moves=moves,
        undoes=tuple(event.number for event in events),
    )


def _with_own_slug(before: BucketVersion, versions: Mapping[str, BucketVersion]) -> BucketVersion:
    """As it was; under another slug where its own was given away since."""
    bucket = before.bucket
    if before.gone:
        return before
    taken = {one.bucket.slug for one in versions.values() if not one.gone and one.bucket.id != bucket.id}
    return BucketVersion(msgspec.structs.replace(bucket, slug=free_slug(bucket.slug, taken)))


def _restated(version: BucketVersion, members: Sequence[str], state: BucketState) -> BucketVersion:
    """What was final before may have been read otherwise since."""
    if version.gone:
        return version
    taken = state.slugs(without=version.bucket.id)
    return BucketVersion(restated(version.bucket, members, state.reviews, followers=state.followers, taken=taken))


def merged_bucket(
    name: str, gone: Sequence[Bucket], living: Sequence[Bucket], into: Mapping[str, str]
) -> Bucket | None:
    led = {into[one.id] for one in gone if one.id in into and name in (one.id, one.slug)}
    return next((one for one in living if one.id in led), None) if len(led) == 1 else None
