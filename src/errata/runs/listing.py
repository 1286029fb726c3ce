"""A page of a run's failures: rows and groups from the index, joined with what is shown of each."""

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from errata.errors import NotReadyError
from errata.model import Bucket, FailureKey, StoredRun
from errata.model.filters import FailureFilters
from errata.model.listing import (
    EvidenceLine,
    Facets,
    FailureRow,
    Grouping,
    Order,
    Past,
    PastCounts,
    ReviewState,
    RowGroup,
)
from errata.model.places import anchor_of, log_names
from errata.model.record import Struct
from errata.model.standing import AttemptReview
from errata.runs.bucketing import ensure_buckets
from errata.runs.failures import Expectations, Failure
from errata.runs.standings import standing_now, standing_of
from errata.runs.triaging import refuse_to_wait
from errata.runs.view import RunView
from errata.store.attempts import with_texts
from errata.store.buckets import bucket_of_each, bucket_places, buckets_of
from errata.store.database import Store
from errata.store.failure_list import (
    Cursor,
    all_rows,
    cursor_of,
    facets_of,
    groups_of,
    keep_lines,
    keep_rows,
    known_lines,
    listed_rows,
    reviewed_rows,
    triaged_rows,
    update_opinions,
)
from errata.store.failures import attributed_at
from errata.store.index_file import buckets_in, marks_of, rows_mark
from errata.text.clean import one_line
from errata.transcript.error_text import has_logs, says_more
from errata.triage.keys import is_informative, lists_only_names
from errata.triage.reasons import explained, reason_of

_building: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
_checked: set[tuple[str, str]] = set()
"""Runs whose triage and buckets this process has checked, in this state."""


def ensure_indexed(stored: StoredRun, store: Store) -> str:
    """Write the rows of a run if they are missing or stale. Returns the state that they are for."""
    run_id = stored.run.id
    mark = marks_of(store, [run_id])[run_id][1]
    if (run_id, mark) in _checked and rows_mark(store, run_id) == mark:
        return mark
    with _building[run_id]:
        view = RunView(stored, store)
        view.ensure_triaged()
        ensure_buckets(view)
        facts, mark = marks_of(store, [run_id])[run_id]
        known = rows_mark(store, run_id)
        if known.partition("|")[0] == facts and known != mark:
            update_opinions(store, run_id, _changed(view, has_moved=buckets_in(known) != buckets_in(mark)), mark)
        elif known != mark:
            refuse_to_wait(stored, store, "List and counts")
            keep_rows(store, run_id, _rows(view), mark)
        _checked.add((run_id, mark))
    return mark


def first_rows(stored: StoredRun, store: Store, limit: int) -> list[FailureRow]:
    """The first failures of a run without rows, for a reader who does not wait; without owners before triage."""
    rows = triaged_rows(store, stored.pk, stored.run.id, _is_likeness, limit=limit)
    opinions = _Opinions(RunView(stored, store), has_moved=False)
    return [opinions.on(row if row.confidence else row._replace(owner="")) for row in rows]


def _rows(view: RunView) -> Iterator[FailureRow]:
    opinions, past = _Opinions(view), past_of(view)
    for row in triaged_rows(view.store, view.stored.pk, view.run.id, _is_likeness):
        yield opinions.on(row)._replace(past=past.get(row.case_key, ""))


def _is_likeness(key: FailureKey) -> bool:
    return bool(key.exact) and is_informative(key) and not lists_only_names(key)


def _changed(view: RunView, *, has_moved: bool) -> Iterator[FailureRow]:
    """Rows whose owner, review or bucket is another one; `owner` of a row without a verdict is that of triage.

    `has_moved`: failures may be in other buckets. Else only those with a verdict are looked at.
    """
    store, run_id = view.store, view.run.id
    opinions = _Opinions(view, has_moved=has_moved)
    rows = list(all_rows(store, run_id) if has_moved else reviewed_rows(store, run_id, list(opinions.reviews)))
    freed = [row.seq for row in rows if row.review != "open" and row.attempt not in opinions.reviews]
    triaged = attributed_at(store, view.stored.pk, freed)
    for row in rows:
        owner = row.owner
        if row.seq in triaged:
            attribution = triaged[row.seq][1]
            owner = attribution.owner if attribution is not None else "unknown"
        now = opinions.on(row._replace(owner=owner, review="open"))
        if now != row:
            yield now


