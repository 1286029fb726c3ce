"""The work of one command on the workers of a cluster, which start ahead; their results in order.

They read, recognise and compress logs, and this process writes: one writer gives the same store as an import without a
cluster. For triage and grouping they open the store themselves; groups are joined here.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import msgspec

from errata import __version__
from errata.buckets.failure import FailureToGroup
from errata.errors import ClusterError, SourceError, StoreError
from errata.fetch.objects import copied, expand, place_of_copy
from errata.model import StoredRun
from errata.model.store_address import StoreAddress, StoreLocation
from errata.runs.bucketing import failures_to_group
from errata.runs.importing import OnItems, PathSummary, import_orders, read_alone
from errata.runs.log_search import Order, look_for
from errata.runs.reader_processes import PARALLEL_FROM, size_of
from errata.runs.triaging import gaps_for
from errata.runs.view import RunView
from errata.settings import load_settings
from errata.store.database import Store, open_store, this_process
from errata.store.packing import PackedBatch, encoded
from errata.store.runs import runs_by_id, runs_unchanged
from errata.triage.across import KnownGaps
from errata.triage.rulesets import rules_in_use, using_rules, with_added
from errata.triage.stored import attributions as stored_triage

MESSAGE_BYTES = 1024 * 1024
"""Batches of small runs travel together until a message has this size."""
SAME_CODE = "install the same version of errata with its extra `ray` on every machine of the cluster"
Part = Order | bytes | None
"""Of what a worker reads: an order, then its batches, then nothing."""


def serve(task: "Task", version: str) -> Iterator[Any]:
    if version != code_version():
        message = f"This command is errata {version}, a worker of the cluster is {code_version()}"
        raise ClusterError(message, hint=SAME_CODE)
    yield from task.results()


@cache
def code_version() -> str:
    """The version and a digest of the code: two clones of one version may differ."""
    package, digest = Path(__file__).parent.parent, sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + file.read_bytes())
    return f"{__version__} ({digest.hexdigest()[:8]})"


class RemoteLogs(msgspec.Struct, frozen=True):
    """Logs in object storage: they are copied to the worker and recognised there."""

    url: str
    source: str = ""


class LogsToRead(msgspec.Struct, frozen=True):
    """Orders of logs that the command has recognised, or addresses of logs."""

    logs: tuple[Order | RemoteLogs, ...]
    maps: dict[str, bytes] = {}
    """Mapping files of the orders, by path: another machine may not have them."""
    is_large: bool = False
    """Its results may not fit into memory: the worker waits until earlier ones were taken."""

    def results(self) -> Iterator[list[Part]]:
        parts: list[Part] = []
        size = 0
        with TemporaryDirectory(prefix="errata-") as folder:
            for part in self._parts(Path(folder)):
                parts.append(part)
                size += len(part) if isinstance(part, bytes) else 0
                if size >= MESSAGE_BYTES:
                    yield parts
                    parts, size = [], 0
        yield parts

    def _parts(self, folder: Path) -> Iterator[Part]:
        # under its own name, which errors show
        maps = {
            path: str(_write_file(folder / str(number) / Path(path).name, data))
            for number, (path, data) in enumerate(self.maps.items())
        }
        for log in self.logs:
            if isinstance(log, RemoteLogs):
                with copied(log.url) as copy:
                    for order in look_for([copy], source=log.source):
                        yield from _parts_of_copy(order, copy, log.url)
            elif not Path(log.path).exists():  # the command found it there
                raise SourceError(
                    f"`{log.path}` is not on `{this_process().partition('/')[0]}`, a machine of the cluster",
                    hint="put the logs under this path on every machine: in a shared folder, or in object storage",
                )
            else:
                yield log
                yield from map(encoded, read_alone(msgspec.structs.replace(log, map=maps.get(log.map, ""))))
                yield None


def _write_file(file: Path, data: bytes) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    return file


def _parts_of_copy(order: Order, copy: Path, url: str) -> Iterator[Part]:
    """As if it had been read at its address."""
    passed_over = tuple(place_of_copy(path, copy, url) for path in order.passed_over)
    yield msgspec.structs.replace(order, path=place_of_copy(order.path, copy, url), passed_over=passed_over)
    for batch in read_alone(order):
        batch.runs = [
            msgspec.structs.replace(run, origin=place_of_copy(run.origin, copy, url)) if run.origin else run
            for run in batch.runs
        ]
        yield encoded(batch)
    yield None


class SharedStore(msgspec.Struct, frozen=True):
    """A store that workers open, and the rules and taxonomies of the command, by content."""

    location: StoreLocation
    rules: tuple[bytes, ...] = ()
    taxonomies: tuple[bytes, ...] = ()
    version: str = ""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        with TemporaryDirectory(prefix="errata-") as folder:
            files = [
                [_write_file(Path(folder) / f"{kind}-{number}.toml", data) for number, data in enumerate(contents)]
                for kind, contents in (("rules", self.rules), ("taxonomy", self.taxonomies))
            ]
            with using_rules(with_added(*files)):
                if rules_in_use().version != self.version:
                    raise ClusterError("A worker of the cluster has other rules than this command", hint=SAME_CODE)
                store = _store_at(self.location)
                with store.kept_open():
                    yield store


@cache
def _store_at(location: StoreLocation) -> Store:
    return open_store(location)


class RunsToTriage(msgspec.Struct, frozen=True):
    store: SharedStore
    runs: Sequence[str]
    gaps: Sequence[KnownGaps]
    """For each run; the reports that some of them come from are files of the command's machine."""
    stale_only: bool = False
    is_large: bool = False

    def results(self) -> Iterator[int]:
        """For each run, how many failures got an owner; 0 where that was up to date."""
        gaps_of = dict(zip(self.runs, self.gaps, strict=True))
        with self.store.opened() as store, runs_unchanged():
            rules = rules_in_use()
            for stored in runs_by_id(store, self.runs):
                gaps = gaps_of[stored.run.id]
                if self.stale_only and not stored_triage.is_stale(stored, store, rules, gaps):
                    yield 0
                else:
                    yield stored_triage.triage_run(stored, store, rules, gaps)


