"""The order of the stages: one function per verb. Only this package knows how the stages are put together.

The verbs are imported when they are first used: a command needs few of them, and the reading process none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from errata.pipeline.acted import remove_action
    from errata.pipeline.acting import add_action
    from errata.pipeline.agreeing import agreement_of
    from errata.pipeline.analysis import analyze, check_run, summarise
    from errata.pipeline.answers_back import import_answers
    from errata.pipeline.bucketing import bucket_anew, bucket_if_needed, bucket_of
    from errata.pipeline.bucketing_listing import list_buckets, show_bucket
    from errata.pipeline.calibrating import calibrate_reviewers
    from errata.pipeline.choosing import choose
    from errata.pipeline.comparing import compare_runs
    from errata.pipeline.comparing_chosen import runs_to_compare
    from errata.pipeline.comparison_folder import write_comparison_folder
    from errata.pipeline.consistency import consistency_of
    from errata.pipeline.consistency_files import write_studies
    from errata.pipeline.exporting import exported
    from errata.pipeline.failures import failures_of
    from errata.pipeline.handing_out import give_back, hand_out
    from errata.pipeline.housekeeping import bundled_example, examine_store, forget, list_sources, stored_runs
    from errata.pipeline.importing import import_orders, import_paths
    from errata.pipeline.interchange import write_runs
    from errata.pipeline.judge_agreement import judges_agreement
    from errata.pipeline.knowing import add_gap, list_gaps, remove_gap
    from errata.pipeline.listing_actions import list_actions
    from errata.pipeline.looking import look_for
    from errata.pipeline.new_runs import analyze_new
    from errata.pipeline.packeting import packet_of
    from errata.pipeline.planning import plan_review
    from errata.pipeline.pooling import pool
    from errata.pipeline.reading import begin, made_ready
    from errata.pipeline.rerunning import plan_rerun
    from errata.pipeline.review_state import review_status
    from errata.pipeline.reviewing import review
    from errata.pipeline.scoring import score_run
    from errata.pipeline.selecting import run_named, runs_named
    from errata.pipeline.showing import find_shown
    from errata.pipeline.taking_in import take_in
    from errata.pipeline.timeline import timeline_of
    from errata.pipeline.triaging import triage_if_needed, triage_imported, triage_run
    from errata.pipeline.writing_back import settled_failures
    from errata.pipeline.writing_back_files import write_back
    from errata.store.attributions import attributions_of
    from errata.store.runs import all_runs, exclude, include, run_by_id

_VERBS = {
    "add_action": "errata.pipeline.acting",
    "list_actions": "errata.pipeline.listing_actions",
    "remove_action": "errata.pipeline.acted",
    "add_gap": "errata.pipeline.knowing",
    "list_gaps": "errata.pipeline.knowing",
    "remove_gap": "errata.pipeline.knowing",
    "look_for": "errata.pipeline.looking",
    "begin": "errata.pipeline.reading",
    "made_ready": "errata.pipeline.reading",
    "triage_if_needed": "errata.pipeline.triaging",
    "triage_imported": "errata.pipeline.triaging",
    "triage_run": "errata.pipeline.triaging",
    "pool": "errata.pipeline.pooling",
    "score_run": "errata.pipeline.scoring",
    "attributions_of": "errata.store.attributions",
    "all_runs": "errata.store.runs",
    "agreement_of": "errata.pipeline.agreeing",
    "import_answers": "errata.pipeline.answers_back",
    "bucket_anew": "errata.pipeline.bucketing",
    "bucket_if_needed": "errata.pipeline.bucketing",
    "bucket_of": "errata.pipeline.bucketing",
    "list_buckets": "errata.pipeline.bucketing_listing",
    "show_bucket": "errata.pipeline.bucketing_listing",
    "calibrate_reviewers": "errata.pipeline.calibrating",
    "choose": "errata.pipeline.choosing",
    "consistency_of": "errata.pipeline.consistency",
    "judges_agreement": "errata.pipeline.judge_agreement",
    "write_studies": "errata.pipeline.consistency_files",
    "write_runs": "errata.pipeline.interchange",
    "compare_runs": "errata.pipeline.comparing",
    "runs_to_compare": "errata.pipeline.comparing_chosen",
    "write_comparison_folder": "errata.pipeline.comparison_folder",
    "exported": "errata.pipeline.exporting",
    "give_back": "errata.pipeline.handing_out",
    "hand_out": "errata.pipeline.handing_out",
    "packet_of": "errata.pipeline.packeting",
    "plan_review": "errata.pipeline.planning",
    "review_status": "errata.pipeline.review_state",
    "review": "errata.pipeline.reviewing",
    "take_in": "errata.pipeline.taking_in",
    "analyze": "errata.pipeline.analysis",
    "analyze_new": "errata.pipeline.new_runs",
    "bundled_example": "errata.pipeline.housekeeping",
    "check_run": "errata.pipeline.analysis",
    "examine_store": "errata.pipeline.housekeeping",
    "exclude": "errata.store.runs",
    "failures_of": "errata.pipeline.failures",
    "find_shown": "errata.pipeline.showing",
    "forget": "errata.pipeline.housekeeping",
    "import_orders": "errata.pipeline.importing",
    "import_paths": "errata.pipeline.importing",
    "include": "errata.store.runs",
    "list_sources": "errata.pipeline.housekeeping",
    "plan_rerun": "errata.pipeline.rerunning",
    "run_by_id": "errata.store.runs",
    "run_named": "errata.pipeline.selecting",
    "runs_named": "errata.pipeline.selecting",
    "settled_failures": "errata.pipeline.writing_back",
    "stored_runs": "errata.pipeline.housekeeping",
    "summarise": "errata.pipeline.analysis",
    "timeline_of": "errata.pipeline.timeline",
    "write_back": "errata.pipeline.writing_back_files",
}


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module `errata.pipeline` has no attribute `{name}`")
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
    "plan_rerun",
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
    "settled_failures",
    "show_bucket",
    "stored_runs",
    "summarise",
    "take_in",
    "timeline_of",
    "triage_if_needed",
    "triage_imported",
    "triage_run",
    "write_back",
    "write_comparison_folder",
    "write_runs",
    "write_studies",
]
