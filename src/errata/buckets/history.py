"""The verb `buckets history`: what was done, by whom, and where each failure lay before and after."""

from collections.abc import Mapping
from typing import Any

import msgspec

from errata.model import Bucket, BucketEvent
from errata.store.bucket_events import Change, Event, Move, events_of
from errata.store.buckets import buckets_of
from errata.store.database import Store


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """An event in words."""

    event: Event
    bucket: str
    """The slug that it has now."""
    before: str
    after: str
    moves: tuple[tuple[str, str, str], ...]
    """Attempt, old and new bucket; empty where there was or is none."""

    def as_json(self) -> dict[str, Any]:
        event = self.event
        return {
            "number": event.number,
            "at": event.at,
            "by": event.by or None,
            "what": event.what,
            "undone": event.undone,
            "suite": event.suite,
            "bucket": self.bucket,
            "bucket_id": event.bucket,
            "before": self.before,
            "after": self.after,
            "undoes": event.change.undoes,
            "failures": [{"attempt_id": one, "old": old or None, "new": new or None} for one, old, new in self.moves],
        }

    @property
    def record(self) -> BucketEvent:
        event = self.event
        return BucketEvent(what=event.what, by=event.by, at=event.at, before=self.before, after=self.after)


def history(store: Store, *, suite: str | None = None, bucket: Bucket | None = None) -> list[Told]:
    """Oldest first; all, or what touched one bucket."""
    slugs = {one.id: one.slug for one in buckets_of(store, gone=True)}
    events = events_of(store, bucket.suite if bucket else suite)
    return [_told(one, slugs) for one in events if bucket is None or touches(one, bucket.id)]


def touches(event: Event, bucket: str) -> bool:
    return event.bucket == bucket or event.change.touches(bucket)


def _told(event: Event, slugs: Mapping[str, str]) -> Told:
    before, after = _words(event, slugs)
    moves = tuple((one.attempt, *_ends(one, slugs)) for one in event.change.moves if _went(one))
    return Told(event=event, bucket=slugs.get(event.bucket, event.bucket), before=before, after=after, moves=moves)


def _went(move: Move) -> bool:
    return (move.before and move.before.bucket) != (move.after and move.after.bucket)


def _ends(move: Move, slugs: Mapping[str, str]) -> tuple[str, str]:
    old, new = (slugs.get(place.bucket, place.bucket) if place else "" for place in (move.before, move.after))
    return old, new


def _words(event: Event, slugs: Mapping[str, str]) -> tuple[str, str]:
    change = event.change
    if event.what == "rename":
        return _names(change, 0), _names(change, 1)
    if event.what == "standing":
        return _statuses(change, 0), _statuses(change, 1)
    if event.what in ("undo", "redo"):
        numbers = ", ".join(map(str, change.undoes))
        return f"change {numbers}", "as it was before" if event.what == "undo" else "done again"
    if event.what == "confirm":
        return "", f"{len(change.moves):,} failures stay"
    ends = [_ends(one, slugs) for one in change.moves if _went(one)]
    olds, news = ({end[at] for end in ends if end[at]} for at in (0, 1))
    return ", ".join(sorted(olds)), ", ".join(sorted(news))


def _names(change: Change, at: int) -> str:
    return ", ".join(one.bucket.title for pair in change.filed if (one := pair[at]) is not None)


def _statuses(change: Change, at: int) -> str:
    """With the title, where its readers gave it another one."""
    told = []
    for before, after in change.filed:
        renamed = before is not None and before.bucket.title != after.bucket.title
        for one in (before, after)[at : at + 1]:
            told += [f"{one.bucket.status}: {one.bucket.title}" if renamed else one.bucket.status] if one else []
    return ", ".join(told)
