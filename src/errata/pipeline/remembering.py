"""What was known of a run's failures before it: earlier reports, earlier runs, other models, and what was done since."""

from collections.abc import Iterator, Sequence

import msgspec

from errata.memory.effects import Effect, RunOutcomes, effects
from errata.memory.finding import Shelf
from errata.memory.recurrence import Before, Named, Shelved, addressed, due_for, mentions, outcomes_in
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

    shelf: Shelf
    shelved: Shelved
    named: Named
    """By earlier reports about the same model."""
    named_elsewhere: Named
    """By those about others."""
    runs: EarlierRuns
    actions: tuple[Action, ...] = ()
    """All that are known, oldest first; cases by their keys, where they are cases of this run."""
    earlier: tuple[RunOutcomes, ...] = ()
    """How earlier runs of the same model went, as far as the store or a report tells."""

    def before(self, case: str) -> Before:
        return Before(
            reports=self.named.cases.get(case, ()),
            runs=self.runs.failed_by.get(case, ()),
            due=due_for(case, self.actions, self.runs.now, self.earlier),
            others=self.named_elsewhere.cases.get(case, ()),
            other_runs=self.runs.failed_elsewhere.get(case, ()),
        )

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What still fails is told every time; what worked or can't be known yet, by the first run after the action."""
        now, last = self.runs.now, max((one.at[:DAY] for one in self.earlier), default="")
        tried = now.failed | now.passed
        since = [one for one in self.actions if one.date[:DAY] <= now.at[:DAY] and not tried.isdisjoint(one.addresses)]
        found = effects(since, now, self.earlier)
        return tuple(one for one in found if one.worked == "no" or one.action.date[:DAY] >= last)


def remember(stored: StoredRun, store: Store) -> Remembered:
    shelf, kept = shelf_for(stored.run), all_actions(store)
    reports = reports_for(stored, store, shelf) if shelf.files or kept else Reports(shelf, Shelved(), CaseNames(()))
    runs = look_back(stored, store)
    told = (outcomes_in(report, reports.names) for report in reports.shelved.same_model)
    return Remembered(
        shelf=shelf,
        shelved=reports.shelved,
        named=mentions(reports.shelved.same_model, reports.names),
        named_elsewhere=mentions(reports.shelved.others, reports.names),
        runs=runs,
        actions=tuple(_actions(reports, kept, store)),
        earlier=(*runs.same, *told),
    )


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
