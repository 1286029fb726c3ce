"""`runs`, `exclude`, `sources` and `demo`: open the store, list and exclude its runs; formats; the bundled examples."""

from collections.abc import Iterable
from pathlib import Path

from errata import sources
from errata.model import StoredRun
from errata.runs.names import handles_of, known_run, names_only
from errata.store import engine
from errata.store.database import (
    Store,
    open_store,
    write_to_production,
)
from errata.store.runs import all_runs, exclude, include, names_of_runs, run_by_id, runs_by_id
from errata.store.same_work import each_work_once
from errata.store.server import ChangeFeed

__all__ = [
    "ChangeFeed",
    "Store",
    "all_runs",
    "bundled_example",
    "each_work_once",
    "exclude",
    "handles_of",
    "include",
    "list_sources",
    "names_of_runs",
    "names_only",
    "open_store",
    "run_by_id",
    "runs_by_id",
    "second_example",
    "store_size",
    "stored_runs",
    "write_to_production",
]


def stored_runs(selectors: Iterable[str], store: Store) -> list[StoredRun]:
    """Runs that the store already holds; a path names the run that was read from it."""
    by_id = {one.run.id: one for one in (known_run(selector, store) for selector in selectors)}
    return list(by_id.values())


def store_size(store: Store) -> int:
    """In bytes."""
    with store.reading() as connection:
        return engine.size_of(connection)


def list_sources() -> list[tuple[str, str]]:
    return [(name, source.TITLE) for name, source in sources.all_sources().items()]


_EXAMPLES = Path(sources.__file__).parent.parent / "examples"


def bundled_example() -> Path:
    return _EXAMPLES / "convex-evals-run-b"


def second_example() -> Path:
    """A job whose tests never ran for half of its failures."""
    return _EXAMPLES / "harbor-kimi-k2.5"
