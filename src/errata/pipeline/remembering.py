"""What was known of a run's failures before it: earlier reports, earlier runs, other models, and what was done since."""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from errata.memory.effects import Effect, RunOutcomes, effects
from errata.memory.finding import Shelf
from errata.memory.recurrence import NOTHING_BEFORE, Before, Mention, Shelved, addressed, due_for, mentions, outcomes_in
from errata.memory.spelling import CaseNames, folded
from errata.model import Action, StoredRun
from errata.pipeline.earlier_runs import EarlierRuns, look_back
from errata.pipeline.reports_in_use import Reports, reports_for, shelf_for
from errata.store.database import Store
from errata.store.memory import all_actions
from errata.store.named_cases import bucket_cases

DAY = len("2026-03-04")


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What was known before the run, and what the run shows of it."""

    shelf: Shelf = Shelf()
    shelved: Shelved = Shelved()
    cases: dict[str, Before] = {}
    """Of the failures alone; by the case's key."""
    ambiguous: tuple[tuple[Mention, tuple[str, ...]], ...] = ()
    effects: tuple[Effect, ...] = ()
    """What this run shows of earlier actions."""
    actions: tuple[Action, ...] = ()
    """All that are known, oldest first; cases by their keys, where they are cases of this run."""

    def before(self, case: str) -> Before:
        return self.cases.get(case, NOTHING_BEFORE)


def remember(stored: StoredRun, store: Store, failed: Collection[str]) -> Remembered:
    """`failed` are the cases that failed in the run."""
    if not failed:
        return Remembered()
    shelf, kept = shelf_for(stored.run), all_actions(store)
    reports = reports_for(stored, store, shelf) if shelf.files or kept else _no_reports(shelf)
    runs = look_back(stored, store)
    same, others = mentions(reports.shelved.same_model, reports.names), mentions(reports.shelved.others, reports.names)
    actions = tuple(_actions(reports, kept, store))
    earlier = [*runs.same, *(outcomes_in(report, reports.names) for report in reports.shelved.same_model)]
    cases = {
        case: Before(
            reports=same.cases.get(case, ()),
            runs=runs.failed_by.get(case, ()),
            due=due_for(case, actions, runs.now, earlier),
            others=others.cases.get(case, ()),
            other_runs=runs.failed_elsewhere.get(case, ()),
        )
        for case in failed
    }
    return Remembered(
        shelf=shelf,
        shelved=reports.shelved,
        cases=cases,
        ambiguous=same.ambiguous,
        effects=tuple(_telling(effects(actions, runs.now, earlier), runs, earlier)),
        actions=actions,
    )


def _no_reports(shelf: Shelf) -> Reports:
    return Reports(shelf, Shelved(), CaseNames(()))


def _actions(reports: Reports, kept: Sequence[Action], store: Store) -> Iterator[Action]:
    """Those of the store and of the reports, each once, oldest first; of a bucket, the cases of its members."""
    written = [one for report in reports.shelved.all for one in report.actions]
    members = bucket_cases(store) if any("/" not in name for one in kept for name in one.addresses) else {}
    seen: set[tuple[str, str, str]] = set()
    for one in sorted([*kept, *written], key=lambda action: action.date):
        is_known = (one.date[:DAY], folded(one.path), folded(one.what))
        if is_known not in seen:
            seen.add(is_known)
            cases = tuple(case for name in one.addresses for case in members.get(name, (name,)))
            yield addressed(msgspec.structs.replace(one, addresses=cases), reports.names)


def _telling(found: Sequence[Effect], runs: EarlierRuns, earlier: Sequence[RunOutcomes]) -> Iterator[Effect]:
    """What still fails is told every time; what worked, by the first run after it; what can't be known yet, then too."""
    last = max((one.at[:DAY] for one in earlier), default="")
    tried = runs.now.failed | runs.now.passed
    for one in found:
        day, is_ours = one.action.date[:DAY], any(case in tried for case in one.action.addresses)
        if is_ours and day <= runs.now.at[:DAY] and (one.worked == "no" or day >= last):
            yield one
