"""Triage and grouping with the workers of a cluster. They open the store themselves; groups are joined here."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from errata.buckets.failure import FailureToGroup
from errata.cluster.tasks import RuleFiles, RunsToGroup, RunsToTriage, SharedStore, machine_of_this_process
from errata.cluster.workers import WorkerPool, WorkShare, in_shares, results
from errata.errors import StoreError
from errata.model import StoredRun
from errata.model.store_address import StoreAddress
from errata.runs.triaging import gaps_for
from errata.runs.view import RunView
from errata.settings import load_settings
from errata.store.database import Store
from errata.store.runs import runs_unchanged
from errata.triage.rulesets import rules_in_use

MOST_FAILURES = 20_000
"""In one share, unless a single run has more."""


def is_reachable(store: Store, workers: WorkerPool) -> bool:
    """Whether workers can open the store: a SQLite file only where all of them run on this machine."""
    return not store.is_read_only and (isinstance(store.path, StoreAddress) or workers.share_this_machine())


def triage_on_workers(
    workers: WorkerPool,
    runs: Sequence[StoredRun],
    store: Store,
    *,
    stale_only: bool = False,
    on_run: Callable[[], None] = lambda: None,
) -> None:
    """Assign owners, to every run or where they are stale. Runs are independent of each other's owners."""
    shared = _shared(store, workers)
    failed = [stored for stored in runs if stored.counts.failures]
    for streams in results(workers, _triage_shares(failed, shared, workers, store, stale_only)):
        for _ in streams:
            on_run()


def _triage_shares(
    runs: Sequence[StoredRun], shared: SharedStore, workers: WorkerPool, store: Store, stale_only: bool
) -> Iterator[WorkShare]:
    with runs_unchanged():
        for some in in_shares(runs, workers, _failures, MOST_FAILURES):
            ids = tuple(stored.run.id for stored in some)
            gaps = tuple(gaps_for(stored, store) for stored in some)
            yield WorkShare("triage", RunsToTriage(shared, ids, gaps, stale_only), ids[0])


class CollectOnWorkers:
    """Collects the failures of many runs for the grouping."""

    def __init__(self, workers: WorkerPool, store: Store) -> None:
        self._workers, self._store = workers, store
        self._shared = _shared(store, workers)

    def __call__(self, views: Sequence[RunView], *, logs: bool) -> Iterator[Iterable[FailureToGroup]]:
        runs = [view.stored for view in views]
        triage_on_workers(self._workers, runs, self._store, stale_only=True)
        for stream in results(self._workers, self._shares(runs, logs)):
            yield from stream

    def _shares(self, runs: Sequence[StoredRun], logs: bool) -> Iterator[WorkShare]:
        for some in in_shares(runs, self._workers, _failures, MOST_FAILURES):
            ids = tuple(stored.run.id for stored in some)
            yield WorkShare("failures", RunsToGroup(self._shared, ids, logs), ids[0])


def _failures(stored: StoredRun) -> int:
    return stored.counts.failures


def _shared(store: Store, workers: WorkerPool) -> SharedStore:
    if not is_reachable(store, workers):
        raise StoreError(
            f"`{store.path}` is a file of this machine; the workers of the cluster can't open it",
            hint="keep the runs in a PostgreSQL store (`--store postgresql://HOST/DATABASE`), or leave out `--ray`",
        )
    settings = load_settings()
    files = RuleFiles(
        tuple(file.read_bytes() for file in settings.rule_files),
        tuple(file.read_bytes() for file in settings.taxonomy_files),
        rules_in_use().version,
    )
    if isinstance(store.path, StoreAddress):
        return SharedStore(store.path, "", files)
    return SharedStore(store.path.absolute(), machine_of_this_process(), files)
