"""The history of a run: earlier reports and runs, other models, what was done since, and what this run shows of it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from errata.memory.actions import distinct_actions
from errata.memory.history import (
    FailureSign,
    MentionedCases,
    RunOutcomes,
    effects,
    effects_on,
    mentions,
    outcomes_in,
    same_check,
    same_signs,
    with_case_keys,
)
from errata.memory.report_files import RelatedReports, ReportFiles, RunReports, is_about, runs_of
from errata.memory.spelling import CaseSpellings, model_name, same_model, same_run
from errata.memory.stored import outcomes_of_runs, signs_of
from errata.model import Action, Run, StoredRun
from errata.model.attempt import stand_in_of
from errata.model.history import ActionResult, FailedRun, History, Mention
from errata.model.prior_report import PriorReport
from errata.model.times import moment_of
from errata.runs.reports import began, report_files_for, reports_for
from errata.store.database import Store
from errata.store.elsewhere import bucket_cases
from errata.store.memory import all_actions
from errata.store.runs import all_runs
from errata.store.same_work import beside
from errata.text.lazy_regex import lazy_regex

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
        self.mentions_elsewhere: MentionedCases = mentions(self.reports.others, self._names)
        self.actions = tuple(_actions(reports, in_store, store))
        """All that are known, oldest first; cases by their keys, where they are cases of this run."""
        self._own_reports = {one.path: one for one in self.reports.same_model if one.own}

    def before(self, case: str) -> History:
        reports = [self._compared(one, case) for one in self.mentions.cases.get(case, ())]
        runs = self.runs.failed_by.get(case, ())
        own = tuple(one for one in reports if self._is_own(one, runs))
        return History(
            reports=tuple(one for one in reports if one not in own or (one.label and not one.by_rule)),
            runs=runs,
            own_reports=own,
            actions=self._effects_on(case),
            others=self.mentions_elsewhere.cases.get(case, ()),
            other_runs=self.runs.failed_elsewhere.get(case, ()),
        )

    def _is_own(self, mention: Mention, runs: Sequence[FailedRun]) -> bool:
        report = self._own_reports.get(mention.report)
        return report is not None and any(
            report.run_id == run.run_id if report.run_id else same_run(report.run, run.run) for run in runs
        )

    def _effects_on(self, case: str) -> tuple[ActionResult, ...]:
        about = [action for action in self.actions if case in action.addresses]
        return tuple(one for action in about for one in effects_on(case, [action], self.runs.now, self.earlier))

    def _compared(self, mention: Mention, case: str) -> Mention:
        """With whether it is the failure of now: by its run if the store has it, else by the check."""
        stored = [one.is_same for one in self.runs.failed_by.get(case, ()) if same_run(mention.run, one.run)]
        now = self.runs.signs_now.get(case, ())
        return msgspec.structs.replace(mention, is_same=stored[0] if stored else same_check(now, mention.failed_check))

    @cached_property
    def runs(self) -> "EarlierRuns":
        addressed = {case for one in self.actions for case in one.addresses}
        return EarlierRuns(self._stored, self._store, addressed, self.reports.all)

    @cached_property
    def earlier(self) -> tuple[RunOutcomes, ...]:
        """How earlier runs of the same model went, as far as the store or a report shows."""
        in_store = map(self._with_reports, self.runs.same, self.runs.same_stored)
        return (*in_store, *(outcomes_in(report, self._names) for report in self.reports.same_model))

    def _with_reports(self, outcomes: RunOutcomes, stored: StoredRun) -> RunOutcomes:
        about = [one for one in self.reports.all if any(same_run(id, outcomes.run) for id in runs_of(one))]
        day = min((one.date for one in about if one.date), default="")
        return msgspec.structs.replace(
            outcomes, at=stored.run.started_at or day or outcomes.at, reports=frozenset(one.path for one in about)
        )

    def result_of(self, action: Action) -> ActionResult:
        (result,) = effects([action], self.runs.now, self.earlier)
        return result

    @cached_property
    def effects(self) -> tuple[ActionResult, ...]:
        """Actions without effect every time; those that worked or are unknown, only in the first run after them."""
        if not self.actions:
            return ()
        last = max((run.at[:DAY] for run in self.earlier), default="")
        tried = self.runs.now.failed | self.runs.now.passed
        about = [one for one in self.actions if not tried.isdisjoint(one.addresses)]
        shown = [self.result_of(one) for one in about if one.date[:DAY] <= self.runs.now.at[:DAY]]
        return tuple(one for one in shown if one.worked == "no" or one.action.date[:DAY] >= last)


def _actions(reports: RunReports, in_store: Sequence[Action], store: Store) -> Iterator[Action]:
    in_reports = (action for report in reports.related.all for action in report.actions)
    members = bucket_cases(store) if any("/" not in name for one in in_store for name in one.addresses) else {}
    for action in distinct_actions(in_store, in_reports):
        cases = tuple(case for name in action.addresses for case in members.get(name, (name,)))
        yield with_case_keys(msgspec.structs.replace(action, addresses=cases), reports.case_names)


class EarlierRuns:
    """The runs of the store that started before a run, and how their cases went.

    Nothing is read that nobody asks for: a run may have a million attempts.
    """

    def __init__(
        self, stored: StoredRun, store: Store, addressed: Collection[str] = (), reports: Sequence[PriorReport] = ()
    ) -> None:
        self._stored, self._store, self._addressed = stored, store, addressed
        """And the cases that actions are about: of these, it matters what failed."""
        self.began = started(stored, reports) or stored.imported_at
        self._before = list(_earlier_runs(stored, store, reports))
        self.same_stored = [one for one in self._before if is_same_subject(one.run, stored.run)]

    @cached_property
    def now(self) -> RunOutcomes:
        now = outcomes_of_runs([self._stored], self._store, self._addressed)[self._stored.pk]
        return msgspec.structs.replace(now, at=self.began)

    @cached_property
    def same(self) -> tuple[RunOutcomes, ...]:
        return tuple(self._outcomes[one.pk] for one in self.same_stored)

    @cached_property
    def signs_now(self) -> Mapping[str, tuple[FailureSign, ...]]:
        return self._signs.get(self._stored.pk, {})

    @cached_property
    def _signs(self) -> dict[int, dict[str, tuple[FailureSign, ...]]]:
        """What failed in this run and in earlier ones of the same model, for the cases that fail now."""
        return signs_of([self._stored, *self.same_stored], self.now.failed, self._store)

    @cached_property
    def failed_by(self) -> dict[str, tuple[FailedRun, ...]]:
        """Case → earlier runs of the same model where it failed, newest first."""
        failed = _by_case(self.same_stored, self._outcomes)
        pks = {one.run.id: one.pk for one in self.same_stored}
        return {
            case: tuple(self._compared(run, case, pks[run.run_id]) for run in some) for case, some in failed.items()
        }

    def _compared(self, failed: FailedRun, case: str, pk: int) -> FailedRun:
        before = self._signs.get(pk, {}).get(case, ())
        return msgspec.structs.replace(failed, is_same=same_signs(self.signs_now.get(case, ()), before))

    @cached_property
    def failed_elsewhere(self) -> dict[str, tuple[FailedRun, ...]]:
        """Case → the runs of other models, as far as they name one. A reference solution is not a model."""
        named = [one for one in self._before if one.run.subject.model and not stand_in_of(one.run)]
        return _by_case([one for one in named if not is_same_subject(one.run, self._stored.run)], self._outcomes)

    @cached_property
    def _outcomes(self) -> dict[int, RunOutcomes]:
        return outcomes_of_runs(self._before, self._store, self._addressed)


def is_same_subject(left: Run, right: Run) -> bool:
    providers = (left.subject.provider, right.subject.provider)
    same = same_model(left.subject.model, right.subject.model, providers=providers)
    return same and left.subject.agent == right.subject.agent


def earlier_of_same_model(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Newest first."""
    return (one for one in _earlier_runs(stored, store) if is_same_subject(one.run, stored.run))