class _Opinions:
    def __init__(self, view: RunView, *, has_moved: bool = True) -> None:
        self.reviews: Mapping[str, AttemptReview] = standing_now(view.stored, view.store) if _has_verdicts(view) else {}
        self._buckets = bucket_of_each(view.store, view.run.id) if has_moved else None

    def on(self, row: FailureRow) -> FailureRow:
        bucket = row.bucket if self._buckets is None else self._buckets.get(row.attempt, "")
        review = self.reviews.get(row.attempt)
        if review is None:
            return row._replace(bucket=bucket)
        return row._replace(bucket=bucket, owner=review.standing.verdict.owner, review=state_of(review))


def _has_verdicts(view: RunView) -> bool:
    """So that no attribution is read where nobody has reviewed anything."""
    opinions = marks_of(view.store, [view.run.id])[view.run.id][1].partition("|")[2]
    return not opinions.startswith("|")


def state_of(review: AttemptReview) -> ReviewState:
    standing = review.standing
    if standing.is_disputed:
        return "disputed"
    if standing.verdict.inherited_from is not None:
        return "inherited"
    return "final" if standing.final else "reviewed"


# earlier runs


def past_of(view: RunView) -> dict[str, Past]:
    """Case → how its failure relates to earlier runs of the same model; empty where there are none."""
    earlier = view.history.runs.same
    if not earlier:
        return {}
    now = view.history.runs.now
    failed_before = set().union(*(one.failed for one in earlier))
    passed_before = set().union(*(one.passed for one in earlier))
    past: dict[str, Past] = {}
    for case in now.failed:
        if case in now.passed or (case in failed_before and case in passed_before):
            past[case] = "flaky"
        elif case in failed_before:
            past[case] = "repeated"
        elif case in passed_before:
            past[case] = "new"
    return past


def past_counts(view: RunView, past: Mapping[str, Past]) -> PastCounts:
    earlier = view.history.runs.same
    if not earlier:
        return PastCounts()
    values = list(past.values())
    return PastCounts(
        runs=len(earlier),
        previous=view.previous.run.id if view.previous is not None else "",
        new=values.count("new"),
        repeated=values.count("repeated"),
        fixed=len((view.history.runs.now.passed - view.history.runs.now.failed) & earlier[0].failed),
        flaky=values.count("flaky"),
    )


ROWS, GROUPS, IN_GROUP = 100, 12, 6
"""Rows of a page, groups of a page, and rows of a group before it is folded."""
LONGEST = 240
NO_FILTERS = FailureFilters()
NEARLY = 2


class FailureLine(msgspec.Struct, frozen=True):
    row: FailureRow
    line: EvidenceLine


class ListedGroup(msgspec.Struct, frozen=True):
    group: RowGroup
    bucket: Bucket | None
    listed: tuple[FailureLine, ...]


class FailurePage(Struct):
    facets: Facets
    groups: tuple[ListedGroup, ...] = ()
    listed: tuple[FailureLine, ...] = ()
    following: Cursor | tuple[int, str] | None = None
    """Where the next page begins; none on the last one."""
    is_complete: bool = True
    """False while the index of a large run is being built: then only the first rows are there, without filters."""
    is_current: bool = True
    """False where the rows are those of an older state, and a server brings them up to date."""


def list_page(
    stored: StoredRun,
    store: Store,
    filters: FailureFilters,
    *,
    grouping: Grouping,
    order: Order,
    after: Cursor | tuple[int, str] | None = None,
    with_facets: bool = True,
) -> FailurePage:
    """Without facets, only the rows are looked up: for a list that goes on."""
    try:
        mark, is_current = ensure_indexed(stored, store), True
    except NotReadyError:
        mark, is_current = rows_mark(store, stored.run.id), False
        if not mark and after is not None:
            raise
        if not mark:
            return _first_page(stored, store, filters)
    facets = facets_of(store, stored.run.id, filters) if with_facets else Facets()
    following: Cursor | tuple[int, str] | None
    if grouping == "none":
        rows = listed_rows(store, stored.run.id, filters, order, after=after, limit=ROWS + 1)  # type: ignore[arg-type]
        following = cursor_of(rows[ROWS - 1], order) if len(rows) > ROWS else None
        return FailurePage(
            facets=facets,
            listed=tuple(_with_lines(stored, store, rows[:ROWS], mark)),
            following=following,
            is_current=is_current,
        )
    groups = groups_of(store, stored.run.id, filters, grouping, after=after, limit=GROUPS + 1)  # type: ignore[arg-type]
    following = (groups[GROUPS - 1].size, groups[GROUPS - 1].name) if len(groups) > GROUPS else None
    named = {one.id: one for one in buckets_of(store, stored.run.suite)} if grouping == "bucket" else {}
    return FailurePage(
        facets=facets,
        groups=tuple(
            ListedGroup(group, named.get(group.name), tuple(_with_lines(stored, store, rows, mark)))
            for group in groups[:GROUPS]
            for rows in [_members(stored, store, within(filters, grouping, group.name), group, order)]
        ),
        following=following,
        is_current=is_current,
    )


