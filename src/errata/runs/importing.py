"""Importing: logs become runs in the store."""

import os.path
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata import __version__, sources
from errata.errors import ErrataError, SourceError
from errata.model import Attempt, Item, Run, Unreadable
from errata.model.identity import fingerprint
from errata.model.run import FOLDER
from errata.runs import reader_processes
from errata.runs.log_search import Order, RunChange, found_by, look_for
from errata.sources.folder_names import folder_model, folder_name
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.packing import PackedBatch, as_sent, pack_items, seal
from errata.store.run_totals import UNSETTLED, ImportedRun
from errata.store.run_totals import Settled as Settled
from errata.store.runs import all_runs, keep_summary, run_with_summary, stored_run, unreadables_of
from errata.store.shared_ids import attempt_keys, folder_apart, place_of
from errata.store.whole_runs import PendingRun, RunGroup, whole_runs

BATCHES_IN_MEMORY = 4
"""What has fewer batches than this is written at once, together with other small runs."""


def batches(order: Order) -> Iterator[PackedBatch]:
    if reader_processes.is_large(order):
        yield from seal(reader_processes.batches_of_reader(order))
    else:
        yield from read_alone(order)


def read_alone(order: Order) -> Iterator[PackedBatch]:
    """The same, read in this process whatever its size."""
    return seal(map(as_sent, pack_items(items_of(order))))


SHOWN = 20


class PathSummary(msgspec.Struct, frozen=True):
    path: str
    source: str
    runs: tuple[ImportedRun, ...]
    attempts: int
    unreadable: int
    examples: tuple[Unreadable, ...]
    passed_over: tuple[str, ...] = ()
    """Files with a part of the same evaluation, which were skipped."""


OnItems = Callable[[int], None]
Read = Callable[[Order], Iterator[PackedBatch]]


def import_paths(
    paths: Iterable[Path],
    store: Store,
    *,
    source: str = "",
    map_path: Path | None = None,
    on_items: OnItems = lambda _: None,
    replace: bool = False,
) -> list[PathSummary]:
    """Read everything at the paths into the store. Recognition comes first, so that a wrong path changes nothing."""
    orders = look_for(paths, source=source, map_path=map_path)
    return import_orders(orders, store, on_items=on_items, replace=replace)


def import_orders(
    orders: Iterable[Order],
    store: Store,
    *,
    on_items: OnItems = lambda _: None,
    read: Read = batches,
    replace: bool = False,
) -> list[PathSummary]:
    """The same, of what was found at the paths before. A folder may hold very many small runs.

    Each order is taken after the one before it was read, so that whoever reads may find the orders on the way.
    """
    following = iter(orders)
    first_order = next(following, None)
    if first_order is None:  # a store that can only be read has nothing to refuse
        return []
    with store.kept_open(), RunGroup(store, replace=replace) as group, reader_processes.sizes_kept():
        paths = []
        for order in chain((first_order,), following):
            paths.append(_import_one(order, store, group, on_items, read, replace=replace))
        group.flush()
        for path in paths:
            path.settle(store, group.read)
    summaries = [path.summary() for path in paths]
    if summaries and not any(summary.runs for summary in summaries):
        first = next((example for summary in summaries for example in summary.examples), None)
        why = f": {first.where}: {first.why}" if first else ""
        raise SourceError(
            f"Nothing could be read at `{summaries[0].path}`{why}", hint=_PROBLEM_NAMED if first else _NOTHING
        )
    return summaries


_NOTHING = "the file may be cut off or damaged; nothing was imported"
_PROBLEM_NAMED = "nothing was imported; fix the problem above, or choose another file"


