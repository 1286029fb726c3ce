"""A page of a run's failures: rows and groups from the index, joined with what is shown of each."""

from collections.abc import Iterator, Sequence

import msgspec

from errata.errors import NotReadyError
from errata.model import Bucket, StoredRun
from errata.model.filters import FailureFilters
from errata.model.listing import EvidenceLine, Facets, FailureRow, Grouping, Order, RowGroup
from errata.model.places import anchor_of, log_names
from errata.model.record import Struct
from errata.runs.failure_index import ensure_indexed, first_rows
from errata.runs.failures import Expectations, Failure
from errata.runs.standings import standing_of
from errata.store.attempts import with_texts
from errata.store.buckets import bucket_places, buckets_of
from errata.store.database import Store
from errata.store.failure_list import Cursor, cursor_of, facets_of, groups_of, keep_lines, known_lines, listed_rows
from errata.store.failures import attributed_at
from errata.store.index_file import rows_mark
from errata.text.clean import one_line
from errata.transcript.error_text import has_logs, says_more
from errata.triage.reasons import explained, reason_of

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
