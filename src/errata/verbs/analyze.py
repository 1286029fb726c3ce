"""`analyze`, `check`, `failures` and `show`: import, then one view of each run, from which everything is shown."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from errata.errors import ErrataError, NotFoundError, ReadOnlyStoreError
from errata.model import Attempt, StoredRun, UnreadFiles
from errata.model.filters import Filters
from errata.runs.addresses import locate
from errata.runs.failures import Failure, refuse_unknown
from errata.runs.importing import OnItems, PathSummary, import_orders, import_paths
from errata.runs.log_search import Order, look_for
from errata.runs.names import runs_named
from errata.runs.new_runs import Search, find_new
from errata.runs.show import ShownAttempt, ShownRun, find_shown
from errata.runs.suspect_tasks import inherit_task_verdicts
from errata.runs.triaging import triage_imported
from errata.runs.view import RunView
from errata.store.database import Store
from errata.store.runs import run_by_id


class NewRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What `analyze --new` found and imported."""

    search: Search
    summaries: tuple[PathSummary, ...] = ()
    views: tuple[RunView, ...] = ()
    unchanged: int = 0
    """Runs that were imported again and had nothing new."""


def analyze(
    orders: Iterable[Order],
    store: Store,
    *,
    on_items: OnItems = lambda _: None,
    on_summary: Callable[[PathSummary], None] = lambda _: None,
) -> list[RunView]:
    """Import what was found at the paths; each run's summary is made here, so that a progress bar covers it."""
    summaries = import_orders(orders, store, on_items=on_items)
    for summary in summaries:
        on_summary(summary)
    return analyze_stored((run.id for summary in summaries for run in summary.runs), store)


def analyze_new(
    paths: Iterable[Path], store: Store, *, source: str = "", on_items: OnItems = lambda _: None
) -> NewRuns:
    """Import what is new, and analyse it; one path that can't be imported does not stop the others."""
    search = find_new(paths, store, source=source)
    summaries, problems = _import_each(search.new, store, source, on_items)
    changes = {run.id: run.change for summary in summaries for run in summary.runs}
    fresh = [run_id for run_id, change in changes.items() if change in ("new", "grown")]
    return NewRuns(
        search=msgspec.structs.replace(search, problems=(*search.problems, *problems)),
        summaries=tuple(summaries),
        views=tuple(analyze_stored(fresh, store)),
        unchanged=len(changes) - len(fresh),
    )


def analyze_stored(run_ids: Iterable[str], store: Store) -> list[RunView]:
    views = [RunView(run_by_id(store, run_id), store) for run_id in dict.fromkeys(run_ids)]
    for view in views:
        view.ensure_triaged()
        with suppress(ReadOnlyStoreError):  # a store that can only be read shows what it holds
            inherit_task_verdicts(view)
    for view in views:  # a summary takes from the triage of other runs
        _ = view.summary
    return views


def analyze_named(selectors: Iterable[str], store: Store) -> list[RunView]:
    """Runs by name; what is at a path is imported first."""
    return analyze_stored([stored.run.id for stored in runs_named(selectors, store)], store)


def views_named(selectors: Iterable[str], store: Store) -> list[RunView]:
    return [RunView(stored, store) for stored in runs_named(selectors, store)]


def list_failures(selector: str, store: Store, filters: Filters) -> Iterator[Failure]:
    """Of the runs that are meant, one after the other. A filter that no run knows is refused."""
    views = views_named([selector], store)
    has_any = False
    for view in views:
        for failure in view.failures(filters):
            has_any = True
            yield failure
    if not has_any:
        refuse_unknown(filters, views)


def show(thing: str, store: Store) -> ShownRun | ShownAttempt:
    """A run, or an attempt as RUN/CASE or by its id."""
    return find_shown(thing, store)


def attempt_named(thing: str, store: Store) -> Attempt:
    located = locate(thing, store)
    if located.attempt is None:
        raise NotFoundError(f"`{thing}` names a run, not an attempt", hint="name a case: RUN/CASE")
    return located.attempt


def _import_each(
    paths: Iterable[Path], store: Store, source: str, on_items: OnItems
) -> tuple[list[PathSummary], list[tuple[Path, str]]]:
    summaries: list[PathSummary] = []
    problems = []
    for path in paths:
        try:
            summaries += import_paths([path], store, source=source, on_items=on_items)
        except ErrataError as problem:
            problems.append((path, problem.message))
    return summaries, problems


def import_logs(
    paths: Sequence[Path], store: Store, *, source: str = "", map_path: Path | None = None
) -> tuple[list[StoredRun], list[UnreadFiles]]:
    unread: list[UnreadFiles] = []
    orders = look_for(paths, source=source, map_path=map_path, on_unread=unread.append)
    summaries = import_orders(orders, store)
    triage_imported(summaries, store)
    run_ids = dict.fromkeys(run.id for summary in summaries for run in summary.runs)
    return [run_by_id(store, run_id) for run_id in run_ids], unread
