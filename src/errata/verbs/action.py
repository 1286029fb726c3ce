"""`action` and `known`: record, list and remove what was done about failures, and known gaps."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from errata.errors import NotFoundError, SettingsError, did_you_mean
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
from errata.memory.entries import safe
from errata.memory.history import RunOutcomes, newest_effect, outcomes_in, subject_of, with_case_keys
from errata.memory.known_gaps import GapRecord, GapRequest, gap_by_name, gap_by_pattern, gap_id, is_pattern
from errata.memory.report_files import RunReports
from errata.memory.spelling import same_model
from errata.model import Action, KnownGap, Run, StoredRun
from errata.model.action import RecordedGap
from errata.model.times import to_text
from errata.runs.addresses import not_found, resolve_address, resolve_case
from errata.runs.names import run_named
from errata.runs.reports import recorded_gaps, report_files_for, report_of, reports_for
from errata.store.database import Store
from errata.store.elsewhere import bucket_cases
from errata.store.memory import (
    action_by_id,
    all_actions,
    forget_action,
    forget_gap,
    gap_by_id,
    keep_action,
    keep_gap,
    known_gaps,
)
from errata.store.runs import all_runs
from errata.triage.rulesets import rules_in_use

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
        outcomes += _outcomes_in_reports(run.run, reported)
    ids = {one.id for one in in_store}
    return [ActionStatus(newest_effect(one, outcomes, members), one.id in ids) for one in actions]


def _outcomes_in_reports(run: Run, reported: RunReports) -> Iterator[RunOutcomes]:
    """What another model fails shows something of the task alone."""
    labels = [label for taxonomy in rules_in_use().taxonomies for label in taxonomy.label]
    of_tasks = {label.name for label in labels if label.owner in ("task", "grader")}
    for report in reported.related.all:
        is_same = same_model(report.model, run.subject.model, providers=(run.subject.provider,))
        shown = outcomes_in(report, reported.case_names, None if is_same else of_tasks)
        subject = subject_of(run) if is_same else report.model or report.path
        at = report in reported.related.own and run.started_at
        yield msgspec.structs.replace(shown, subject=subject, suite=run.suite, at=at or shown.at)


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


DAY = len("2026-03-04")


def add_gap(request: GapRequest, store: Store, *, now: datetime, dry_run: bool = False) -> GapRecord:
    """A case by its name, or all that a pattern fits. Recorded again, it has the new words."""
    text = safe(request.text)
    if not text:
        raise SettingsError("`--text` is empty", hint="describe the limitation in a sentence")
    target = _gap_target(request, store)
    name = gap_id(target)
    previous = next((gap for gap in known_gaps(store) if gap.id == name), None)
    since = previous.since if previous else to_text(now)[:DAY]
    gap = msgspec.structs.replace(target, id=name, text=text, since=since, author=safe(request.author))
    if not dry_run:
        keep_gap(store, gap)
    return msgspec.structs.replace(_with_runs(gap, store), previous=previous)


def list_gaps(store: Store, *, suite: str = "") -> list[GapRecord]:
    return list(stored_memory.gap_records(known_gaps(store, suite), store))


def gaps_in_reports(store: Store, *, suite: str = "") -> list[tuple[StoredRun, str, RecordedGap]]:
    """Known gaps that only reports record, each once, with a run that it applies to and its case's key."""
    records: dict[tuple[str, str], tuple[StoredRun, str, RecordedGap]] = {}
    for run in newest_of_each_subject(all_runs(store, suite=suite) if suite else all_runs(store)):
        for key, gaps in recorded_gaps(run, store).items():
            for gap in gaps:
                if gap.ref is not None:
                    records.setdefault((key, gap.ref.file), (run, key, gap))
    return list(records.values())


def remove_gap(name: str, store: Store, *, suite: str = "", dry_run: bool = False) -> GapRecord:
    """By its id, its case or its pattern."""
    records = list_gaps(store, suite=suite)
    gap = gap_by_name(name, records) or _gap_by_id(name, records, store)
    if not dry_run:
        forget_gap(store, gap.id)
    return _with_runs(gap, store)


def _gap_target(request: GapRequest, store: Store) -> KnownGap:
    """The case or pattern that is meant, as a gap that has no text yet."""
    case = resolve_case(request.case, store, suite=request.suite)
    if case is not None:
        return KnownGap(suite=case.suite, case_key=case.key, text="")
    if not is_pattern(request.case):
        raise not_found(request.case, store, suite=request.suite)
    return gap_by_pattern(request.case, stored_memory.keys_by_suite(store, request.suite))


def _gap_by_id(name: str, records: list[GapRecord], store: Store) -> KnownGap:
    try:
        return gap_by_id(store, name)
    except NotFoundError as error:
        nearest = did_you_mean(name, [record.name for record in records])
        hint = "\n".join(filter(None, (nearest, error.hint)))
        raise NotFoundError(f"No known gap is named `{name}`", hint=hint) from None


def _with_runs(gap: KnownGap, store: Store) -> GapRecord:
    (record,) = stored_memory.gap_records([gap], store)
    return msgspec.structs.replace(record, runs=stored_memory.failing_runs(record.cases, store))
