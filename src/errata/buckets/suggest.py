"""The verb `buckets suggest`: the failures of runs into buckets, old ones recognised; what a person did stays."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from errata.buckets.failing import Failing
from errata.buckets.inputs import failing_in
from errata.buckets.keep import Fact, Kept, Suggestion, keep
from errata.buckets.parameter_updates import tell_parameters
from errata.buckets.suggesting import suggest
from errata.errors import StoreError
from errata.model import Bucket, Member, StoredRun
from errata.model.verdict import word_for
from errata.model.words import MemberRole
from errata.runs.standings import standing_of
from errata.runs.triaging import triage_if_needed
from errata.store.bucket_changes import filing
from errata.store.buckets import Mark, Placement, Slip, buckets_of, mark_told, marks_of, placements_of_run, slips_of
from errata.store.database import Store

VERSION = "1"
"""Counts up when the grouping changes what it says."""
PENDING = "~"
"""Behind the mark of a run: what its buckets share with those of other runs was not told yet."""
FEW, CHEAP = 200, 5_000
"""Failures of a run up to which suggestions come along with a look at one of them, and with other work."""


def bucket_run(stored: StoredRun, store: Store, *, tried: bool = False, now: datetime | None = None) -> Kept:
    """Suggest anew for all failures of a run; what a person placed stays. If it is only `tried`, nothing is kept."""
    triage_if_needed(stored, store)
    mark = _mark(marks_of(store, [stored.run.id])[stored.run.id])
    placed = [one for one in placements_of_run(store, stored.run.id).values() if one.author]
    freed = _freed(stored, store, placed)
    known = _known(stored, store, [one for one in placed if one.attempt not in freed])
    facts: dict[str, Fact] = {}
    suggestion = Suggestion(
        stored=stored,
        known={one.id: one for one in known},
        buckets=tuple(suggest(_noted(failing_in(stored, store), facts), known)),
        facts=facts,
        freed=freed,
        at=text_of(now or datetime.now(UTC)),
    )
    with filing(store, keep=not tried) as desk:
        kept = keep(desk, suggestion)
        desk.mark(stored.pk, f"{mark}{PENDING}")
    return kept


def bucket_if_needed(runs: Iterable[StoredRun], store: Store) -> None:
    """Only runs that are new or have grown, or whose attributions or verdicts are others."""
    failed = [one for one in runs if one.counts.failures]
    with store.kept_open():
        for one in failed:
            triage_if_needed(one, store)
    marks = marks_of(store, [one.run.id for one in failed])
    told = [one for one in failed if one.run.id in marks]
    pending = {one.run.suite for one in told if not _is_fresh(marks[one.run.id])}
    for _ in bucket_anew([one for one in told if not _is_fresh(marks[one.run.id], pending=True)], store):
        pass
    for suite in pending:
        tell_parameters(store, suite)
        mark_told(store, suite, PENDING)


def bucket_if_cheap(stored: StoredRun, store: Store, *, most: int = CHEAP) -> None:
    """Along with other work: of one run, unless it has very many failures, and without a look at other runs."""
    mark = marks_of(store, [stored.run.id]).get(stored.run.id)
    if mark is not None and 0 < stored.counts.failures <= most and not _is_fresh(mark, pending=True):
        with suppress(StoreError):  # a store that can only be read still tells the rest
            bucket_run(stored, store)


def bucket_anew(runs: Iterable[StoredRun], store: Store, *, tried: bool = False) -> Iterator[Kept]:
    """Every one of these runs, the oldest first: what it shows is recognised in the later ones."""
    failed = [one for one in runs if one.counts.failures]
    for stored in sorted(failed, key=lambda one: (one.run.started_at or one.imported_at, one.pk)):
        yield bucket_run(stored, store, tried=tried)


def bucket_of(stored: StoredRun, store: Store) -> dict[str, Slip]:
    """Attempt → its bucket. Suggestions are made first where they are missing and cost little."""
    triage_if_needed(stored, store)
    bucket_if_cheap(stored, store)
    return slips_of(store, stored.run.id)


def bucket_of_one(stored: StoredRun, attempt: str, store: Store) -> Slip | None:
    """For those who look at one failure after the other, and do not want to wait."""
    bucket_if_cheap(stored, store, most=FEW)
    return slips_of(store, stored.run.id, [attempt]).get(attempt)


def text_of(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _is_fresh(mark: Mark, *, pending: bool = False) -> bool:
    made = mark.bucketed or ""
    return mark.triaged is not None and (made.removesuffix(PENDING) if pending else made) == _mark(mark)


def _mark(mark: Mark) -> str:
    return f"{VERSION}+{mark.triaged}+{mark.verdicts}:{mark.newest}"


def _known(stored: StoredRun, store: Store, pinned: Iterable[Placement]) -> list[Bucket]:
    """Every bucket of the suite, with those members of the run that are not to be thought over again."""
    members: dict[str, list[Member]] = {}
    for one in pinned:
        members.setdefault(one.bucket, []).append(Member(attempt=one.attempt, role=one.role))
    buckets = buckets_of(store, stored.run.suite)
    return [msgspec.structs.replace(one, members=tuple(members.get(one.id, ()))) for one in buckets]


def _freed(stored: StoredRun, store: Store, placed: Sequence[Placement]) -> frozenset[str]:
    """A person put it somewhere, but a person has read it since and says where it belongs."""
    read = standing_of(store, stored.run.id) if placed else {}
    said = {one.attempt: read[one.attempt].standing.verdict for one in placed if one.attempt in read}
    return frozenset(
        one.attempt
        for one in placed
        if (verdict := said.get(one.attempt)) is not None
        and verdict.reviewer.kind == "person"
        and verdict.bucket
        and (verdict.at or "") > one.at
    )


def _noted(failures: Iterable[Failing], facts: dict[str, Fact]) -> Iterator[Failing]:
    """As they pass by: what the table of buckets counts."""
    for one in failures:
        by = word_for(one.verdict.reviewer) if one.verdict else ""
        facts[one.attempt] = Fact(
            case=one.case, owner=one.owner, follows=one.follows is not None, role=_role(one), by=by
        )
        yield one


def _role(failing: Failing) -> MemberRole:
    if failing.verdict is None:
        return "assigned"
    return "reviewed" if failing.verdict.inherited_from is None else "inherited"
