"""Importing: logs become runs in the store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import msgspec

from errata import sources
from errata.errors import ReadAloneError, SourceError
from errata.model import Item, Unreadable
from errata.model.attempt_rows import AttemptRows
from errata.model.record import TurnBegins
from errata.runs import frames, growing, reader_processes, small_logs
from errata.runs.log_search import Order, found_by, look_for
from errata.runs.log_states import begun, state_of
from errata.sources.base import ReaderShare
from errata.store.content_digest import HashedContent
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.packing import PackedBatch, pack_items, seal, seal_beside
from errata.store.run_totals import ImportedRun
from errata.store.shared_rows import laid_out, pack_shared
from errata.store.whole_runs import PendingRun, RunGroup, whole_runs

BATCHES_IN_MEMORY = 4
"""What has fewer batches than this is written at once, together with other small runs."""


def batches(order: Order) -> Iterator[PackedBatch]:
    """What is at the path, packed for the store."""
    if reader_processes.is_large(order):
        yield from seal_beside(reader_processes.batches_of_readers(order))
    elif (rows := _rows_of_lines(order)) is not None:
        yield from seal(laid_out(map(frames.rows_as_sent, pack_shared(rows))))
    else:
        yield from read_alone(order)


ROWS_FROM = 256 * 1024
"""Usual lines of a larger log are packed many at once, as by several readers; a smaller one is read before that."""


def _rows_of_lines(order: Order) -> Iterator[Item | TurnBegins | AttemptRows] | None:
    """As the only reader; None where a log is small, or a row may depend on another one."""
    if order.alone or reader_processes.size_of(Path(order.path)) < ROWS_FROM or not sources.shares_rows(order.source):
        return None
    return sources.read_rows(found_by(order), ReaderShare(0, 1, lambda _: None, list))


def read_alone(order: Order) -> Iterator[PackedBatch]:
    """The same, read in this process whatever its size."""
    return seal(map(frames.as_sent, pack_items(sources.read(found_by(order)))))


GROWS_FROM = 1024 * 1024
"""A smaller log is always read as a whole."""


def begin_unless_known(orders: Sequence[Order], store: Store) -> None:
    """Begin to read the first of them, where it is large and the store does not know it."""
    if orders and not growing.is_known(orders[0], store):
        reader_processes.begin(orders)


SHOWN = 20
"""Unreadable items that a summary quotes; the store keeps them all."""


class PathSummary(msgspec.Struct, frozen=True):
    """What one readable path gave."""

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
) -> list[PathSummary]:
    """Read everything at the paths into the store. Recognition comes first, so that a wrong path changes nothing."""
    return import_orders(look_for(paths, source=source, map_path=map_path), store, on_items=on_items)


def import_orders(
    orders: Iterable[Order], store: Store, *, on_items: OnItems = lambda _: None, read: Read = batches
) -> list[PathSummary]:
    """The same, of what was found at the paths before. A folder may hold very many small runs.

    Each order is taken after the one before it was read, so that whoever reads may find the orders on the way.
    """
    readers = small_logs.begun(orders)
    following = iter(orders)
    first_order = next(following, None)
    if first_order is None:  # a store that can only be read has nothing to refuse
        return []
    with store.kept_open(), RunGroup(store) as group, reader_processes.sizes_kept():
        paths = []
        for place, order in enumerate(chain((first_order,), following)):
            made = readers.batches_of(place) if readers is not None else None
            if made is not None:
                paths.append(_import_batches(order, made, store, group, on_items))
            else:
                paths.append(_import_one(order, store, group, on_items, read))
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
        self._attempts = self._unreadable = 0
        self._examples: list[Unreadable] = []
        self.runs: Sequence[PendingRun | ImportedRun] = ()
        self.hashed: list[tuple[ImportedRun, HashedContent | None]] = []
        """Of runs that were staged."""

    def count(self, batch: PackedBatch) -> None:
        self._attempts += sum(len(part.attempts) for part in batch.parts.values())
        problems = [item for _, item in batch.unreadables if item.is_lost]
        self._unreadable += len(problems)
        self._examples.extend(problems[: SHOWN - len(self._examples)])

    def count_grown(self, grown: growing.GrownPath) -> None:
        problems = [item for item in grown.problems if item.is_lost]
        self._attempts, self._unreadable, self._examples = grown.attempts, len(problems), problems[:SHOWN]
        self.runs = (grown.run,)

    def summary(self) -> PathSummary:
        order, runs = self._order, (run.result if isinstance(run, PendingRun) else run for run in self.runs)
        written = tuple(run for run in runs if run is not None)
        examples = tuple(self._examples)
        return PathSummary(
            order.path, order.source, written, self._attempts, self._unreadable, examples, order.passed_over
        )


def _import_one(order: Order, store: Store, group: RunGroup, on_items: OnItems, read: Read) -> ReadPath:
    if read is not batches or reader_processes.size_of(Path(order.path)) < GROWS_FROM:
        return _import_whole(order, store, group, on_items, read)
    grown = growing.grow(order, store, group.flush)
    if grown is None:
        before = begun.pop(order) if order in begun else state_of(order)
        log = growing.HashedLog(before) if before is not None else None
        path = _import_whole(order, store, group, on_items, read)
        if log is not None and len(path.hashed) == 1:
            log.keep(order, *path.hashed[0], store)
        return path
    path = ReadPath(order)
    path.count_grown(grown)
    on_items(grown.attempts)
    return path


def _import_whole(order: Order, store: Store, group: RunGroup, on_items: OnItems, read: Read) -> ReadPath:
    try:
        return _import_as_ordered(order, store, group, on_items, read)
    except ReadAloneError:
        return _import_as_ordered(msgspec.structs.replace(order, alone=True), store, group, on_items, read)


def _import_as_ordered(order: Order, store: Store, group: RunGroup, on_items: OnItems, read: Read) -> ReadPath:
    return _import_batches(order, read(order), store, group, on_items)


def _import_batches(
    order: Order, rest: Iterator[PackedBatch], store: Store, group: RunGroup, on_items: OnItems
) -> ReadPath:
    path = ReadPath(order)
    first = list(islice(rest, BATCHES_IN_MEMORY))
    whole = whole_runs(first) if len(first) < BATCHES_IN_MEMORY else None
    if whole is not None:
        for batch in first:
            path.count(batch)
            on_items(batch.items)
        group.add(whole)
        path.runs = [run.pending for run in whole]
        return path
    group.flush()
    with Importing(store) as importing:
        for batch in chain(first, rest):
            importing.add(batch)
            path.count(batch)
            on_items(batch.items)
        path.runs = runs = importing.finish()
        path.hashed = [(run, importing.hashed_content(run.id)) for run in runs]
    return path
