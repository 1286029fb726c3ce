"""What a worker does: read logs, triage runs, or collect failures to be grouped."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from errata import __version__
from errata.buckets.failure import FailureToGroup
from errata.cluster.workers import DATA, END, Message, error_message
from errata.errors import ClusterError, ErrataError, SourceError, StoreError
from errata.fetch.objects import copied, place_of_copy
from errata.model import Run
from errata.model.store_address import StoreLocation
from errata.runs.failures_to_group import failures_to_group
from errata.runs.frames import encoded
from errata.runs.importing import read_alone
from errata.runs.log_search import Order, look_for
from errata.runs.view import RunView
from errata.store.database import Store, open_store, this_process
from errata.store.packing import PackedBatch
from errata.store.runs import runs_by_id, runs_unchanged
from errata.triage.across import KnownGaps
from errata.triage.rulesets import rules_in_use, using_rules, with_added
from errata.triage.stored import attributions as stored_triage

MESSAGE_BYTES = 1024 * 1024
"""Batches of small runs travel together until a message has this size."""


def serve(task: str, argument: Any, version: str) -> Iterator[Message]:
    """Run a task: its results, and what the user can fix as an error in words."""
    try:
        if version != code_version():
            raise ClusterError(
                f"This command is errata {version}, a worker of the cluster is {code_version()}",
                hint="install the same version of errata on every machine of the cluster",
            )
        for result in TASKS[task](argument):
            yield DATA, result
        yield END, None
    except ErrataError as error:
        yield error_message(error)


@cache
def code_version() -> str:
    """The version and a digest of the code: two clones of one version may differ."""
    package = Path(__file__).parent.parent
    digest = sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode())
        digest.update(file.read_bytes())
    return f"{__version__} ({digest.hexdigest()[:8]})"


# reading


class RemoteLogs(msgspec.Struct, frozen=True):
    """Logs in object storage: they are copied to the worker and recognised there."""

    url: str
    source: str = ""


class LogsToRead(msgspec.Struct, frozen=True):
    """One share: orders of logs that the driver has recognised, or addresses of logs."""

    logs: tuple[Order | RemoteLogs, ...]
    maps: dict[str, bytes] = {}
    """Mapping files of the orders, by path: another machine may not have them."""


class LogPart(msgspec.Struct, array_like=True, frozen=True):
    """A piece of a message: an order, or a batch of the order before it; neither where the order is complete."""

    order: bytes = b""
    batch: bytes = b""


def read_logs(share: LogsToRead) -> Iterator[bytes]:
    """Messages of `LogPart`s."""
    parts: list[LogPart] = []
    size = 0
    with TemporaryDirectory(prefix="errata-") as folder:
        for part in _parts(share, Path(folder)):
            parts.append(part)
            size += len(part.batch)
            if size >= MESSAGE_BYTES:
                yield msgspec.msgpack.encode(parts)
                parts, size = [], 0
    yield msgspec.msgpack.encode(parts)


def _parts(share: LogsToRead, folder: Path) -> Iterator[LogPart]:
    # under its own name, which errors show
    maps = {
        path: _write_file(folder / str(number) / Path(path).name, data)
        for number, (path, data) in enumerate(share.maps.items())
    }
    for log in share.logs:
        if isinstance(log, RemoteLogs):
            with copied(log.url) as copy:
                for order in look_for([copy], source=log.source):
                    yield from _parts_of(_named_by_url(order, copy, log.url), order, (copy, log.url))
        else:
            _refuse_missing(log)
            here = msgspec.structs.replace(log, map=str(maps[log.map])) if log.map else log
            yield from _parts_of(log, here)


def _write_file(file: Path, data: bytes) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    return file


def _parts_of(shown: Order, order: Order, moved: tuple[Path, str] | None = None) -> Iterator[LogPart]:
    yield LogPart(order=order_to_bytes(shown))
    for batch in read_alone(order):
        if moved is not None:
            batch.runs = [_from_url(run, *moved) for run in batch.runs]
        yield LogPart(batch=encoded(batch))
    yield LogPart()


def order_to_bytes(order: Order) -> bytes:
    """The standard library's JSON can hold a path that is not UTF-8."""
    return json.dumps(msgspec.structs.asdict(order)).encode()


def order_from_bytes(data: bytes) -> Order:
    fields = json.loads(data)
    return Order(**fields | {"passed_over": tuple(fields["passed_over"])})


