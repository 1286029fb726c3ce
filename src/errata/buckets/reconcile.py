"""A new suggestion for a run beside the buckets in the store: what people did stays, and differences are written."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.naming import free_slug
from errata.buckets.opinions import Review, is_read
from errata.buckets.suggest import Suggestion
from errata.model import (
    Bucket,
    BucketVersion,
    Location,
    MemberMove,
    Placement,
    Reviewer,
)
from errata.model.record import Struct
from errata.model.words import MemberRole

Placements = Mapping[str, Placement]
"""By attempt."""


class RunPlacements(Struct):
    """The buckets of a suite and the members of one run, as the store has them."""

    run: str
    versions: dict[str, BucketVersion]
    merged_into: dict[str, str]
    """Merged bucket → the one that took its place."""
    placements: dict[str, Placement]

    def living(self, bucket: str) -> str:
        """The one that took its place, where it was merged into another."""
        version = self.versions.get(bucket)
        return self.merged_into.get(bucket, bucket) if version is not None and version.gone else bucket


class RuleMoves(NamedTuple):
    """Failures that a rule or a verdict puts elsewhere: one event of the history."""

    what: str
    bucket: str
    by: str
    moves: tuple[MemberMove, ...]


class Reconciliation(Struct):
    """What is to be written."""

    new: list[Bucket]
    changed: list[Bucket]
    placements: dict[str, Placement]
    """Of every failure."""
    moves: list[RuleMoves]

    @property
    def used(self) -> set[str]:
        return {one.bucket for one in self.placements.values()}


class SuggestionResult(Struct):
    """What came of the suggestion for one run."""

    run: str
    failures: int
    buckets: int
    """That hold these failures."""
    new: int
    moved: int
    """Failures that lay in another bucket before."""
    left: int
    """Failures that a person has placed."""


def reconcile(
    suggestion: Suggestion,
    failures: Sequence[FailureToGroup],
    state: RunPlacements,
    *,
    known: Mapping[str, Bucket],
    freed: Collection[str] = (),
) -> Reconciliation:
    """`known` are the buckets that the suggestion was made with; `freed` are attempts whose person has read on."""
    placements = _placements(suggestion, failures, state, freed)
    new, changed = _buckets(suggestion, state, known, {one.bucket for one in placements.values()})
    return Reconciliation(
        new=new, changed=changed, placements=placements, moves=_moves(state.placements, placements, failures)
    )


def result_of(run: str, reconciled: Reconciliation) -> SuggestionResult:
    return SuggestionResult(
        run=run,
        failures=len(reconciled.placements),
        buckets=len(reconciled.used),
        new=len(reconciled.new),
        moved=sum(len(one.moves) for one in reconciled.moves if one.what == "rebucketed"),
        left=sum(bool(one.author) for one in reconciled.placements.values()),
    )


def freed_by_reading(placed: Iterable[Placement], reviews: Mapping[str, Review]) -> frozenset[str]:
    """A person placed it, but a person has reviewed it since and named another cause."""
    return frozenset(
        placement.attempt
        for placement in placed
        if placement.attempt in reviews
        and (verdict := reviews[placement.attempt].verdict) is not None
        and verdict.reviewer.kind == "person"
        and verdict.bucket
        and (verdict.at or "") > placement.at
    )


def role_of(failure: FailureToGroup) -> MemberRole:
    if is_read(failure):
        return "reviewed"
    return "inherited" if failure.verdict else "assigned"


def _placements(
    suggestion: Suggestion, failures: Iterable[FailureToGroup], state: RunPlacements, freed: Collection[str]
) -> dict[str, Placement]:
    placements = {}
    for failure in failures:
        old, place = state.placements.get(failure.attempt), suggestion.places.get(failure.attempt)
        bucket = None if place is None else state.living(place)
        if old is not None and ((old.author and failure.attempt not in freed) or bucket is None):
            bucket = old.bucket
        if bucket is not None:
            stays = old is not None and old.bucket == bucket
            placements[failure.attempt] = Placement(
                run=state.run,
                attempt=failure.attempt,
                bucket=bucket,
                role=role_of(failure),
                owner=failure.owner,
                case=failure.case,
                follows=failure.follows is not None,
                author=old.author if old is not None and stays else "",
                at=old.at if old is not None and stays else "",
            )
    return placements


def _buckets(
    suggestion: Suggestion, state: RunPlacements, known: Mapping[str, Bucket], used: Collection[str]
) -> tuple[list[Bucket], list[Bucket]]:
    """New ones, and known ones that are recognised by more than before."""
    suggested: dict[str, list[Bucket]] = {}
    for bucket in suggestion.buckets:
        suggested.setdefault(state.living(bucket.id), []).append(bucket)
    slugs = {one.bucket.slug for one in state.versions.values() if not one.gone}
    new, changed = [], []
    for each in sorted(suggested.keys() & used):
        old = state.versions.get(each)
        if old is None or old.gone:
            bucket = _with_free_slug(suggested[each][0], slugs)
            slugs.add(bucket.slug)
        else:
            bucket = _grown(old.bucket, suggested[each], known)
        if old is None:
            new.append(bucket)
        elif old != BucketVersion(bucket):
            changed.append(bucket)
    return new, changed


def _grown(old: Bucket, suggested: Sequence[Bucket], known: Mapping[str, Bucket]) -> Bucket:
    """Edits by a person stay; the keys that identify the bucket grow."""
    first = suggested[0]
    if len(suggested) == 1 and old == known.get(old.id, old):
        keys, words = first.keys, first.words
    else:
        keys = tuple(dict.fromkeys(key for one in (old, *suggested) for key in one.keys))
        words = tuple(dict.fromkeys(word for one in (old, *suggested) for word in one.words))
    return msgspec.structs.replace(old, keys=keys, words=words)


def _with_free_slug(bucket: Bucket, taken: Collection[str]) -> Bucket:
    return msgspec.structs.replace(bucket, slug=free_slug(bucket.slug, taken), status="provisional")


def _moves(before: Placements, after: Placements, failures: Iterable[FailureToGroup]) -> list[RuleMoves]:
    """Old and new bucket of each failure that lay elsewhere; and where those lay that are no longer failures."""
    reviewers = {
        failure.attempt: _name_of(failure.verdict.reviewer)
        for failure in failures
        if failure.verdict and failure.attempt in before
    }
    moves: dict[tuple[str, str, str], list[MemberMove]] = {}
    for attempt, old in before.items():
        new, was = after.get(attempt), Location(old.bucket, old.author, old.at)
        if new is None and (old.author or old.role == "reviewed"):
            moves.setdefault(("cleared", old.bucket, ""), []).append(MemberMove(attempt, was, None))
        elif new is not None and new.bucket != old.bucket:
            event = ("rebucketed", new.bucket, reviewers.get(attempt, ""))
            moves.setdefault(event, []).append(MemberMove(attempt, was, Location(new.bucket)))
    return [RuleMoves(*event, tuple(some)) for event, some in moves.items()]


def _name_of(reviewer: Reviewer) -> str:
    version = f"@{reviewer.version}" if reviewer.version else ""
    return f"{reviewer.kind}:{reviewer.name}{version}"
