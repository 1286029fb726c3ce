"""The index of a run's failures: brought up to date when facts, triage, verdicts or buckets have changed."""

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping

from errata.model import FailureKey, StoredRun
from errata.model.listing import FailureRow, Past, PastCounts, ReviewState
from errata.model.standing import AttemptReview
from errata.runs.bucketing import ensure_buckets
from errata.runs.standings import standing_now
from errata.runs.triaging import refuse_to_wait
from errata.runs.view import RunView
from errata.store.buckets import bucket_of_each
from errata.store.database import Store
from errata.store.failure_list import (
    all_rows,
    keep_rows,
    reviewed_rows,
    triaged_rows,
    update_opinions,
)
from errata.store.failures import attributed_at
from errata.store.index_file import buckets_in, marks_of, rows_mark
from errata.triage.keys import is_informative, lists_only_names

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
