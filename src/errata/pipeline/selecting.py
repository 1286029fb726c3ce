"""What a user means by RUN: a path, which is imported first, or a name that the store knows."""

from collections.abc import Iterable
from pathlib import Path

from errata.errors import NotFoundError
from errata.model import StoredRun
from errata.pipeline.importing import import_paths
from errata.store.database import Store
from errata.store.runs import all_runs, find_run, run_by_id


def runs_named(selectors: Iterable[str], store: Store) -> list[StoredRun]:
    """Every run that is meant, in the order given, each once."""
    found: dict[str, StoredRun] = {}
    for selector in selectors:
        for stored in _runs_of(selector, store):
            found.setdefault(stored.run.id, stored)
    return list(found.values())


def run_named(selector: str, store: Store) -> StoredRun:
    """The one run that is meant."""
    found = runs_named([selector], store)
    if len(found) > 1:
        listed = "\n".join(f"{one.run.native_id} · {one.run.subject.model}" for one in found[:10])
        raise NotFoundError(f"`{selector}` holds {len(found)} runs", hint=f"name one of them:\n{listed}")
    return found[0]


def _runs_of(selector: str, store: Store) -> list[StoredRun]:
    path = Path(selector)
    try:
        is_path = path.exists()
    except (OSError, ValueError):  # a name that no file can have
        is_path = False
    if not is_path:
        return [find_run(store, selector)]
    summaries = import_paths([path], store)
    return [run_by_id(store, run.id) for summary in summaries for run in summary.runs]


def handle_of(stored: StoredRun, store: Store) -> str:
    """The shortest name that a person can type for a run: short where that is unique, the id where not."""
    mine = short(stored.run.native_id)
    others = [one for one in all_runs(store) if one.run.id != stored.run.id]
    if any(mine in (one.run.native_id, one.run.name, short(one.run.native_id)) for one in others):
        return stored.run.id
    return mine


def short(native_id: str) -> str:
    """The 8-hex tail of a dated folder, the first 8 characters of a long id, else the name itself."""
    head, _, tail = native_id.rpartition("_")
    if head and len(tail) == 8 and all(letter in "0123456789abcdef" for letter in tail):
        return tail
    return native_id[:8] if len(native_id) >= 20 and native_id.isalnum() else native_id
