"""The order of the stages: one function per verb. Only this package knows how the stages are put together.

The verbs are imported when they are first used: a command needs few of them, and the reading process none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errata.runs.housekeeping import bundled_example, examine_store, forget, list_sources, stored_runs
    from errata.runs.importing import begin, import_orders, import_paths, made_ready
    from errata.runs.names import run_named, runs_named
    from errata.runs.orders import look_for
    from errata.runs.show import find_shown
    from errata.runs.triaging import triage_if_needed, triage_imported, triage_run
    from errata.store.attributions import attributions_of
    from errata.store.runs import all_runs, exclude, include, run_by_id
    from errata.verbs.act import plan_rerun
    from errata.writeback.files import write_back
    from errata.writeback.settlement import settled_failures

_VERBS = {
    "look_for": "errata.runs.orders",
    "begin": "errata.runs.importing",
    "made_ready": "errata.runs.importing",
    "triage_if_needed": "errata.runs.triaging",
    "triage_imported": "errata.runs.triaging",
    "triage_run": "errata.runs.triaging",
    "attributions_of": "errata.store.attributions",
    "all_runs": "errata.store.runs",
    "bundled_example": "errata.runs.housekeeping",
    "examine_store": "errata.runs.housekeeping",
    "exclude": "errata.store.runs",
    "find_shown": "errata.runs.show",
    "forget": "errata.runs.housekeeping",
    "import_orders": "errata.runs.importing",
    "import_paths": "errata.runs.importing",
    "include": "errata.store.runs",
    "list_sources": "errata.runs.housekeeping",
    "plan_rerun": "errata.rerun.plan_rerun",
    "run_by_id": "errata.store.runs",
    "run_named": "errata.runs.names",
    "runs_named": "errata.runs.names",
    "settled_failures": "errata.writeback.settled",
    "stored_runs": "errata.runs.housekeeping",
    "write_back": "errata.writeback.files",
}


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module `errata.verbs` has no attribute `{name}`")
    return getattr(import_module(_VERBS[name]), name)


__all__ = [
    "all_runs",
    "attributions_of",
    "begin",
    "bundled_example",
    "examine_store",
    "exclude",
    "find_shown",
    "forget",
    "import_orders",
    "import_paths",
    "include",
    "list_sources",
    "look_for",
    "made_ready",
    "plan_rerun",
    "run_by_id",
    "run_named",
    "runs_named",
    "settled_failures",
    "stored_runs",
    "triage_if_needed",
    "triage_imported",
    "triage_run",
    "write_back",
]
