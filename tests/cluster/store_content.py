"""All that a store shows of its runs: what an import with workers and one without must have in common."""

from pathlib import Path

from bucket_runs import state
from errata.store.database import Store
from errata.store.runs import all_runs
from errata.verbs.export import write_tables


def content_of(store: Store, folder: Path) -> dict[str, object]:
    """The exported tables, the runs as they are listed, and the buckets."""
    with store.kept_open():
        runs = all_runs(store)
        tables = write_tables(runs, store, folder, "csv")
        listed = [(one.run, one.pk, one.digest, one.counts, one.run.origin) for one in runs]
        return {table.path.name: table.path.read_text("utf-8") for table in tables} | {
            "runs": listed,
            "buckets": state(store),
        }