class ReadPath:
    """What was read at one path. Its runs may still wait to be written together with those of other paths."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._ids: frozenset[str] = frozenset()
        self._attempts = self._unreadable = 0
        self._examples: list[Unreadable] = []
        self.runs: Sequence[PendingRun | ImportedRun] = ()

    def count(self, batch: PackedBatch) -> None:
        self._attempts += sum(len(part.attempts) for part in batch.parts.values())
        problems = [item for _, item in batch.unreadables if item.is_lost]
        self._unreadable += len(problems)
        self._examples.extend(problems[: SHOWN - len(self._examples)])

    def count_unchanged(self, log: "UnchangedLog") -> None:
        self._attempts, self._unreadable, self._examples = log.attempts, log.unreadable, log.problems[:SHOWN]
        self.runs = (log.run,)

    def import_results(self) -> tuple[ImportedRun, ...]:
        runs = (run.result if isinstance(run, PendingRun) else run for run in self.runs)
        return tuple(run for run in runs if run is not None)

    def note_runs(self, ids: Iterable[str], group: RunGroup) -> None:
        self._ids = frozenset(ids)
        group.read.update(self._ids)

    def settle(self, store: Store, read: Counter[str]) -> None:
        """Read a log again whose run has an id that another log has, too, until each run is one that is known.

        A log that is not here can't be read again: its run stays as it was.
        """
        results, order = {run.id: run for run in self.import_results()}, self._order
        while unsettled := [run for run in results.values() if run.change in UNSETTLED]:
            if not Path(order.path).exists():
                results |= {run.id: msgspec.structs.replace(run, change="kept") for run in unsettled}
                break
            order = read_again(order, unsettled, store)
            parts = [change.run for change in order.changes if change.apart is None]
            elsewhere = {run_id for run_id, often in read.items() if often > (run_id in self._ids)}
            with Importing(store, parts=parts, read=elsewhere) as importing:
                for batch in read_alone(order):
                    importing.add(batch)
                again = importing.finish()
            settled = {run.id: run for run in results.values() if run not in unsettled}
            results = {run.id: run for run in again} | settled
        read.update(results.keys() - self._ids)
        apart = {change.apart.id: change.run for change in order.changes if change.apart is not None}
        self.runs = [msgspec.structs.replace(run, apart_from=apart.get(run.id, "")) for run in results.values()]

    def summary(self) -> PathSummary:
        order, examples = self._order, tuple(self._examples)
        return PathSummary(
            order.path,
            order.source,
            self.import_results(),
            self._attempts,
            self._unreadable,
            examples,
            order.passed_over,
        )


def _import_one(
    order: Order, store: Store, group: RunGroup, on_items: OnItems, read: Read, *, replace: bool
) -> ReadPath:
    state = state_of(order) if read is batches else None
    if state is not None:
        group.flush()
        if (known := find_unchanged(order, state, store)) is not None:
            path = ReadPath(order)
            path.note_runs([known.run.id], group)
            path.count_unchanged(known)
            on_items(known.attempts)
            return path
    path = _import_batches(order, read(order), store, group, on_items, replace=replace)
    if state is not None and len(path.runs) == 1:
        group.flush()
        keep_state(order, state, path.import_results()[0], store)
    return path


def _import_batches(
    order: Order,
    rest: Iterator[PackedBatch],
    store: Store,
    group: RunGroup,
    on_items: OnItems,
    *,
    replace: bool,
) -> ReadPath:
    path = ReadPath(order)
    first = list(islice(rest, BATCHES_IN_MEMORY))
    whole = whole_runs(first) if len(first) < BATCHES_IN_MEMORY else None
    if whole is not None:
        path.note_runs([run.run.id for run in whole], group)
        for batch in first:
            path.count(batch)
            on_items(batch.items)
        group.add(whole)
        path.runs = [run.pending for run in whole]
        return path
    group.flush()
    with Importing(store, read=group.read, replace=replace) as importing:
        for batch in chain(first, rest):
            importing.add(batch)
            path.count(batch)
            on_items(batch.items)
        path.runs = runs = importing.finish()
    path.note_runs([run.id for run in runs], group)
    return path


# --- logs whose run has an id that another log has, too: they are read again, as a part of that run or apart


def items_of(order: Order) -> Iterator[Item]:
    items = sources.read(found_by(order))
    return changed(items, order.changes) if order.changes else iter(items)


def changed(items: Iterable[Item], changes: Iterable[RunChange]) -> Iterator[Item]:
    by_run = {change.run: change for change in changes}
    for item in items:
        change = by_run.get(item.id if isinstance(item, Run) else item.run)
        if change is None:
            yield item
        elif change.apart is not None:
            yield _apart(item, change.apart)
        elif not isinstance(item, Attempt) or _key_of(item) not in change.known:
            yield _with_places_below(item, change.prefix)


def _key_of(attempt: Attempt) -> tuple[Any, ...]:
    return attempt.case, attempt.index, attempt.path, -1 if attempt.session is None else attempt.session


_IDS = ("id", "parent", "superseded_by", "duplicate_of", "follows")


def _apart(item: Item, run: Run) -> Item:
    if isinstance(item, Run):
        return msgspec.structs.replace(item, id="", variant=run.variant)
    if not isinstance(item, Attempt):
        return msgspec.structs.replace(item, run=run.id)
    ids = {name: getattr(item, name) for name in _IDS}
    moved = {name: f"{run.id}{value[len(item.run) :]}" for name, value in ids.items() if value}
    return msgspec.structs.replace(item, run=run.id, **moved)


def _with_places_below(item: Item, prefix: str) -> Item:
    tree: Any = _below(msgspec.to_builtins(item), prefix)
    return msgspec.convert(tree, type(item))


def _below(value: Any, prefix: str) -> Any:
    if isinstance(value, list | tuple):
        return [_below(inner, prefix) for inner in value]
    if not isinstance(value, dict):
        return value
    inside = {name: _below(inner, prefix) for name, inner in value.items()}
    ref = value.get("ref")
    if isinstance(ref, dict) and isinstance(ref.get("file"), str):
        inside["ref"] = ref | {"file": f"{prefix}/{ref['file']}"}
    return inside


def read_again(order: Order, unsettled: Sequence[ImportedRun], store: Store) -> Order:
    """The order, with how the store takes these runs: as a part of the stored one, or as another one."""
    changes = {change.run: change for change in order.changes}
    before = {change.apart.id: change.run for change in order.changes if change.apart is not None}
    read = {run.id: run for run in sources.read(found_by(order)) if isinstance(run, Run)}
    for result in unsettled:
        if result.change == "unsettled":  # only now the store is asked
            continue
        run, stored = read[before.get(result.id, result.id)], stored_run(store, result.pk).run
        known = changes.get(run.id, RunChange(run.id))
        if result.change == "part":
            with store.reading() as connection:
                keys = frozenset(attempt_keys(connection, result.pk))
            changes[run.id] = msgspec.structs.replace(known, prefix=_way(stored, run), known=keys)
        else:
            tried = (*known.tried, result.id)
            # two folders of one name differ by their whole paths
            folders = (folder_apart(stored, run), place_of(run))
            variants = [one.variant for one in _apart_from(run, store)]
            variants += [run.variant | {FOLDER: folder} for folder in folders]
            named = (msgspec.structs.replace(run, id="", variant=variant) for variant in variants)
            apart = next(one for one in named if one.id not in tried)
            changes[run.id] = RunChange(run.id, apart=apart, tried=tried)
    return msgspec.structs.replace(order, changes=tuple(changes.values()))


def _apart_from(run: Run, store: Store) -> Iterator[Run]:
    """Stored runs with the id of this one in their logs that are named by their folders."""
    for stored in all_runs(store, suite=run.suite):
        known = stored.run
        if FOLDER in known.variant and msgspec.structs.replace(known, id="", variant=known.conditions).id == run.id:
            yield known


def _way(stored: Run, part: Run) -> str:
    return os.path.relpath(os.path.abspath(part.origin), os.path.abspath(stored.origin))  # noqa: PTH100


# --- a log that was imported before and has not changed since is not read again


KIND = "log"
LEAST = 1024 * 1024
"""Bytes; a smaller log is read in about the time that this takes."""
READ_SIZE = 1024 * 1024
_READ_BY = ("model", "sources", "store", "text")


class LogState(NamedTuple):
    files: tuple[Path, ...]
    signature: str
    stats: tuple[tuple[int, int, int, int], ...]


class UnchangedLog(NamedTuple):
    run: ImportedRun
    attempts: int
    unreadable: int
    problems: list[Unreadable]


def state_of(order: Order) -> LogState | None:
    """None for a small log, or where the source does not know all that its items come from."""
    try:
        match = found_by(order)
        basis = sources.basis_of(match)
        if basis is None or sum(file.stat().st_size for file in basis.files) < LEAST:
            return None
        names = (folder_name(match.path), folder_model(match.path))
        signature = fingerprint(_program(), names, repr(basis.facts), list(map(str, basis.files)), size=16)
        return LogState(basis.files, signature, _stats(basis.files))
    except (ErrataError, OSError, ValueError):
        return None  # importing the log reports it


def find_unchanged(order: Order, state: LogState, store: Store) -> UnchangedLog | None:
    known = run_with_summary(store, KIND, _key(order))
    if known is None:
        return None
    stored, content = known
    if content != _content(state):
        return None
    counts, problems = stored.counts, unreadables_of(store, stored.pk)
    run = ImportedRun(stored.run.id, stored.pk, "unchanged", stored.run.revision)
    return UnchangedLog(run, counts.attempts, counts.unreadable, [item for item in problems if item.is_lost])


def keep_state(order: Order, state: LogState, run: ImportedRun, store: Store) -> None:
    """After the log was imported, unless it changed meanwhile."""
    content = _content(state) if run.change in ("new", "grown", "unchanged") else None
    if content is not None:
        keep_summary(store, run.pk, KIND, _key(order), content)


def _content(state: LogState) -> bytes | None:
    """None where the files are no longer what they were."""
    content = sha256(state.signature.encode())
    try:
        for path in state.files:
            with path.open("rb", buffering=0) as file:
                while data := file.read(READ_SIZE):
                    content.update(data)
            content.update(b"\0")
        return content.digest() if _stats(state.files) == state.stats else None
    except OSError:
        return None


def _stats(files: tuple[Path, ...]) -> tuple[tuple[int, int, int, int], ...]:
    stats = [file.stat() for file in files]
    return tuple((stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino) for stat in stats)


def _key(order: Order) -> str:
    path, mapping = Path(order.path).absolute(), Path(order.map).absolute() if order.map else ""
    return fingerprint(str(path), order.source, str(mapping), size=16)


@cache
def _program() -> str:
    """The code that turns lines into rows: another version may read the same lines in another way."""
    root = Path(sources.__file__).parents[1]
    stats = [(file.name, file.stat()) for folder in _READ_BY for file in sorted((root / folder).rglob("*.py"))]
    return fingerprint(__version__, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