def _first_page(stored: StoredRun, store: Store, filters: FailureFilters) -> FailurePage:
    """Straight from the store. Nothing can be filtered by what is not known yet."""
    rows = first_rows(stored, store, ROWS) if filters == NO_FILTERS else []
    first = tuple(FailureLine(row, line) for row, line in _looked_up(stored, store, rows))
    return FailurePage(facets=Facets(total=stored.counts.failures), listed=first, is_complete=False, is_current=False)


class FailureBlock(Struct):
    total: int
    failures: tuple[Failure, ...]
    following: Cursor | None = None


def failure_block(
    stored: StoredRun, store: Store, filters: FailureFilters, *, order: Order, after: Cursor | None, limit: int
) -> FailureBlock:
    ensure_indexed(stored, store)
    rows = listed_rows(store, stored.run.id, filters, order, after=after, limit=limit + 1)
    return FailureBlock(
        total=facets_of(store, stored.run.id, filters).total,
        failures=tuple(one for one in failures_at(stored, store, rows[:limit]) if one is not None),
        following=cursor_of(rows[limit - 1], order) if len(rows) > limit else None,
    )


def _members(
    stored: StoredRun, store: Store, filters: FailureFilters, group: RowGroup, order: Order
) -> list[FailureRow]:
    limit = group.size if group.size <= IN_GROUP + NEARLY else IN_GROUP
    return listed_rows(store, stored.run.id, filters, order, limit=limit)


def within(filters: FailureFilters, grouping: Grouping, name: str) -> FailureFilters:
    if grouping == "owner":
        return msgspec.structs.replace(filters, owners=(name,))
    field = {"bucket": "bucket", "check": "check", "category": "category"}[grouping]
    return msgspec.structs.replace(filters, **{field: name or "-"})


def _with_lines(stored: StoredRun, store: Store, rows: Sequence[FailureRow], mark: str) -> list[FailureLine]:
    """Lines are looked up in the attempts once, and kept in the index."""
    known = known_lines(store, stored.run.id, [row.seq for row in rows])
    wanted = [row for row in rows if row.seq not in known]
    if wanted:
        fresh = {row.seq: line for row, line in _looked_up(stored, store, wanted)}
        keep_lines(store, stored.run.id, fresh, mark)
        known |= fresh
    return [FailureLine(row, known[row.seq]) for row in rows if row.seq in known]


def _looked_up(
    stored: StoredRun, store: Store, rows: Sequence[FailureRow]
) -> Iterator[tuple[FailureRow, EvidenceLine]]:
    for row, failure in zip(rows, failures_at(stored, store, rows), strict=True):
        if failure is not None:
            yield row, _line_of(failure)


def _line_of(failure: Failure) -> EvidenceLine:
    attempt = failure.attempt
    reason = reason_of(attempt, failure.attribution, failure.expected)
    logs = log_names(one.path for one in attempt.artefacts if one.role == "log")
    own = [check for check in attempt.checks if check.counts and check.status in ("pass", "fail", "error")]
    passed = sum(check.status == "pass" for check in own)
    return EvidenceLine(
        quote=one_line(reason.text, LONGEST),
        place=reason.where,
        anchor=anchor_of(reason.where, logs) if reason.where else "",
        checks=f"{passed}/{len(own)}" if len(own) > 1 else "",
    )


def failures_at(stored: StoredRun, store: Store, rows: Sequence[FailureRow]) -> list[Failure | None]:
    loaded = attributed_at(store, stored.pk, [row.seq for row in rows])
    places = bucket_places(store, stored.run.id, [row.attempt for row in rows])
    expected = Expectations(stored, store)
    failures: list[Failure | None] = []
    for row in rows:
        if row.seq not in loaded:
            failures.append(None)
            continue
        attempt, attribution = loaded[row.seq]
        if has_logs(attempt) and not says_more(reason_of(attempt, attribution).text, attempt):
            attempt = with_texts(store, attempt)
        asked = "" if explained(attempt, attribution) else expected.of(attempt)
        standing = None
        if row.review != "open":
            review = standing_of(store, stored.run.id, attempt=row.attempt).get(row.attempt)
            standing = review.standing if review is not None else None
        failures.append(Failure(stored.run, attempt, attribution, asked, standing, places.get(row.attempt)))
    return failures
