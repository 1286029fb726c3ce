"""Import with the workers of a cluster: they read, recognise and compress; this process writes, in the order of paths.

One writer gives the same store as an import without a cluster, with the same numbers, revisions and order of runs.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from errata.cluster.tasks import LogsToRead, RemoteLogs, decode_batch, decode_parts, order_from_bytes
from errata.cluster.workers import WorkerPool, WorkShare, in_shares, results
from errata.errors import FetchError
from errata.fetch.objects import expand, public
from errata.runs.importing import OnItems, PathSummary, import_orders
from errata.runs.log_search import Order
from errata.runs.reader_processes import PARALLEL_FROM, size_of
from errata.store.database import Store
from errata.store.packing import PackedBatch


def import_on_workers(
    workers: WorkerPool,
    logs: Sequence[Order | RemoteLogs],
    store: Store,
    *,
    on_items: OnItems = lambda _: None,
) -> list[PathSummary]:
    """Orders that were recognised before, and addresses of object storage."""
    reading = _LogsBeingRead(results(workers, _shares(logs, workers)))
    try:
        return import_orders(reading.orders(), store, on_items=on_items, read=reading.batches)
    finally:
        reading.close()


def remote_logs(urls: Iterable[str], *, source: str = "") -> list[RemoteLogs]:
    """Patterns are expanded; the same address twice is read once."""
    every = dict.fromkeys(one for url in urls for one in expand(url))
    return [RemoteLogs(url, source) for url in every]


def _shares(logs: Sequence[Order | RemoteLogs], workers: WorkerPool) -> Iterator[WorkShare]:
    def size(log: Order | RemoteLogs) -> int:
        # what is in object storage is copied whole to the worker: a task for each
        return PARALLEL_FROM if isinstance(log, RemoteLogs) else size_of(Path(log.path))

    for some in in_shares(logs, workers, size, PARALLEL_FROM):
        first, is_large = some[0], len(some) == 1 and size(some[0]) >= PARALLEL_FROM
        label = public(first.url) if isinstance(first, RemoteLogs) else first.path
        maps = {one.map: Path(one.map).read_bytes() for one in some if isinstance(one, Order) and one.map}
        yield WorkShare("read", LogsToRead(tuple(some), maps), label, is_large)


class _LogsBeingRead:
    """Parts as they come from the workers: an order, its batches, its end."""

    def __init__(self, streams: Iterator[Iterator[Any]]) -> None:
        self._streams = streams
        self._parts = (part for stream in streams for message in stream for part in decode_parts(message))

    def orders(self) -> Iterator[Order]:
        for part in self._parts:
            if not part.order:
                raise FetchError(
                    "A worker sent a batch that belongs to no log", hint="this is a bug in errata; import again"
                )
            yield order_from_bytes(part.order)

    def batches(self, _order: Order) -> Iterator[PackedBatch]:
        """Of the order that was given last."""
        for part in self._parts:
            if not part.batch:
                return
            yield decode_batch(part.batch)

    def close(self) -> None:
        self._parts.close()
        close = getattr(self._streams, "close", None)
        if close is not None:
            close()
