"""The order of the stages: one function per verb. Only this package knows how the stages are put together.

The verbs are imported when they are first used: a command needs few of them, and the reading process none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errata.buckets.listing import list_buckets, show_bucket
    from errata.buckets.suggest import bucket_anew, bucket_if_needed, bucket_of
    from errata.compare.compare_runs import compare_runs
    from errata.compare.consistency_study import consistency_of
    from errata.compare.pool_scores import pool
    from errata.export.comparison_folder import write_comparison_folder
    from errata.export.consistency import write_studies
    from errata.export.every_eval_ever import write_runs
    from errata.memory.add_action import add_action
    from errata.memory.known_gaps import add_gap, list_gaps, remove_gap
    from errata.memory.list_actions import list_actions
    from errata.memory.remove_action import remove_action
    from errata.review.agreement_report import agreement_of
    from errata.review.calibrate import calibrate_reviewers
    from errata.review.choose import choose
    from errata.review.export import exported
    from errata.review.import_answers import import_answers
    from errata.review.judge_agreement import judges_agreement
    from errata.review.lease import give_back, hand_out
    from errata.review.packing import packet_of
    from errata.review.plan import plan_review
    from errata.review.run import review
    from errata.review.status import review_status
    from errata.review.submit import take_in
    from errata.runs.failures import failures_of
    from errata.runs.housekeeping import bundled_example, examine_store, forget, list_sources, stored_runs
    from errata.runs.importing import import_orders, import_paths
    from errata.runs.looking import look_for
    from errata.runs.names import run_named, runs_named
    from errata.runs.new_runs import analyze_new
    from errata.runs.reading import begin, made_ready
    from errata.runs.runs_to_compare import runs_to_compare
    from errata.runs.scores import score_run
    from errata.runs.show import find_shown
    from errata.runs.summary import analyze, check_run, summarise
    from errata.runs.timeline import timeline_of
    from errata.runs.triaging import triage_if_needed, triage_imported, triage_run
    from errata.store.attributions import attributions_of
    from errata.store.runs import all_runs, exclude, include, run_by_id

_VERBS = {
    "add_action": "errata.memory.add_action",
    "list_actions": "errata.memory.list_actions",
    "remove_action": "errata.memory.remove_action",
    "add_gap": "errata.memory.known_gaps",
    "list_gaps": "errata.memory.known_gaps",
    "remove_gap": "errata.memory.known_gaps",
    "look_for": "errata.runs.looking",
    "begin": "errata.runs.reading",
    "made_ready": "errata.runs.reading",
    "triage_if_needed": "errata.runs.triaging",
    "triage_imported": "errata.runs.triaging",
    "triage_run": "errata.runs.triaging",
    "pool": "errata.compare.pool_scores",
    "score_run": "errata.runs.scores",
    "attributions_of": "errata.store.attributions",
    "all_runs": "errata.store.runs",
    "agreement_of": "errata.review.agreement_report",
    "import_answers": "errata.review.import_answers",
    "bucket_anew": "errata.buckets.suggest",
    "bucket_if_needed": "errata.buckets.suggest",
    "bucket_of": "errata.buckets.suggest",
    "list_buckets": "errata.buckets.listing",
    "show_bucket": "errata.buckets.listing",
    "calibrate_reviewers": "errata.review.calibrate",
    "choose": "errata.review.choose",
    "consistency_of": "errata.compare.consistency_study",
    "judges_agreement": "errata.review.judge_agreement",
    "write_studies": "errata.export.consistency",
    "write_runs": "errata.export.every_eval_ever",
    "compare_runs": "errata.compare.compare_runs",
    "runs_to_compare": "errata.runs.runs_to_compare",
    "write_comparison_folder": "errata.export.comparison_folder",
    "exported": "errata.review.export",
    "give_back": "errata.review.lease",
    "hand_out": "errata.review.lease",
    "packet_of": "errata.review.packing",
    "plan_review": "errata.review.plan",
    "review_status": "errata.review.status",
    "review": "errata.review.run",
    "take_in": "errata.review.submit",
    "analyze": "errata.runs.summary",
    "analyze_new": "errata.runs.new_runs",
    "bundled_example": "errata.runs.housekeeping",
    "check_run": "errata.runs.summary",
    "examine_store": "errata.runs.housekeeping",
    "exclude": "errata.store.runs",
    "failures_of": "errata.runs.failures",
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
    "summarise": "errata.runs.summary",
    "timeline_of": "errata.runs.timeline",
}


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module `errata.verbs` has no attribute `{name}`")
    return getattr(import_module(_VERBS[name]), name)


__all__ = [
    "add_action",
    "add_gap",
    "agreement_of",
    "all_runs",
    "analyze",
    "analyze_new",
    "attributions_of",
    "begin",
    "bucket_anew",
    "bucket_if_needed",
    "bucket_of",
    "bundled_example",
    "calibrate_reviewers",
    "check_run",
    "choose",
    "compare_runs",
    "consistency_of",
    "examine_store",
    "exclude",
    "exported",
    "failures_of",
    "find_shown",
    "forget",
    "give_back",
    "hand_out",
    "import_answers",
    "import_orders",
    "import_paths",
    "include",
    "judges_agreement",
    "list_actions",
    "list_buckets",
    "list_gaps",
    "list_sources",
    "look_for",
    "made_ready",
    "packet_of",
    "plan_review",
    "pool",
    "remove_action",
    "remove_gap",
    "review",
    "review_status",
    "run_by_id",
    "run_named",
    "runs_named",
    "runs_to_compare",
    "score_run",
    "show_bucket",
    "stored_runs",
    "summarise",
    "take_in",
    "timeline_of",
    "triage_if_needed",
    "triage_imported",
    "triage_run",
    "write_comparison_folder",
    "write_runs",
    "write_studies",
]
