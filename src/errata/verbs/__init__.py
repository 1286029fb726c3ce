"""The order of the stages: one function per verb. Only this package knows how the stages are put together.

The verbs are imported when they are first used: a command needs few of them, and the reading process none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errata.review.agreement_report import agreement_of
    from errata.review.calibrate import calibrate_reviewers
    from errata.review.choose import choose
    from errata.review.export import exported
    from errata.review.import_answers import import_answers
    from errata.review.lease import give_back, hand_out
    from errata.review.packing import packet_of
    from errata.review.plan import plan_review
    from errata.review.run import review
    from errata.review.status import review_status
    from errata.review.submit import take_in
    from errata.runs.housekeeping import bundled_example, examine_store, forget, list_sources, stored_runs
    from errata.runs.importing import begin, import_orders, import_paths, made_ready
    from errata.runs.names import run_named, runs_named
    from errata.runs.orders import look_for
    from errata.runs.show import find_shown
    from errata.runs.triaging import triage_if_needed, triage_imported, triage_run
    from errata.store.attributions import attributions_of
    from errata.store.runs import all_runs, exclude, include, run_by_id

_VERBS = {
    "look_for": "errata.runs.orders",
    "begin": "errata.runs.importing",
    "made_ready": "errata.runs.importing",
    "triage_if_needed": "errata.runs.triaging",
    "triage_imported": "errata.runs.triaging",
    "triage_run": "errata.runs.triaging",
    "attributions_of": "errata.store.attributions",
    "all_runs": "errata.store.runs",
    "agreement_of": "errata.review.agreement_report",
    "import_answers": "errata.review.import_answers",
    "calibrate_reviewers": "errata.review.calibrate",
    "choose": "errata.review.choose",
    "exported": "errata.review.export",
    "give_back": "errata.review.lease",
    "hand_out": "errata.review.lease",
    "packet_of": "errata.review.packing",
    "plan_review": "errata.review.plan",
    "review_status": "errata.review.status",
    "review": "errata.review.run",
    "take_in": "errata.review.submit",
    "bundled_example": "errata.runs.housekeeping",
    "examine_store": "errata.runs.housekeeping",
    "exclude": "errata.store.runs",
    "find_shown": "errata.runs.show",
    "forget": "errata.runs.housekeeping",
    "import_orders": "errata.runs.importing",
    "import_paths": "errata.runs.importing",
    "include": "errata.store.runs",
    "list_sources": "errata.runs.housekeeping",
    "run_by_id": "errata.store.runs",
    "run_named": "errata.runs.names",
    "runs_named": "errata.runs.names",
    "stored_runs": "errata.runs.housekeeping",
}


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module `errata.verbs` has no attribute `{name}`")
    return getattr(import_module(_VERBS[name]), name)


__all__ = [
    "agreement_of",
    "all_runs",
    "attributions_of",
    "begin",
    "bundled_example",
    "calibrate_reviewers",
    "choose",
    "examine_store",
    "exclude",
    "exported",
    "find_shown",
    "forget",
    "give_back",
    "hand_out",
    "import_answers",
    "import_orders",
    "import_paths",
    "include",
    "list_sources",
    "look_for",
    "made_ready",
    "packet_of",
    "plan_review",
    "review",
    "review_status",
    "run_by_id",
    "run_named",
    "runs_named",
    "stored_runs",
    "take_in",
    "triage_if_needed",
    "triage_imported",
    "triage_run",
]
