"""`action`: record, list and remove what was done about failures, and whether it worked."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from errata.memory import stored as stored_memory
from errata.memory.actions import (
    ActionRecord,
    ActionRemoval,
    ActionRequest,
    ActionStatus,
    ReportLocation,
    distinct_actions,
    make_action,
    remove_from_report,
    write_into_report,
)
from errata.memory.effects import newest_effect, subject_of
from errata.memory.history import outcomes_in, with_case_keys
from errata.memory.relation import RunReports
from errata.model import Action, StoredRun
from errata.runs.addresses import resolve_address
from errata.runs.names import run_named
from errata.runs.reports import report_files_for, report_of, reports_for
from errata.store.database import Store
from errata.store.memory import (
    action_by_id,
    all_actions,
    forget_action,
    keep_action,
)
from errata.store.named_cases import bucket_cases
from errata.store.runs import all_runs

MOST_SUBJECTS = 50
"""Suites and models whose reports are read for `action list`, those with the newest runs."""


def add_action(request: ActionRequest, store: Store, *, now: datetime, dry_run: bool = False) -> ActionRecord:
    """Into the store, and into the report of the run that it is about. A second time it changes nothing."""
    named_run = run_named(request.run, store) if request.run else None
    targets = tuple(resolve_address(text, store, run=named_run) for text in request.addresses)
    action = make_action(request, targets, now)
    known = next((one for one in all_actions(store) if one.id == action.id), None)
    run = named_run or stored_memory.run_of_action(action, targets, store)
    record = ActionRecord(action=known or action, is_new=known is None, targets=targets, run=run)
    location = _report_for(request, run, store)
    if location is not None:
        # tried first: a report that can't be edited leaves the store as it was
        record = write_into_report(record, location, dry_run=True)
    if not dry_run:
        keep_action(store, record.action)
        if location is not None:
            record = write_into_report(record, location)
            keep_action(store, record.action)
    return record


def _report_for(request: ActionRequest, run: StoredRun | None, store: Store) -> ReportLocation | None:
    if request.report:
        return ReportLocation(request.report, request.report.parent)
    return report_of(run, store) if run else None


def list_actions(store: Store) -> list[ActionStatus]:
    """Oldest first, each with what runs and reports show of it."""
    runs = all_runs(store)
    reports = [(run, reported) for run in newest_of_each_subject(runs) if (reported := _reports(run, store))]
    in_store = all_actions(store)
    actions = distinct_actions(in_store, _actions_in(found for _, found in reports))
    members = bucket_cases(store) if in_store else {}
    keys = {case for one in actions for address in one.addresses for case in members.get(address, (address,))}
    outcomes = list(stored_memory.outcomes_of_cases(keys, runs, store))
    for run, reported in reports:
        for report in reported.related.same_model:
            shown = outcomes_in(report, reported.case_names)
            outcomes.append(msgspec.structs.replace(shown, subject=subject_of(run.run), suite=run.run.suite))
    ids = {one.id for one in in_store}
    return [ActionStatus(newest_effect(one, outcomes, members), one.id in ids) for one in actions]


def _actions_in(reports: Iterable[RunReports]) -> list[Action]:
    """Every action as each suite reads it; first where most of its cases are known, which is the suite it is about."""
    read = [
        (sum(key != name for key, name in zip(keyed.addresses, action.addresses, strict=False)), keyed)
        for run_reports in reports
        for report in run_reports.related.all
        for action in report.actions
        for keyed in [with_case_keys(action, run_reports.case_names)]
    ]
    return [action for _, action in sorted(read, key=lambda pair: -pair[0])]


def newest_of_each_subject(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """The newest run of every suite and subject."""
    newest: dict[tuple[str, str], StoredRun] = {}
    for run in runs:
        newest.setdefault((run.run.suite, subject_of(run.run)), run)
    return list(newest.values())[:MOST_SUBJECTS]


def _reports(stored: StoredRun, store: Store) -> RunReports | None:
    files = report_files_for(stored.run, store)
    return reports_for(stored, store, files) if files.files else None


def remove_action(beginning: str, store: Store, *, from_report: bool = False, dry_run: bool = False) -> ActionRemoval:
    """Out of the store and, where that is asked for, out of the report."""
    action = action_by_id(store, beginning)
    edited = remove_from_report(action, dry_run=dry_run) if from_report else None
    if not dry_run:
        forget_action(store, action.id)
    return ActionRemoval(action=action, edited=edited)
