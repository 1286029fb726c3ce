"""A run in the store."""

from collections.abc import Iterator
from typing import Any

from errata.model import StoredRun
from errata.model.coverage import count_passes
from errata.model.output.runs import StoredRunOutput
from errata.runs.suspicions import SuspiciousCount, counted_before
from errata.verbs.store import Store, all_runs


def run_outputs(store: Store) -> Iterator[StoredRunOutput]:
    """Every run, the newest first."""
    for stored in all_runs(store):
        yield run_output(stored, counted_before(stored, store))


def run_output(stored: StoredRun, suspicious: SuspiciousCount | None) -> StoredRunOutput:
    return StoredRunOutput(**fields_of(stored, suspicious))


def fields_of(stored: StoredRun, suspicious: SuspiciousCount | None) -> dict[str, Any]:
    """The fields of a run in every JSON output."""
    run = stored.run
    return {
        "run": run.native_id,
        "run_id": run.id,
        "model": run.subject.model,
        "agent": run.subject.agent or None,
        "source": run.source.name,
        "suite": run.suite,
        "variant": run.variant,
        "group": run.group or None,
        "started_at": run.started_at,
        "native_status": run.native_status or None,
        "revision": run.revision,
        "imported_at": stored.imported_at,
        "origin": run.origin,
        "excluded": run.excluded,
        "expected_cases": run.expected_cases,
        "counts": stored.counts,
        "passes_without_rows": count_passes(stored).without_rows,
        "suspicious": suspicious.suspicious if suspicious is not None else None,
    }
