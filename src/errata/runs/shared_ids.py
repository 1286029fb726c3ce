"""Logs whose run has an id that another log has, too: they are read again, as a part of that run or as a run apart."""

import os.path
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from errata import sources
from errata.model import Attempt, Item, Run
from errata.model.run import FOLDER
from errata.runs.log_search import Order, RunChange, found_by
from errata.store.database import Store
from errata.store.run_totals import ImportedRun
from errata.store.runs import all_runs, stored_run
from errata.store.shared_ids import attempt_keys, folder_apart, place_of


def items_of(order: Order) -> Iterator[Item]:
    """Everything at its path."""
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
"""Fields of an attempt that begin with the id of its run."""


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
    """From the folder that the stored run's places are below to that of the part's."""
    return os.path.relpath(os.path.abspath(part.origin), os.path.abspath(stored.origin))  # noqa: PTH100
