"""What was suggested for a run, put beside what is there: only what differs is written, and old places are noted."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from errata.buckets.final_names import named_by_readers
from errata.buckets.slugs import free_slug
from errata.buckets.status import restated
from errata.model import Bucket, StoredRun
from errata.model.standing import standing
from errata.model.words import MemberRole
from errata.store.bucket_changes import Filing, Signed
from errata.store.bucket_events import Change, Move, Place
from errata.store.buckets import Filed, Placement

Placements = Mapping[str, Placement]
"""By attempt."""


class Fact(NamedTuple):
    """Of one failure, what the table of buckets counts, and who has read it."""

    case: str
    owner: str
    follows: bool
    role: MemberRole
    by: str


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """For one run."""

    stored: StoredRun
    known: dict[str, Bucket]
    """Those that were there when it was made."""
    buckets: tuple[Bucket, ...]
    facts: dict[str, Fact]
    """By attempt, of every failure."""
    freed: frozenset[str]
    """Failures that a person placed, but that a person has read since."""
    at: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    failures: int
    buckets: int
    """In which these failures lie."""
    new: int
    moved: int
    """Failures that lay in another bucket before."""
    left: int
    """Failures that a person has placed."""


def keep(desk: Filing, suggestion: Suggestion) -> Kept:
    run = suggestion.stored.run
    shelf = _Shelf(desk, suggestion)
    before = desk.members_of_run(run.id)
    after = dict(_placements(shelf, suggestion, before))
    new = shelf.file({one.bucket for one in after.values()})
    desk.replace(
        run.id,
        [one for attempt, one in after.items() if before.get(attempt) != one],
        [attempt for attempt in before if attempt not in after],
    )
    moved = _note_moves(desk, before, after, suggestion)
    touched = {one.bucket for some in (before, after) for one in some.values()}
    shelf.restate(touched)
    desk.retire(sorted(touched - {one.bucket for one in after.values()}), run.suite)
    return Kept(
        run=run.id,
        failures=len(after),
        buckets=len({one.bucket for one in after.values()}),
        new=new,
        moved=moved,
        left=sum(bool(one.author) for one in after.values()),
    )


class _Shelf:
    """The buckets of the suite as they are now, and what the suggestion makes of them."""

    def __init__(self, desk: Filing, suggestion: Suggestion) -> None:
        self._desk, self._suggestion = desk, suggestion
        self._filed = {one.bucket.id: one for one in desk.filed(suggestion.stored.run.suite)}
        self._heirs = desk.heirs(suggestion.stored.run.suite)
        self._suggested: dict[str, list[Bucket]] = {}
        for bucket in suggestion.buckets:
            self._suggested.setdefault(self.living(bucket.id), []).append(bucket)

    def living(self, bucket: str) -> str:
        """The one that took its place, where it was merged into another."""
        filed = self._filed.get(bucket)
        return self._heirs.get(bucket, bucket) if filed is not None and filed.gone else bucket

    def file(self, used: Collection[str]) -> int:
        """How many are new."""
        new = []
        slugs = {one.bucket.slug for one in self._filed.values() if not one.gone}
        for each in sorted(used & self._suggested.keys()):
            old, suggested = self._filed.get(each), self._suggested[each]
            if old is None or old.gone:
                bucket = _with_free_slug(suggested[0], slugs)
                slugs.add(bucket.slug)
            else:
                bucket = self._grown(old.bucket, suggested)
            if old is None:
                new.append(bucket)
            elif old != Filed(bucket):
                self._desk.file(bucket)
            self._filed[each] = Filed(bucket)
        self._desk.add(new)
        return len(new)

    def _grown(self, old: Bucket, suggested: Sequence[Bucket]) -> Bucket:
        """What a person says of it stays; what it is recognised by grows."""
        first = suggested[0]
        if len(suggested) == 1 and _bare(old) == _bare(self._suggestion.known.get(old.id, old)):
            keys, words = first.keys, first.words
        else:
            keys = tuple(dict.fromkeys(key for one in (old, *suggested) for key in one.keys))
            words = tuple(dict.fromkeys(word for one in (old, *suggested) for word in one.words))
        return msgspec.structs.replace(old, keys=keys, words=words)

    def restate(self, touched: Collection[str]) -> None:
        """A status that changes is an event of its own."""
        living = [self._filed[each] for each in sorted(touched) if each in self._filed]
        now = restated(self._desk, [one.bucket for one in living])
        for old, bucket in zip(living, now, strict=True):
            if old.bucket.status != bucket.status:
                bucket = self._named(bucket) if bucket.status == "final" else bucket
                signed = Signed(what="standing", at=self._suggestion.at)
                self._desk.note(signed, bucket.id, Change(filed=((old, Filed(bucket, old.gone)),)))
            if old.bucket != bucket:
                self._desk.file(bucket, gone=old.gone)
                self._filed[bucket.id] = Filed(bucket, old.gone)

    def _named(self, bucket: Bucket) -> Bucket:
        """By its readers, unless a person has named it."""
        if bucket.id in self._desk.touched(bucket.suite):
            return bucket
        said = self._desk.verdicts([bucket.id])
        stood = [one.verdict for each in bucket.supported_by if (one := standing(said[each])) is not None]
        others = (one.bucket for one in self._filed.values() if not one.gone and one.bucket.id != bucket.id)
        return named_by_readers(bucket, stood, {one.slug for one in others})


def _bare(bucket: Bucket) -> Bucket:
    return msgspec.structs.replace(bucket, members=(), history=())


def _with_free_slug(bucket: Bucket, taken: Collection[str]) -> Bucket:
    return _bare(msgspec.structs.replace(bucket, slug=free_slug(bucket.slug, taken), status="provisional"))


def _placements(shelf: _Shelf, suggestion: Suggestion, before: Placements) -> Iterator[tuple[str, Placement]]:
    places = {one.attempt: shelf.living(bucket.id) for bucket in suggestion.buckets for one in bucket.members}
    for attempt, fact in suggestion.facts.items():
        old, bucket = before.get(attempt), places.get(attempt)
        if old is not None and ((old.author and attempt not in suggestion.freed) or bucket is None):
            bucket = old.bucket
        if bucket is not None:
            stays = old is not None and old.bucket == bucket
            yield (
                attempt,
                Placement(
                    run=suggestion.stored.run.id,
                    attempt=attempt,
                    bucket=bucket,
                    role=fact.role,
                    owner=fact.owner,
                    case=fact.case,
                    follows=fact.follows,
                    author=old.author if old is not None and stays else "",
                    at=old.at if old is not None and stays else "",
                ),
            )


def _note_moves(desk: Filing, before: Placements, after: Placements, suggestion: Suggestion) -> int:
    """Old and new bucket of each failure that lay elsewhere; and where those lay that are no failures any more."""
    moves: dict[tuple[str, str, str], list[Move]] = {}
    for attempt, old in before.items():
        new, was = after.get(attempt), Place(old.bucket, old.author, old.at)
        if new is None and (old.author or old.role == "reviewed"):
            moves.setdefault(("cleared", old.bucket, ""), []).append(Move(attempt, was, None))
        elif new is not None and new.bucket != old.bucket:
            by = suggestion.facts[attempt].by
            moves.setdefault(("rebucketed", new.bucket, by), []).append(Move(attempt, was, Place(new.bucket)))
    for (what, bucket, by), some in moves.items():
        desk.note(Signed(what=what, by=by, at=suggestion.at), bucket, Change(moves=tuple(some)))
    return sum(len(some) for (what, *_), some in moves.items() if what == "rebucketed")
