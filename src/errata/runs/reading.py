"""Reading a path into batches: small ones here, large ones in processes of their own, while this one writes."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from errata import sources
from errata.errors import SourceError
from errata.runs import reader_processes
from errata.runs.orders import Order, found_by
from errata.sources import Found, PassedOver
from errata.store.packing import Batch, pack_items, seal

PARALLEL_FROM = 16 * 1024 * 1024
"""Below this size starting a process costs more than it saves."""


def find(path: Path, *, source: str = "", map_path: Path | None = None) -> list[Order]:
    """What can be read at a path."""
    if map_path is not None:
        if not path.exists():
            raise SourceError(f"No such file or folder: `{path}`", hint="check the path")
        return [Order(str(path), "generic", str(map_path))]
    found, over = sources.look(path, source=source)
    return [_order(one, over) for one in found]


def together(orders: Sequence[Order], named: Collection[Path]) -> list[Order]:
    """Several paths at once: what belongs to one run is read as one, and once."""
    if len(named) < 2 or any(order.map for order in orders):
        return list(orders)
    known = {order.path: order.passed_over for order in orders}
    found = [found_by(order) for order in orders]
    # what was found in a folder that was looked into is whole already
    own = sources.join_folders([one for one in found if one.path in named], named)
    left, over = sources.sift([*own, *(one for one in found if one.path not in named)])
    return [_order(one, over, known.get(str(one.path), ())) for one in left]


def _order(found: Found, over: Iterable[PassedOver], known: tuple[str, ...] = ()) -> Order:
    also = (str(one.path) for one in over if one.instead == found.path)
    return Order(str(found.path), found.source.NAME, passed_over=(*known, *also))


def batches(order: Order) -> Iterator[Batch]:
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
    """Starts processes before it is known what is to be read: finding that out takes as long as starting does."""
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
