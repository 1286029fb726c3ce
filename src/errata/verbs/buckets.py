"""`errata buckets`: list, show, suggest, merge, rename, split, move, confirm, undo and history."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from errata.buckets import edit
from errata.buckets import stored as bucket_store
from errata.buckets.edit import Author, EditResult
from errata.buckets.failure import FailureToGroup
from errata.buckets.history import HistoryEntry, UndoResult
from errata.buckets.opinions import needed
from errata.buckets.reconcile import SuggestionResult
from errata.errors import NotFoundError, SettingsError, did_you_mean
from errata.model import Bucket, BucketCounts, BucketTable, Placement, Run, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.standing import Standing, standing
from errata.runs.bucketing import CollectFailures, ensure_all_buckets, failures_to_group, suggest_runs
from errata.runs.names import handles_of, runs_named
from errata.runs.show import ShownAttempt, find_shown
from errata.runs.view import RunView
from errata.store.buckets import (
    bucket_places,
    bucket_table,
    buckets_of,
    count_bucket,
    placements_in,
    placements_of_run,
    run_of,
)
from errata.store.database import Store
from errata.store.failures import loaded, number_of
from errata.store.runs import all_runs, run_by_id
from errata.text.clean import one_line
from errata.text.shell import shell_word
from errata.triage.reasons import reason_of

CANDIDATES = 10
SHORTEST = 3
"""Characters of an id that may stand for the whole."""


class BucketMember(Struct):
    """One failure in a bucket, with its verdict and the words that say most."""

    placement: Placement
    run: Run
    name: str
    """RUN/CASE, as commands take it."""
    quote: str
    standing: Standing | None
    supports: bool


class BucketDetails(Struct):
    counts: BucketCounts
    members: tuple[BucketMember, ...]
    history: tuple[HistoryEntry, ...]


def _views(runs: Iterable[StoredRun], store: Store) -> list[RunView]:
    return [RunView(stored, store) for stored in runs]


# looking


def list_buckets(
    store: Store, runs: Sequence[StoredRun] = (), *, alone: bool = False, limit: int | None = None
) -> BucketTable:
    """Over these runs, or over all; stale suggestions are made again first."""
    waiting = ensure_all_buckets(_views(runs or all_runs(store), store), store)
    run_ids = [one.run.id for one in runs] if runs else None
    table = bucket_table(store, run_ids=run_ids, alone=alone, limit=limit)
    return msgspec.structs.replace(table, waiting=waiting)


def buckets_of_runs(selectors: Sequence[str], store: Store, *, alone: bool = False) -> BucketTable:
    return list_buckets(store, list(runs_named(selectors, store)), alone=alone)


def show_bucket(bucket: Bucket, store: Store, *, most: int | None) -> BucketDetails:
    ensure_all_buckets(_views(all_runs(store, suite=bucket.suite), store), store)
    counts = count_bucket(store, bucket)
    members = sorted(placements_in(store, bucket.id), key=_order)
    return BucketDetails(
        counts=counts,
        members=tuple(_members(store, counts.bucket, members if most is None else members[:most])),
        history=tuple(bucket_history(store, bucket)),
    )


def verdicts_lacking(counts: BucketCounts) -> int:
    """How many more verdicts have to support a bucket before it can be final."""
    return max(0, needed(counts.mistakes) - len(counts.bucket.supported_by))


def bucket_history(store: Store, bucket: Bucket | None = None) -> list[HistoryEntry]:
    """Oldest first; all, or what touched one bucket."""
    return bucket_store.history_of(store, bucket=bucket)


def _order(placement: Placement) -> tuple[bool, bool, str]:
    """What was read comes first, what only follows last."""
    return placement.follows, placement.role != "reviewed", placement.attempt


def _members(store: Store, bucket: Bucket, members: Sequence[Placement]) -> Iterator[BucketMember]:
    known = {one.run.id: one for one in all_runs(store)}
    names = AttemptNames(known.values())
    standings = {run: RunView(known[run], store).standings for run in {one.run for one in members}}
    for member in members:
        stored = known[member.run]
        review = standings[member.run].get(member.attempt)
        yield BucketMember(
            placement=member,
            run=stored.run,
            name=names.of(member.attempt),
            quote=_quote(store, stored, member.attempt, review.standing if review else None),
            standing=review.standing if review else None,
            supports=member.attempt in bucket.supported_by,
        )


def _quote(store: Store, stored: StoredRun, attempt: str, review: Standing | None) -> str:
    """The quote of its reviewer, else the error in its log."""
    if review is not None and review.verdict.evidence:
        return review.verdict.evidence[0].quote
    seq = number_of(store, stored.pk, split_attempt_id(attempt))
    failures = loaded(store, stored.pk, [seq]) if seq is not None else []
    return reason_of(failures[0].attempt, failures[0].attribution).text if failures else ""


# changing


def author_named(name: str, at: str) -> Author:
    """Who changes something, and when."""
    return Author(name=name, at=at)


def suggest_buckets(
    runs: Iterable[StoredRun], store: Store, *, dry_run: bool = False, collect: CollectFailures | None = None
) -> Iterator[SuggestionResult]:
    """Stale or not; one result for each run with failures. `collect`: who collects the failures, such as a cluster."""
    meant = _views(runs, store)
    yield from suggest_runs(meant, dry_run=dry_run, collect=collect)
    if not dry_run:
        ensure_all_buckets(meant, store, collect=collect)  # the parameters that they share with buckets of other runs


def merge_buckets(buckets: Sequence[Bucket], into: Bucket, store: Store, author: Author) -> EditResult:
    edit.refuse_other_suites([into, *buckets])
    with bucket_store.editing(store, [into, *buckets], author, standing) as editing:
        return editing.commit(edit.merge(editing.state, buckets, into, author))


def rename_bucket(bucket: Bucket, title: str, store: Store, author: Author, *, slug: str = "") -> EditResult:
    with bucket_store.editing(store, [bucket], author, standing) as editing:
        return editing.commit(edit.rename(editing.state, bucket, title, slug=slug))


def split_bucket(bucket: Bucket, attempts: Collection[str], title: str, store: Store, author: Author) -> EditResult:
    failures = _failures_in(bucket, store)
    with bucket_store.editing(store, [bucket], author, standing) as editing:
        return editing.commit(edit.split(editing.state, bucket, attempts, title, failures, author))


def move_failures(attempts: Collection[str], to: Bucket, store: Store, author: Author) -> EditResult:
    places = [bucket_places(store, run_of(attempt), [attempt]) for attempt in attempts]
    left = {one.id for place in places for one in place.values()} - {to.id}
    origins = [one for one in buckets_of(store, gone=True) if one.id in left]
    edit.refuse_other_suites([to, *origins])
    failures = {one.id: _failures_in(one, store) for one in origins}
    with bucket_store.editing(store, [to, *origins], author, standing) as editing:
        return editing.commit(edit.move(editing.state, attempts, to, failures, author))


def confirm_bucket(bucket: Bucket, store: Store, author: Author) -> EditResult:
    names = AttemptNames(all_runs(store))
    with bucket_store.editing(store, [bucket], author, standing) as editing:
        return editing.commit(edit.confirm(editing.state, bucket, author, names.of))


def undo_change(store: Store, author: Author, *, suite: str | None = None, to: int | None = None) -> UndoResult:
    """What a person did last, in a suite or at all; with `to` that change and all that came after it."""
    return bucket_store.undo(store, author, standing, suite=suite, to=to)


def _failures_in(bucket: Bucket, store: Store) -> list[FailureToGroup]:
    by_run: dict[str, set[str]] = {}
    for placement in placements_in(store, bucket.id):
        by_run.setdefault(placement.run, set()).add(placement.attempt)
    return [
        failure
        for run, some in by_run.items()
        for failure in failures_to_group(RunView(run_by_id(store, run), store), some)
    ]


# names


def bucket_named(name: str, store: Store) -> Bucket:
    """By slug, title or id, or the beginning of one; a merged bucket leads to the one that took its place.

    Stale suggestions are made again first, so that the newest verdicts count.
    """
    ensure_all_buckets(_views(all_runs(store), store), store)
    living = buckets_of(store)
    candidates = _buckets_named(name, living)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise NotFoundError(
            f"`{name}` names {len(candidates)} buckets", hint=f"name one of them:\n{_candidates(candidates)}"
        )
    merged = bucket_store.merged_into(name, living, store)
    if merged is not None:
        return merged
    if not living:
        hint = "`errata buckets suggest` puts failures into some"
        raise NotFoundError("There are no buckets yet", hint=hint)
    hints = (did_you_mean(name, (one.slug for one in living)), "`errata buckets list` names them")
    raise NotFoundError(f"No bucket is named `{name}`", hint="\n".join(hint for hint in hints if hint))


def _buckets_named(name: str, buckets: Sequence[Bucket]) -> list[Bucket]:
    """Exactly this name, else one that begins with it."""
    exactly = [one for one in buckets if name in (one.id, one.slug, one.title)]
    # what its readers call it, or what it was called once
    called = exactly or [one for one in buckets if f"verdict:{name}" in one.keys]
    return called or [
        bucket
        for bucket in buckets
        if name and (bucket.slug.startswith(name) or (len(name) >= SHORTEST and bucket.id.startswith(name)))
    ]


def _candidates(buckets: Sequence[Bucket]) -> str:
    lines = [one_line(f"{one.slug} · {one.suite} · id {one.id}") for one in buckets[:CANDIDATES]]
    more = [f"and {len(buckets) - CANDIDATES} more: `errata buckets list --all`"] if len(buckets) > CANDIDATES else []
    return "\n".join([*lines, *more])


class AttemptNames:
    """Attempt → RUN/CASE, as commands take it; the id itself where its run is not there any more."""

    def __init__(self, runs: Collection[StoredRun]) -> None:
        self._runs = {one.run.id: one.run for one in runs}
        self._handles = handles_of(runs)

    def of(self, attempt: str) -> str:
        parts = split_attempt_id(attempt)
        run = self._runs.get(parts.run)
        number = f"#{parts.index}" if parts.index > 1 else ""
        return f"{self._handles[parts.run]}/{case_name(run, parts.case)}{number}" if run else attempt


def failures_named(things: Iterable[str], store: Store) -> list[str]:
    """Attempts; all that failed at a case, unless one of them is named with its number."""
    ids: dict[str, None] = {}
    for thing in things:
        shown = find_shown(thing, store)
        if not isinstance(shown, ShownAttempt):
            hint = f"name a failure of it: `errata failures {shell_word(thing)}` lists them"
            raise SettingsError(f"`{thing}` is a run, and a bucket holds failures", hint=hint)
        ensure_all_buckets(_views([shown.stored], store), store)
        placed = placements_of_run(store, shown.stored.run.id)
        same = [each for each, one in placed.items() if one.case == shown.attempt.case]
        chosen = [each for each in same if each == shown.attempt.id] if _is_exact(thing, shown) else same
        if not chosen:
            raise NotFoundError(
                f"`{thing}` did not fail", hint=f"`errata failures {shell_word(shown.handle)}` lists the failures"
            )
        ids |= dict.fromkeys(chosen)
    return list(ids)


def _is_exact(thing: str, shown: ShownAttempt) -> bool:
    return thing == shown.attempt.id or (thing.rpartition("#")[2].isdecimal() and not shown.case_name.endswith(thing))


def members_named(bucket: Bucket, things: Iterable[str], store: Store) -> list[str]:
    """Members of one bucket: a CASE means it in every run."""
    known = {one.run.id: one for one in all_runs(store)}
    handles = handles_of(known.values())
    by_name: dict[str, list[str]] = {}
    members = placements_in(store, bucket.id)
    for member in members:
        for name in _names(member, known[member.run], handles[member.run]):
            by_name.setdefault(name, []).append(member.attempt)
    names: dict[str, None] = {}
    for thing in things:
        if thing not in by_name:
            cases = {case_name(known[one.run].run, one.case) for one in members}
            hints = (did_you_mean(thing, cases), f"`errata buckets show {shell_word(bucket.slug)}` lists its members")
            raise NotFoundError(f"`{thing}` is not in `{bucket.slug}`", hint="\n".join(hint for hint in hints if hint))
        names |= dict.fromkeys(by_name[thing])
    return list(names)


def _names(placement: Placement, stored: StoredRun, handle: str) -> Iterator[str]:
    parts = split_attempt_id(placement.attempt)
    name = case_name(stored.run, parts.case)
    whole = (f"{handle}/{name}", f"{stored.run.native_id}/{name}")
    yield from dict.fromkeys((placement.attempt, parts.case, name, *whole))
    yield from dict.fromkeys((f"{name}#{parts.index}", f"{handle}/{name}#{parts.index}"))