class RunsToGroup(msgspec.Struct, frozen=True):
    store: SharedStore
    runs: Sequence[str]
    logs: bool
    is_large: bool = False

    def results(self) -> Iterator[list[FailureToGroup]]:
        """For each run its failures, as the grouping sees them. The command has triaged the runs."""
        with self.store.opened() as store:
            for stored in runs_by_id(store, self.runs):
                yield list(failures_to_group(RunView(stored, store, is_triaged=True), logs=self.logs))


Task = LogsToRead | RunsToTriage | RunsToGroup


AHEAD = 2
"""Tasks that are started ahead for each slot, so that no worker waits for the one that writes."""
MOST_FAILURES = 20_000
"""In one task, unless a single run has more."""


class WorkerPool(Protocol):
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
    settings = load_settings()
    return SharedStore(
        store.path.absolute() if isinstance(store.path, Path) else store.path,
        tuple(file.read_bytes() for file in settings.rule_files),
        tuple(file.read_bytes() for file in settings.taxonomy_files),
        rules_in_use().version,
    )


_failures = attrgetter("counts.failures")


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
    def __init__(self, workers: WorkerPool, store: Store) -> None:
        self._workers, self._store = workers, store
        self._shared = _shared(store, workers)

    def __call__(self, views: Sequence[RunView], *, logs: bool) -> Iterator[Iterable[FailureToGroup]]:
        runs = [view.stored for view in views]
        triage_on_workers(self._workers, runs, self._store, stale_only=True)
        shares = _in_shares(runs, self._workers, _failures, MOST_FAILURES)
        tasks = (RunsToGroup(self._shared, [stored.run.id for stored in some], logs) for some in shares)
        yield from _results(self._workers, tasks)
