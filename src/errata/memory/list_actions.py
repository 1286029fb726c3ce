"""The verb `action list`: what was done, as the store and the reports tell it, and whether it worked."""

from collections.abc import Iterable, Iterator

import msgspec

from errata.memory.effects import Effect, RunOutcomes, newest_effect
from errata.memory.recurrence import addressed, outcomes_in
from errata.memory.remove_action import subject_of
from errata.memory.spelling import folded
from errata.model import Action, StoredRun
from errata.runs.reports_in_use import Reports, reports_for, shelf_for
from errata.store.database import Store
from errata.store.memory import all_actions
from errata.store.named_cases import bucket_cases, tries_of
from errata.store.runs import all_runs

DAY = len("2026-03-04")
MOST = 50
"""Suites and models whose reports are looked at, those with the newest runs."""


class Listed(msgspec.Struct, frozen=True):
    effect: Effect
    is_kept: bool
    """Whether the store has it; else only a report tells of it."""


def list_actions(store: Store) -> list[Listed]:
    """Oldest first, each with what runs and reports show of it."""
    runs = all_runs(store)
    seen_with = [(one, reports) for one in _newest(runs) if (reports := _reports(one, store))]
    kept = all_actions(store)
    actions = list(_each_once(kept, seen_with))
    members = bucket_cases(store) if kept else {}
    keys = {case for one in actions for address in one.addresses for case in members.get(address, (address,))}
    known = [*_in_store(store, runs, keys), *_in_reports(seen_with)]
    of_store = {one.id for one in kept}
    return [Listed(newest_effect(one, known, members), one.id in of_store) for one in actions]


def _newest(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """The newest of every suite and subject."""
    found: dict[tuple[str, str], StoredRun] = {}
    for one in runs:
        found.setdefault((one.run.suite, subject_of(one.run)), one)
    return list(found.values())[:MOST]


def _reports(stored: StoredRun, store: Store) -> Reports | None:
    shelf = shelf_for(stored.run)
    return reports_for(stored, store, shelf) if shelf.files else None


def _each_once(kept: list[Action], seen_with: Iterable[tuple[StoredRun, Reports]]) -> Iterator[Action]:
    """What the store and a report tell of alike is one action."""
    written = [
        addressed(action, reports.names)
        for _, reports in seen_with
        for report in reports.shelved.all
        for action in report.actions
    ]
    found: dict[tuple[str, str, str], Action] = {}
    for one in (*kept, *written):
        found.setdefault((one.date[:DAY], folded(one.path), folded(one.what)), one)
    return iter(sorted(found.values(), key=lambda one: one.date))


def _in_store(store: Store, runs: Iterable[StoredRun], keys: set[str]) -> Iterator[RunOutcomes]:
    failed: dict[str, set[str]] = {}
    passed: dict[str, set[str]] = {}
    for one in tries_of(store, keys):
        failed.setdefault(one.run_id, set()).update([one.case] if one.failed else [])
        passed.setdefault(one.run_id, set()).update([one.case] if one.passed else [])
    for stored in runs:
        if stored.run.id in failed:
            yield RunOutcomes(
                run=stored.run.native_id,
                at=stored.run.started_at or "",
                subject=subject_of(stored.run),
                suite=stored.run.suite,
                failed=frozenset(failed[stored.run.id]),
                passed=frozenset(passed[stored.run.id]),
            )


def _in_reports(seen_with: Iterable[tuple[StoredRun, Reports]]) -> Iterator[RunOutcomes]:
    for stored, reports in seen_with:
        for report in reports.shelved.same_model:
            told = outcomes_in(report, reports.names)
            yield msgspec.structs.replace(told, subject=subject_of(stored.run), suite=stored.run.suite)
