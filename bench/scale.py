"""`make bench-scale`: 200 runs on 1, 2 and 3 simulated Ray nodes of this machine, beside one process.

The exports have to be equal, even after a node was killed in the middle. The nodes share the cores of this machine,
so the time shows what a cluster costs, not what it saves; the processor time is what several machines would share.
"""

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.bucket_runs import state
from tests.suite_of_runs import write_logs

from errata.cluster.ray_workers import ray_workers
from errata.cluster.workers import CollectOnWorkers, WorkerPool, import_on_workers, triage_on_workers
from errata.runs.importing import import_orders
from errata.runs.log_search import look_for
from errata.runs.triaging import triage_run
from errata.store.database import Store, open_store
from errata.store.runs import all_runs
from errata.verbs.buckets import suggest_buckets
from errata.verbs.export import write_tables

RUNS, CASES, SUITES = 200, 8, 8
NODE = {"num_cpus": 1, "object_store_memory": 150_000_000, "node_ip_address": "127.0.0.2"}
COLUMNS = ("import", "triage", "buckets", "total", "overhead", "driver CPU", "other CPU")
TICKS = os.sysconf("SC_CLK_TCK")


class Measurement(NamedTuple):
    seconds: dict[str, float]
    """By step."""
    own_cpu: float
    others_cpu: float
    content: str

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="errata-scale-") as folder:
        logs = _logs(Path(folder) / "logs")
        print(f"{RUNS} runs, {CASES * RUNS:,} attempts; load of the machine {os.getloadavg()[0]:.1f}")
        print(f"{'':22}" + "".join(f"{name:>11}" for name in COLUMNS), flush=True)
        measured = {"one process": _measure(logs, Path(folder) / "one", None)}
        _print("one process", measured)
        with _cluster() as cluster:
            others: list[Any] = []
            for nodes, killed in ((1, False), (2, False), (3, False), (3, True)):
                others += [cluster.add_node(**NODE) for _ in range(nodes - 1 - len(others))]
                name = f"{nodes} node{'s' if nodes > 1 else ''}{', one killed' if killed else ''}"
                with ray_workers(cluster.address) as workers:
                    kill = partial(cluster.remove_node, others[-1], allow_graceful=False) if killed else None
                    measured[name] = _measure(logs, Path(folder) / name, workers, kill)
                _print(name, measured)
    if len({one.content for one in measured.values()}) > 1:
        sys.exit("the exports differ")
    print(f"equal exports: {len(measured)} of {len(measured)}")


def _logs(folder: Path) -> Path:
    """Runs of several suites: passes, wrong answers that models share or not, and crashes."""
    letters = ("+++-", "+-+=", "x+++", "++--", "=+x-")
    for suite in range(SUITES):
        runs = {
            f"model-{suite}-{number:02}": "".join(letters[(number + at) % 5] for at in range(CASES // 4))
            for number in range(RUNS // SUITES)
        }
        folder.mkdir(exist_ok=True)
        write_logs(folder / f"suite-{suite}", runs, suite=f"suite-{suite}", log="AssertionError: no such tide\n" * 5)
    return folder


@contextmanager
def _cluster() -> Iterator[Any]:
    # Ray is installed only where it is measured
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 else workers yield to everything else here
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        yield cluster
    finally:
        cluster.shutdown()


def _measure(
    logs: Path, folder: Path, workers: WorkerPool | None, kill: Callable[[], None] | None = None
) -> Measurement:
    store = open_store(folder / "errata.db")
    seconds: dict[str, float] = {}
    own, others = _own_cpu(), _cpu_of_descendants()
    with store.kept_open():
        with _timed("import", seconds):
            orders, items = look_for([logs]), _killing(kill)
            if workers is None:
                import_orders(orders, store)
            else:
                import_on_workers(workers, orders, store, on_items=items)
        with _timed("triage", seconds):
            if workers is None:
                for stored in all_runs(store):
                    triage_run(stored, store)
            else:
                triage_on_workers(workers, all_runs(store), store)
        with _timed("buckets", seconds):
            collect = CollectOnWorkers(workers, store) if workers is not None else None
            list(suggest_buckets(all_runs(store), store, collect=collect))
        own, others = _own_cpu() - own, _cpu_of_descendants() - others
        return Measurement(seconds, own, others, _content(store, folder / "tables"))


def _killing(kill: Callable[[], None] | None) -> Callable[[int], None]:
    """In the middle of the import."""
    left, seen = [kill] if kill else [], [0]

    def on_items(items: int) -> None:
        seen[0] += items
        if left and seen[0] > RUNS * CASES // 3:
            left.pop()()

    return on_items


@contextmanager
def _timed(step: str, seconds: dict[str, float]) -> Iterator[None]:
    began = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - began


def _content(store: Store, folder: Path) -> str:
    """A digest of the exported tables, of the buckets, and of the runs in their order."""
    runs, digest = all_runs(store), sha256()
    for table in write_tables(runs, store, folder, "csv"):
        digest.update(table.path.read_bytes())
    digest.update(repr([(one.run.id, one.pk, one.digest, one.run.revision) for one in runs]).encode())
    digest.update(repr(state(store)).encode())
    shutil.rmtree(folder)
    return digest.hexdigest()


def _own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _cpu_of_descendants() -> float:
    """Of the processes that live now: nodes and their workers."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(place.name)] = int(fields[1])
            spent[int(place.name)] = sum(map(int, fields[11:15])) / TICKS
    below, more = {os.getpid()}, True
    while more:
        new = {pid for pid, parent in parents.items() if parent in below} - below
        below, more = below | new, bool(new)
    return sum(spent[pid] for pid in below - {os.getpid()})


def _print(name: str, measured: dict[str, Measurement]) -> None:
    cost = measured[name]
    times = "".join(f"{seconds:10.1f}s" for seconds in (*cost.seconds.values(), cost.total))
    overhead = f"{cost.total / measured['one process'].total - 1:+.0%}"
    print(f"{name:22}{times}{overhead:>11}{cost.own_cpu:10.1f}s{cost.others_cpu:10.1f}s", flush=True)


if __name__ == "__main__":
    main()