def started(stored: StoredRun, reports: Sequence[PriorReport] = ()) -> str:
    """When a run started by its log, else the day that a report about it names; empty where nothing dates it."""
    if stored.run.started_at:
        return stored.run.started_at
    about = [one for one in reports if is_about(one, stored.run)]
    days = [run.date for one in about for run in one.runs if same_run(run.id, stored.run.native_id) and run.date]
    return min((*days, *(one.date for one in about if one.date)), default="")


def _is_earlier(other: StoredRun, stored: StoredRun, reports: Sequence[PriorReport]) -> bool:
    """What has no date counts from its import; the order of imports of one day shows nothing."""
    at, now = started(other, reports), started(stored, reports)
    if at or now:
        return moment_of(at or other.imported_at) < moment_of(now or stored.imported_at)
    return other.imported_at[:DAY] < stored.imported_at[:DAY]


def _earlier_runs(stored: StoredRun, store: Store, reports: Sequence[PriorReport] = ()) -> Iterator[StoredRun]:
    left, attempts = MOST_RUNS, MOST_ATTEMPTS
    for other in beside(stored, store) if stored.run.suite else ():
        if other.run.id == stored.run.id or other.run.excluded is not None:
            continue
        if _is_earlier(other, stored, reports):
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


# --- the next older version of a model


_PART = lazy_regex(r"([a-z]*?)(\d{1,3})?$")
"""A word, a version, or a word with its version: `nimbus`, `2`, `v3`. Longer numbers are dates, `72b` is a size."""


class ModelVersion(NamedTuple):
    vendor: str
    family: tuple[str, ...]
    version: tuple[int, ...]


def version_of(model: str) -> ModelVersion:
    """`acme/nimbus-2.1-coder` is version 2.1 of the family nimbus, coder."""
    name = model_name(model)
    words: list[str] = []
    version: list[int] = []
    for part in name.base.split("-"):
        if part.isdigit() and len(part) > 3:
            continue
        match = _PART.fullmatch(part)
        words += [part] if match is None else [match[1]] if match[1] else []
        version += [int(match[2])] if match is not None and match[2] else []
    return ModelVersion(name.vendor, tuple(words), tuple(version))


def predecessor_of(stored: StoredRun, store: Store) -> StoredRun | None:
    """The newest run of the newest older version, with the same suite, agent and variant."""
    own = version_of(stored.run.subject.model)
    if not (stored.run.suite and own.family and own.version):
        return None
    older = [
        (version.version, moment_of(began(other)), other.pk, other)
        for other in all_runs(store, suite=stored.run.suite)
        if other.run.excluded is None
        and _is_same_setting(other.run, stored.run)
        and (version := version_of(other.run.subject.model))[:2] == own[:2]
        and () < version.version < own.version
    ]
    return max(older)[-1] if older else None


def _is_same_setting(other: Run, run: Run) -> bool:
    return (other.subject.agent, other.conditions) == (run.subject.agent, run.conditions)
