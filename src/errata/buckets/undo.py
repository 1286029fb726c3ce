"""The verb `buckets undo`: what a person did last is taken back, or all since some change; once more redoes it."""

import msgspec

from errata.buckets.changes import By
from errata.buckets.slugs import free_slug
from errata.buckets.status import restated
from errata.errors import NotFoundError, SettingsError
from errata.store.bucket_changes import Filing, Signed, filing
from errata.store.bucket_events import BY_PERSONS, Change, Event, events_of
from errata.store.buckets import Filed
from errata.store.database import Store


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    """`undo`, or `redo` where an undo was taken back."""
    event: int
    undone: tuple[Event, ...]
    """What was taken back, the newest first."""
    failures: int
    """That lie elsewhere now."""


def undo(store: Store, by: By, *, suite: str | None = None, to: int | None = None) -> Undone:
    """What was done last, in a suite or at all; with `to` that change and all that came after it."""
    suite = suite if to is None else _suite_of(to, store)
    with filing(store, keep=not by.tried) as desk:
        last = desk.last(suite)
        if last is None:
            raise NotFoundError("Nothing was done to buckets yet", hint="`errata buckets history` tells what was")
        back = [last] if to is None else desk.since(last.suite, to)
        for event in back:
            _take_back(desk, event.change)
        _restate(desk)
        change = msgspec.structs.replace(desk.change, undoes=tuple(event.number for event in back))
        what = "redo" if len(back) == 1 and last.what == "undo" else "undo"
        number = desk.note(Signed(what=what, by=by.author, at=by.at), back[-1].bucket, change)
    return Undone(what=what, event=number, undone=tuple(back), failures=len(change.moves))


def _suite_of(number: int, store: Store) -> str:
    events = events_of(store)
    found = next((one for one in events if one.number == number), None)
    if found is None:
        told = f"There is no change {number}"
        raise NotFoundError(told, hint="`errata buckets history` numbers them")
    if found.what not in BY_PERSONS:
        told = f"Change {number} ({found.what}) was made by a rule"
        raise SettingsError(told, hint="only what a person did is taken back; `errata buckets move` overrules a rule")
    return found.suite


def _take_back(desk: Filing, change: Change) -> None:
    for before, after in reversed(change.filed):
        if before is None:  # it was made by this change
            desk.file(after.bucket, gone=True)
        else:
            _file_again(desk, before)
    back = {one.attempt: (one.before, one.after) for one in change.moves if one.before and one.after}
    # what a newer verdict has put elsewhere since stays there, and a run may be forgotten
    still = [one for one in desk.placements(sorted(back)) if one.bucket == back[one.attempt][1].bucket]
    desk.move(still, lambda one: back[one.attempt][0])


def _file_again(desk: Filing, before: Filed) -> None:
    """As it was; under another slug where its own was given away since."""
    bucket = before.bucket
    others = [one.bucket for one in desk.filed(bucket.suite) if not one.gone and one.bucket.id != bucket.id]
    slug = bucket.slug if before.gone else free_slug(bucket.slug, {one.slug for one in others})
    desk.file(msgspec.structs.replace(bucket, slug=slug), gone=before.gone)


def _restate(desk: Filing) -> None:
    """What was final before may have been read otherwise since."""
    living = [after.bucket for _, after in desk.change.filed if not after.gone]
    for bucket in restated(desk, living):
        desk.file(bucket)
