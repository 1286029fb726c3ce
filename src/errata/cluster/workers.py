"""The work of one command on the workers of a cluster, which start ahead; their results in order.

They read, recognise and compress logs, and this process writes: one writer gives the same store as an import without a
cluster. For triage and grouping they open the store themselves; groups are joined here.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.cluster.tasks import (
    LogsToRead,
    Part,
    RemoteLogs,
    RunsToGroup,
    RunsToTriage,
    SharedStore,
    Task,
    code_version,
    machine_of_this_process,
    serve,
)
from errata.errors import StoreError
from errata.fetch.objects import expand
from errata.model import StoredRun
from errata.model.store_address import StoreAddress
from errata.runs.importing import OnItems, PathSummary, import_orders
from errata.runs.log_search import Order
from errata.runs.reader_processes import PARALLEL_FROM, size_of
from errata.runs.triaging import gaps_for
from errata.runs.view import RunView
from errata.settings import load_settings
from errata.store.database import Store
from errata.store.packing import PackedBatch
from errata.store.runs import runs_unchanged
from errata.triage.rulesets import rules_in_use

AHEAD = 2
"""Tasks that are started ahead for each slot, so that no worker waits for the one that writes."""
MOST_FAILURES = 20_000
"""In one task, unless a single run has more."""


class WorkerPool(Protocol):
    """Where tasks run: a Ray cluster, or this process."""

    def slots(self) -> int:
        """How many tasks can run at once now; a lost machine takes its slots along."""
        ...

    def start(self, task: Task) -> Iterator[Any]:
        """Its results as they come; an error that the user can fix is raised in its words."""
        ...

    def share_this_machine(self) -> bool:
        """Whether every worker runs on the machine of this process and sees its files."""
        ...


class ThisProcess(WorkerPool):
    """For object storage without a cluster, and in tests the place of one."""

    def slots(self) -> int:
        return 1

    def start(self, task: Task) -> Iterator[Any]:
        return serve(task, code_version())

    def share_this_machine(self) -> bool:
        return True


def _results(workers: WorkerPool, tasks: Iterable[Task]) -> Iterator[Any]:
    waiting, started = iter(tasks), deque[Iterator[Any]]()
    while True:
        while len(started) < AHEAD * workers.slots() and (task := next(waiting, None)) is not None:
            started.append(workers.start(task))
        if not started:
            return
        yield from started.popleft()


def _in_shares(items: Iterable[Any], workers: WorkerPool, size: Callable[[Any], int], most: int) -> Iterator[list[Any]]:
    """Neighbours together, up to a size, but few enough of them that every worker gets several shares."""
    every = list(items)
    longest = max(1, min(64, len(every) // (4 * workers.slots())))
    share: list[Any] = []
    total = 0
    for item in every:
        weight = size(item)
        if share and (len(share) >= longest or total + weight > most):
            yield share
            share, total = [], 0
        share.append(item)
        total += weight
    if share:
        yield share


def remote_logs(urls: Iterable[str], *, source: str = "") -> list[RemoteLogs]:
    """Patterns are expanded; the same address twice is read once."""
    return [RemoteLogs(url, source) for url in dict.fromkeys(match for url in urls for match in expand(url))]


def import_on_workers(
    workers: WorkerPool,
    logs: Sequence[Order | RemoteLogs],
    store: Store,
    *,
    on_items: OnItems = lambda _: None,
    replace: bool = False,
) -> list[PathSummary]:
    """Orders that were recognised before, and addresses of object storage."""
    parts: Iterator[Part] = (part for message in _results(workers, _logs_to_read(logs, workers)) for part in message)

    def orders() -> Iterator[Order]:
        for part in parts:
            assert isinstance(part, Order)
            yield part

    def batches(_order: Order) -> Iterator[PackedBatch]:
        """Of the order that was given last."""
        for part in parts:
            if not isinstance(part, bytes):
                return
            yield msgspec.msgpack.decode(part, type=PackedBatch)

    return import_orders(orders(), store, on_items=on_items, read=batches, replace=replace)


def _logs_to_read(logs: Sequence[Order | RemoteLogs], workers: WorkerPool) -> Iterator[LogsToRead]:
    def size(log: Order | RemoteLogs) -> int:
        # what is in object storage is copied whole to the worker: a task for each
        return PARALLEL_FROM if isinstance(log, RemoteLogs) else size_of(Path(log.path))

    for some in _in_shares(logs, workers, size, PARALLEL_FROM):
        maps = {log.map: Path(log.map).read_bytes() for log in some if isinstance(log, Order) and log.map}
        yield LogsToRead(tuple(some), maps, is_large=len(some) == 1 and size(some[0]) >= PARALLEL_FROM)


def is_reachable(store: Store, workers: WorkerPool) -> bool:
    """Whether workers can open the store: a SQLite file only where all of them run on this machine."""
    return not store.is_read_only and (isinstance(store.path, StoreAddress) or workers.share_this_machine())


def _shared(store: Store, workers: WorkerPool) -> SharedStore:
    if not is_reachable(store, workers):
        raise StoreError(
            f"`{store.path}` is a file of this machine; the workers of the cluster can't open it",
            hint="keep the runs in a PostgreSQL store (`--store postgresql://HOST/DATABASE`), or leave out `--ray`",
        )
    settings, is_file = load_settings(), isinstance(store.path, Path)
    return SharedStore(
        store.path.absolute() if isinstance(store.path, Path) else store.path,
        machine_of_this_process() if is_file else "",
        tuple(file.read_bytes() for file in settings.rule_files),
        tuple(file.read_bytes() for file in settings.taxonomy_files),
        rules_in_use().version,
    )


def _failures(stored: StoredRun) -> int:
    return stored.counts.failures


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

    def tasks() -> Iterator[RunsToTriage]:
        with runs_unchanged():
            for some in _in_shares(filter(_failures, runs), workers, _failures, MOST_FAILURES):
                gaps = [gaps_for(stored, store) for stored in some]
                yield RunsToTriage(shared, [stored.run.id for stored in some], gaps, stale_only)

    for _ in _results(workers, tasks()):
        on_run()


class CollectOnWorkers:
    """Collects the failures of many runs for the grouping."""

    def __init__(self, workers: WorkerPool, store: Store) -> None:
        self._workers, self._store = workers, store
        self._shared = _shared(store, workers)

    def __call__(self, views: Sequence[RunView], *, logs: bool) -> Iterator[Iterable[FailureToGroup]]:
        runs = [view.stored for view in views]
        triage_on_workers(self._workers, runs, self._store, stale_only=True)
        shares = _in_shares(runs, self._workers, _failures, MOST_FAILURES)
        tasks = (RunsToGroup(self._shared, [stored.run.id for stored in some], logs) for some in shares)
        yield from _results(self._workers, tasks)
