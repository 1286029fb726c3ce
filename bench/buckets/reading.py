"""Failures as the grouping gets them: a log is imported and triaged as a user's would be."""

import shutil
from pathlib import Path
from typing import NamedTuple

from errata.buckets.failure import FailureToGroup
from errata.model import Run
from errata.runs.bucketing import failures_to_group
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_run
from errata.runs.view import RunView
from errata.store.database import open_store
from errata.store.runs import run_by_id


class Read(NamedTuple):
    run: Run
    failing: FailureToGroup


class Reader:
    """A folder to read logs in, one after the other."""

    def __init__(self, scratch: Path) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self.scratch = scratch
        open_store(scratch / "empty.db").engine.dispose()

    def read(self, path: Path) -> list[Read]:
        """In a store of its own: what another log made of the same run must not matter."""
        shutil.copyfile(self.scratch / "empty.db", self.scratch / "errata.db")
        store = open_store(self.scratch / "errata.db")
        imported = [run_by_id(store, run.id) for summary in import_paths([path], store) for run in summary.runs]
        for stored in imported:
            triage_run(stored, store)
        failures = [
            Read(stored.run, failing) for stored in imported for failing in failures_to_group(RunView(stored, store))
        ]
        store.engine.dispose()
        for left in self.scratch.glob("errata.db*"):
            left.unlink()
        return failures