def _refuse_missing(order: Order) -> None:
    """The driver found it there, so it is this machine that does not have it."""
    if not Path(order.path).exists():
        machine = this_process().partition("/")[0]
        raise SourceError(
            f"`{order.path}` is not on `{machine}`, a machine of the cluster",
            hint="put the logs where every machine sees them under this path: a shared folder or object storage",
        )


def _named_by_url(order: Order, copy: Path, url: str) -> Order:
    passed_over = tuple(place_of_copy(path, copy, url) for path in order.passed_over)
    return msgspec.structs.replace(order, path=place_of_copy(order.path, copy, url), passed_over=passed_over)


def _from_url(run: Run, copy: Path, url: str) -> Run:
    return msgspec.structs.replace(run, origin=place_of_copy(run.origin, copy, url)) if run.origin else run


# triage and grouping


class RuleFiles(msgspec.Struct, frozen=True):
    """Rules and taxonomies of the user and the project, by content."""

    rules: tuple[bytes, ...] = ()
    taxonomies: tuple[bytes, ...] = ()
    version: str = ""
    """Of all rules, with the built-in ones."""


class SharedStore(msgspec.Struct, frozen=True):
    """A store that workers open, and the rules of the command."""

    location: StoreLocation
    machine: str
    """The machine that the store is a file of; empty for a database."""
    rules: RuleFiles


class RunsToTriage(msgspec.Struct, frozen=True):
    store: SharedStore
    runs: tuple[str, ...]
    gaps: tuple[KnownGaps, ...]
    """For each run; the reports that some of them come from are files of the driver's machine."""
    stale_only: bool = False


class RunsToGroup(msgspec.Struct, frozen=True):
    store: SharedStore
    runs: tuple[str, ...]
    logs: bool


def triage_runs(share: RunsToTriage) -> Iterator[int]:
    """For each run, how many failures got an owner; 0 where that was up to date."""
    gaps_of = dict(zip(share.runs, share.gaps, strict=True))
    with _opened(share.store) as store, runs_unchanged():
        rules = rules_in_use()
        for stored in runs_by_id(store, share.runs):
            gaps = gaps_of[stored.run.id]
            if share.stale_only and not stored_triage.is_stale(stored, store, rules, gaps):
                yield 0
            else:
                yield stored_triage.triage_run(stored, store, rules, gaps)


def failures_of_runs(share: RunsToGroup) -> Iterator[list[FailureToGroup]]:
    """For each run its failures, as the grouping sees them. The driver has triaged the runs."""
    with _opened(share.store) as store:
        for stored in runs_by_id(store, share.runs):
            view = RunView(stored, store, is_triaged=True)
            yield list(failures_to_group(view, logs=share.logs))


@contextmanager
def _opened(shared: SharedStore) -> Iterator[Store]:
    if shared.machine and shared.machine != machine_of_this_process():
        raise StoreError(
            f"`{shared.location}` is a file of another machine; workers of a cluster can't open it",
            hint="keep the runs in a PostgreSQL store: `--store postgresql://HOST/DATABASE`",
        )
    with TemporaryDirectory(prefix="errata-") as folder:
        files = [
            [_write_file(Path(folder) / f"{kind}-{number}.toml", data) for number, data in enumerate(contents)]
            for kind, contents in (("rules", shared.rules.rules), ("taxonomy", shared.rules.taxonomies))
        ]
        with using_rules(with_added(*files)):
            if rules_in_use().version != shared.rules.version:
                raise ClusterError("A worker of the cluster has other rules than this command", hint=_SAME_CODE)
            store = _store_at(shared.location)
            with store.kept_open():
                yield store


_SAME_CODE = "install the same version of errata on every machine of the cluster"


@cache
def _store_at(location: StoreLocation) -> Store:
    return open_store(location)


def machine_of_this_process() -> str:
    """Host and process namespace."""
    return this_process().rpartition(":")[0]


TASKS: Mapping[str, Callable[[Any], Iterator[Any]]] = {
    "read": read_logs,
    "triage": triage_runs,
    "failures": failures_of_runs,
}


def decode_parts(message: bytes) -> Sequence[LogPart]:
    return msgspec.msgpack.decode(message, type=list[LogPart])


def decode_batch(data: bytes) -> PackedBatch:
    return msgspec.msgpack.decode(data, type=PackedBatch)
