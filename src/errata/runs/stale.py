"""Runs of a table that an earlier mapping made, and the present one does not."""

from collections.abc import Iterable

from errata.model import Run, StoredRun
from errata.sources.generic import NAME


def stale_runs(imported: Iterable[str], known: Iterable[StoredRun]) -> list[StoredRun]:
    """Runs among all that are known from the same mapped files as those with the given ids, but not among them."""
    present = set(imported)
    mapped = [one for one in known if one.run.source.name == NAME]
    files = {_file(one.run) for one in mapped if one.run.id in present}
    return [one for one in mapped if one.run.id not in present and _file(one.run) in files]


def _file(run: Run) -> tuple[str, str]:
    return run.origin, run.ref.file if run.ref is not None else ""
