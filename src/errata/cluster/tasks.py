"""What a worker does: read logs, triage runs, or collect failures to be grouped."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from errata import __version__
from errata.buckets.failure import FailureToGroup
from errata.errors import ClusterError, SourceError, StoreError
from errata.fetch.objects import copied, place_of_copy
from errata.model.store_address import StoreLocation
from errata.runs.failures_to_group import failures_to_group
from errata.runs.importing import read_alone
from errata.runs.log_search import Order, look_for
from errata.runs.view import RunView
from errata.store.database import Store, open_store, this_process
from errata.store.packing import encoded
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


def machine_of_this_process() -> str:
    """Host and process namespace."""
    return this_process().rpartition(":")[0]


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
    machine: str
    """The machine that the store is a file of; empty for a database."""
    rules: tuple[bytes, ...] = ()
    taxonomies: tuple[bytes, ...] = ()
    version: str = ""
    """Of all rules, with the built-in ones."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        if self.machine and self.machine != machine_of_this_process():
            raise StoreError(
                f"`{self.location}` is a file of another machine; workers of a cluster can't open it",
                hint="keep the runs in a PostgreSQL store: `--store postgresql://HOST/DATABASE`",
            )
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
