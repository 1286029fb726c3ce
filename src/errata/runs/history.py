"""The history of a run: earlier reports and runs, other models, what was done since, and what this run shows of it."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from errata.memory.actions import distinct_actions
from errata.memory.effects import RunOutcomes, effects
from errata.memory.history import MentionedCases, effects_on, mentions, outcomes_in, with_case_keys
from errata.memory.relation import RelatedReports, RunReports
from errata.memory.report_files import ReportFiles
from errata.memory.spelling import CaseSpellings, same_model
from errata.memory.stored import outcomes_of_runs
from errata.model import Action, Run, StoredRun
from errata.model.history import ActionResult, FailedRun, History
from errata.model.times import moment_of
from errata.runs.reports import began, report_files_for, reports_for
from errata.store.database import Store
from errata.store.memory import all_actions
from errata.store.named_cases import bucket_cases
from errata.store.runs import all_runs
from errata.triage.across import stand_in_of

DAY = len("2026-03-04")
MOST_RUNS = 50
MOST_ATTEMPTS = 300_000
"""No more are looked at, the newest first."""


class RunHistory:
    """What was known before the run, and what the run shows of it. Other runs are read when they are asked for."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self.report_files: ReportFiles = report_files_for(stored.run, store)
        in_store = all_actions(store)
        none = RunReports(self.report_files, RelatedReports(), CaseSpellings(()))
        reports = reports_for(stored, store, self.report_files) if self.report_files.files or in_store else none
        self._names, self.reports = reports.case_names, reports.related
        self.mentions: MentionedCases = mentions(self.reports.same_model, self._names)
        """In earlier reports about the same model."""
        self.mentions_elsewhere: MentionedCases = mentions(self.reports.others, self._names)
        """In those about others."""
        self.actions = tuple(_actions(reports, in_store, store))
        """All that are known, oldest first; cases by their keys, where they are cases of this run."""

    def before(self, case: str) -> History:
        """What is known of one case from before the run."""
        return History(
            reports=self.mentions.cases.get(case, ()),
            runs=self.runs.failed_by.get(case, ()),
            actions=self._effects_on(case),
            others=self.mentions_elsewhere.cases.get(case, ()),
            other_runs=self.runs.failed_elsewhere.get(case, ()),
        )

    def _effects_on(self, case: str) -> tuple[ActionResult, ...]:
        about = [action for action in self.actions if case in action.addresses]
        return effects_on(case, about, self.runs.now, self.earlier) if about else ()

    @cached_property
    def runs(self) -> "EarlierRuns":
        return EarlierRuns(self._stored, self._store)

    @cached_property
    def earlier(self) -> tuple[RunOutcomes, ...]:
        """How earlier runs of the same model went, as far as the store or a report shows."""
        return (*self.runs.same, *(outcomes_in(report, self._names) for report in self.reports.same_model))

    @cached_property
    def effects(self) -> tuple[ActionResult, ...]:
        """Actions without effect every time; those that worked or are unknown, only in the first run after them."""
        if not self.actions:
            return ()
        now, last = self.runs.now, max((run.at[:DAY] for run in self.earlier), default="")
        tried = now.failed | now.passed
        since = [one for one in self.actions if one.date[:DAY] <= now.at[:DAY] and not tried.isdisjoint(one.addresses)]
        shown = effects(since, now, self.earlier)
        return tuple(one for one in shown if one.worked == "no" or one.action.date[:DAY] >= last)


def _actions(reports: RunReports, in_store: Sequence[Action], store: Store) -> Iterator[Action]:
    """Those of the store and of the reports, each once, oldest first; of a bucket, the cases of its members."""
    in_reports = (action for report in reports.related.all for action in report.actions)
    members = bucket_cases(store) if any("/" not in name for one in in_store for name in one.addresses) else {}
    for action in distinct_actions(in_store, in_reports):
        cases = tuple(case for name in action.addresses for case in members.get(name, (name,)))
        yield with_case_keys(msgspec.structs.replace(action, addresses=cases), reports.case_names)


class EarlierRuns:
    """The runs of the store that started before a run, and how their cases went.

    Nothing is read that nobody asks for: a run may have a million attempts.
    """

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._before = list(_earlier_runs(stored, store))
        self._same = [one for one in self._before if is_same_subject(one.run, stored.run)]

    @cached_property
    def now(self) -> RunOutcomes:
        """How the run itself went."""
        return outcomes_of_runs([self._stored], self._store)[self._stored.pk]

    @cached_property
    def same(self) -> tuple[RunOutcomes, ...]:
        """Those of the same model, newest first."""
        return tuple(self._outcomes[one.pk] for one in self._same)

    @cached_property
    def failed_by(self) -> dict[str, tuple[FailedRun, ...]]:
        """Case → earlier runs of the same model where it failed, newest first."""
        return _by_case(self._same, self._outcomes)

    @cached_property
    def failed_elsewhere(self) -> dict[str, tuple[FailedRun, ...]]:
        """Case → the runs of other models, as far as they name one. A reference solution is no model."""
        named = [one for one in self._before if one.run.subject.model and not stand_in_of(one.run)]
        return _by_case([one for one in named if not is_same_subject(one.run, self._stored.run)], self._outcomes)

    @cached_property
    def _outcomes(self) -> dict[int, RunOutcomes]:
        return outcomes_of_runs(self._before, self._store)


def is_same_subject(left: Run, right: Run) -> bool:
    """The same model, by whatever provider, with the same agent."""
    providers = (left.subject.provider, right.subject.provider)
    same = same_model(left.subject.model, right.subject.model, providers=providers)
    return same and left.subject.agent == right.subject.agent


def earlier_of_same_model(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Newest first."""
    return (one for one in _earlier_runs(stored, store) if is_same_subject(one.run, stored.run))


def _earlier_runs(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Runs of the same suite that started earlier and are not excluded."""
    left, attempts = MOST_RUNS, MOST_ATTEMPTS
    for other in all_runs(store, suite=stored.run.suite) if stored.run.suite else ():
        if other.run.id == stored.run.id or other.run.excluded is not None:
            continue
        if moment_of(began(other)) < moment_of(began(stored)):
            left, attempts = left - 1, attempts - other.counts.attempts
            if left < 0 or attempts < 0:
                return
            yield other


def _by_case(runs: list[StoredRun], outcomes: dict[int, RunOutcomes]) -> dict[str, tuple[FailedRun, ...]]:
    failed: dict[str, list[FailedRun]] = {}
    for stored in runs:
        run = stored.run
        entry = FailedRun(run=run.native_id, run_id=run.id, at=run.started_at or "", model=run.subject.model)
        for case in outcomes[stored.pk].failed:
            failed.setdefault(case, []).append(entry)
    return {case: tuple(some) for case, some in failed.items()}
