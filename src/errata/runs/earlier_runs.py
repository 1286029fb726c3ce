"""The runs of the store that came before a run, of the same model and of others, and how their cases went."""

from collections.abc import Iterator
from functools import cached_property

from errata.memory.effects import RunOutcomes
from errata.memory.recurrence import FailedRun
from errata.memory.remove_action import subject_of
from errata.memory.spelling import same_model
from errata.model import Run, StoredRun
from errata.model.times import moment_of
from errata.runs.reports_in_use import began
from errata.store.cells import cells_of
from errata.store.database import Store
from errata.store.runs import all_runs

MOST_RUNS = 50
MOST_ATTEMPTS = 300_000
"""No more are looked at, the newest first."""
MEASURED = frozenset(("failed", "partial", "limit", "mixed", "contradictory"))
"""What broke off for a reason of its own says nothing about the case."""


class EarlierRuns:
    """Nothing is read that nobody asks for: a run may have a million attempts."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._before = list(_before(stored, store))
        self._same = [one for one in self._before if is_same(one.run, stored.run)]

    @cached_property
    def now(self) -> RunOutcomes:
        return _outcomes([self._stored], self._store)[self._stored.pk]

    @cached_property
    def same(self) -> tuple[RunOutcomes, ...]:
        """Those of the same model, newest first."""
        return tuple(self._went[one.pk] for one in self._same)

    @cached_property
    def failed_by(self) -> dict[str, tuple[FailedRun, ...]]:
        """Case → the runs of the same model in which it failed, newest first."""
        return _by_case(self._same, self._went)

    @cached_property
    def failed_elsewhere(self) -> dict[str, tuple[FailedRun, ...]]:
        """Case → the runs of other models, as far as they name one."""
        named = [one for one in self._before if one.run.subject.model]
        return _by_case([one for one in named if not is_same(one.run, self._stored.run)], self._went)

    @cached_property
    def _went(self) -> dict[int, RunOutcomes]:
        return _outcomes(self._before, self._store)


def is_same(one: Run, other: Run) -> bool:
    providers = (one.subject.provider, other.subject.provider)
    alike = same_model(one.subject.model, other.subject.model, providers=providers)
    return alike and one.subject.agent == other.subject.agent


def earlier_of_same_model(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Newest first."""
    return (one for one in _before(stored, store) if is_same(one.run, stored.run))


def _before(stored: StoredRun, store: Store) -> Iterator[StoredRun]:
    """Runs of the same suite that began earlier and are not excluded."""
    left, attempts = MOST_RUNS, MOST_ATTEMPTS
    for one in all_runs(store, suite=stored.run.suite) if stored.run.suite else ():
        if one.run.id == stored.run.id or one.run.excluded is not None:
            continue
        if moment_of(began(one)) < moment_of(began(stored)):
            left, attempts = left - 1, attempts - one.counts.attempts
            if left < 0 or attempts < 0:
                return
            yield one


def _outcomes(runs: list[StoredRun], store: Store) -> dict[int, RunOutcomes]:
    failed: dict[int, set[str]] = {one.pk: set() for one in runs}
    passed: dict[int, set[str]] = {one.pk: set() for one in runs}
    for cell in cells_of(store, list(failed)) if failed else ():
        if cell.fails and cell.state in MEASURED:
            failed[cell.run].add(cell.case)
        if cell.passes:
            passed[cell.run].add(cell.case)
    return {
        one.pk: RunOutcomes(
            run=one.run.native_id,
            at=one.run.started_at or "",
            subject=subject_of(one.run),
            suite=one.run.suite,
            failed=frozenset(failed[one.pk]),
            passed=frozenset(passed[one.pk]),
        )
        for one in runs
    }


def _by_case(runs: list[StoredRun], went: dict[int, RunOutcomes]) -> dict[str, tuple[FailedRun, ...]]:
    found: dict[str, list[FailedRun]] = {}
    for one in runs:
        run = one.run
        told = FailedRun(run=run.native_id, run_id=run.id, at=run.started_at or "", model=run.subject.model)
        for case in went[one.pk].failed:
            found.setdefault(case, []).append(told)
    return {case: tuple(some) for case, some in found.items()}
