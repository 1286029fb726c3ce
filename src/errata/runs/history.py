"""What was known of a run's failures before it: earlier reports and runs, other models, and what was done since."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from errata.memory.effects import Effect, RunOutcomes, effects
from errata.memory.recurrence import Before, Named, addressed, effects_on, mentions, outcomes_in
from errata.memory.relation import RelatedReports
from errata.memory.report_files import ReportFiles
from errata.memory.spelling import CaseNames, folded
from errata.model import Action, StoredRun
from errata.runs.earlier_runs import EarlierRuns
from errata.runs.reports_in_use import Reports, reports_for, shelf_for
from errata.store.database import Store
from errata.store.memory import all_actions
from errata.store.named_cases import bucket_cases

DAY = len("2026-03-04")


class Remembered:
    """What was known before the run, and what the run shows of it. Other runs are looked at when they are asked for."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self.shelf: ReportFiles = shelf_for(stored.run)
        kept = all_actions(store)
        none = Reports(self.shelf, RelatedReports(), CaseNames(()))
        reports = reports_for(stored, store, self.shelf) if self.shelf.files or kept else none
        self._names, self.shelved = reports.names, reports.shelved
        self.named: Named = mentions(self.shelved.same_model, self._names)
        """By earlier reports about the same model."""
        self.named_elsewhere: Named = mentions(self.shelved.others, self._names)
        """By those about others."""
        self.actions = tuple(_actions(reports, kept, store))
        """All that are known, oldest first; cases by their keys, where they are cases of this run."""

    def before(self, case: str) -> Before:
        return Before(
            reports=self.named.cases.get(case, ()),
            runs=self.runs.failed_by.get(case, ()),
            actions=self._effects_on(case),
            others=self.named_elsewhere.cases.get(case, ()),
            other_runs=self.runs.failed_elsewhere.get(case, ()),
        )

    def _effects_on(self, case: str) -> tuple[Effect, ...]:
        about = [one for one in self.actions if case in one.addresses]
        return effects_on(case, about, self.runs.now, self.earlier) if about else ()

    @cached_property
    def runs(self) -> EarlierRuns:
        return EarlierRuns(self._stored, self._store)

    @cached_property
    def earlier(self) -> tuple[RunOutcomes, ...]:
        """How earlier runs of the same model went, as far as the store or a report tells."""
        return (*self.runs.same, *(outcomes_in(report, self._names) for report in self.shelved.same_model))

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """What still fails is told every time; what worked or can't be known yet, by the first run after the action."""
        if not self.actions:
            return ()
        now, last = self.runs.now, max((one.at[:DAY] for one in self.earlier), default="")
        tried = now.failed | now.passed
        since = [one for one in self.actions if one.date[:DAY] <= now.at[:DAY] and not tried.isdisjoint(one.addresses)]
        found = effects(since, now, self.earlier)
        return tuple(one for one in found if one.worked == "no" or one.action.date[:DAY] >= last)


def remember(stored: StoredRun, store: Store) -> Remembered:
    return Remembered(stored, store)


def _actions(reports: Reports, kept: Sequence[Action], store: Store) -> Iterator[Action]:
    """Those of the store and of the reports, each once, oldest first; of a bucket, the cases of its members."""
    written = [one for report in reports.shelved.all for one in report.actions]
    members = bucket_cases(store) if any("/" not in name for one in kept for name in one.addresses) else {}
    seen: set[tuple[str, str, str]] = set()
    for one in sorted([*kept, *written], key=lambda action: action.date):
        said = (one.date[:DAY], folded(one.path), folded(one.what))
        if said not in seen:
            seen.add(said)
            cases = tuple(case for name in one.addresses for case in members.get(name, (name,)))
            yield addressed(msgspec.structs.replace(one, addresses=cases), reports.names)
