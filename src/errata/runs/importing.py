"""Importing: logs become runs in the store."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from errata import sources
from errata.errors import ReadAloneError, SourceError
from errata.model import Unreadable
from errata.runs import reader_processes
from errata.runs.orders import Order, found_by, look_for
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.packing import PackedBatch, pack_items, seal
from errata.store.staged import ImportedRun

PARALLEL_FROM = 16 * 1024 * 1024
"""Below this size starting a process costs more than it saves."""


def batches(order: Order) -> Iterator[PackedBatch]:
    """What is at the path, packed for the store."""
    if _size(Path(order.path)) < PARALLEL_FROM:
        yield from seal(map(reader_processes.as_sent, pack_items(sources.read(found_by(order)))))
    else:
        yield from seal(reader_processes.batches_of_readers(order))


def begin(orders: Sequence[Order]) -> None:
    """The first of them, where it is large: it is read while the store is being opened."""
    if orders and _size(Path(orders[0].path)) >= PARALLEL_FROM:
        reader_processes.begin(orders[0])


def made_ready(paths: Iterable[Path]) -> AbstractContextManager[None]:
    """Start reader processes before the format is recognised: both take about as long."""
    return reader_processes.started_before([path for path in paths if _size(path) >= PARALLEL_FROM])


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except OSError:
                continue
            if total >= PARALLEL_FROM:
                return total
    return total


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


def import_orders(orders: Iterable[Order], store: Store, *, on_items: OnItems = lambda _: None) -> list[PathSummary]:
    """The same, of what was found at the paths before."""
    with store.kept_open():  # a folder may hold very many small runs
        summaries = [_import_one(order, store, on_items) for order in orders]
    if summaries and not any(summary.runs for summary in summaries):
        first = next((example for summary in summaries for example in summary.examples), None)
        why = f": {first.where}: {first.why}" if first else ""
        raise SourceError(
            f"Nothing could be read at `{summaries[0].path}`{why}", hint=_PROBLEM_NAMED if first else _NOTHING
        )
    return summaries


_NOTHING = "the file may be cut off or damaged; nothing was imported"
_PROBLEM_NAMED = "nothing was imported; fix the problem above, or choose another file"


def _import_one(order: Order, store: Store, on_items: OnItems) -> PathSummary:
    try:
        return _import_as_ordered(order, store, on_items)
    except ReadAloneError:
        return _import_as_ordered(msgspec.structs.replace(order, alone=True), store, on_items)


def _import_as_ordered(order: Order, store: Store, on_items: OnItems) -> PathSummary:
    attempts = unreadable = 0
    examples: list[Unreadable] = []
    with Importing(store) as importing:
        for batch in batches(order):
            importing.add(batch)
            attempts += sum(len(part.attempts) for part in batch.parts.values())
            problems = [item for _, item in batch.unreadables if item.is_lost]
            unreadable += len(problems)
            examples.extend(problems[: SHOWN - len(examples)])
            on_items(batch.items)
        runs = tuple(importing.finish())
    return PathSummary(order.path, order.source, runs, attempts, unreadable, tuple(examples), order.passed_over)
