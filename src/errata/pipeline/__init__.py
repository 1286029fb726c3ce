"""The order of the stages: one function per verb. Only this package knows how the stages are put together."""

from errata.pipeline.analysis import analyze, check_run, summarise
from errata.pipeline.failures import failures_of
from errata.pipeline.housekeeping import bundled_example, examine_store, forget, list_sources, stored_runs
from errata.pipeline.importing import import_paths
from errata.pipeline.selecting import run_named, runs_named
from errata.pipeline.showing import find_shown
from errata.store.runs import all_runs, exclude, include, run_by_id

__all__ = [
    "all_runs",
    "analyze",
    "bundled_example",
    "check_run",
    "examine_store",
    "exclude",
    "failures_of",
    "find_shown",
    "forget",
    "import_paths",
    "include",
    "list_sources",
    "run_by_id",
    "run_named",
    "runs_named",
    "stored_runs",
    "summarise",
]
