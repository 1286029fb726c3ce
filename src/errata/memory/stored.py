"""Memory's queries to the store: which runs an action or a gap is about, and how their cases went."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from errata.memory.history import FailureSign, RunOutcomes, sign_of_key, subject_of
from errata.memory.known_gaps import GapRecord, gap_for
from errata.model import Action, KnownGap, StoredRun
from errata.model.action import CaseAddress, RecordedGap
from errata.model.standing import standing
from errata.store.case_outcomes import cells_of
from errata.store.database import Store
from errata.store.elsewhere import (
    case_keys,
    cases_failed_by,
    elsewhere,
    failure_keys_of,
    suites_of,
    tries_of,
    verdicts_on,
)
from errata.store.memory import known_gaps
from errata.store.runs import all_runs

DAY = len("2026-03-04")
IN_STORE = "known gaps"
MEASURED = frozenset(("failed", "partial", "limit", "mixed", "contradictory"))
"""Attempts that were aborted for reasons of their own show nothing about the case."""
_INFRASTRUCTURE = ("provider", "environment", "harness", "simulator", "collateral")


def run_of_action(action: Action, targets: Sequence[CaseAddress], store: Store) -> StoredRun | None:
    """The newest run that was named; else the newest that failed on one of the cases before the action."""
    runs = all_runs(store)
    wanted = {target.run.run.id for target in targets if target.run}
    if not wanted:
        tries = tries_of(store, [case for target in targets for case in target.cases])
        wanted = {one.run_id for one in tries if one.is_failure}
        runs = [run for run in runs if (run.run.started_at or "")[:DAY] <= action.date[:DAY]]
    return next((run for run in runs if run.run.id in wanted), None)


def outcomes_of_cases(keys: Iterable[str], runs: Iterable[StoredRun], store: Store) -> Iterator[RunOutcomes]:
    failed: dict[str, set[str]] = {}
    passed: dict[str, set[str]] = {}
    for attempt in tries_of(store, keys):
        failed.setdefault(attempt.run_id, set()).update([attempt.case] if attempt.failed else [])
        passed.setdefault(attempt.run_id, set()).update([attempt.case] if attempt.passed else [])
    tried = [stored for stored in runs if stored.run.id in failed]
    signs = signs_of(tried, [case for some in failed.values() for case in some], store)
    for stored in tried:
        yield _outcomes(stored, failed[stored.run.id], passed[stored.run.id], signs.get(stored.pk, {}))


def signs_of(
    runs: Iterable[StoredRun], cases: Iterable[str], store: Store
) -> dict[int, dict[str, tuple[FailureSign, ...]]]:
    signs: dict[int, dict[str, tuple[FailureSign, ...]]] = {}
    pks = [one.pk for one in runs]
    for pk, case, key in failure_keys_of(store, pks, cases) if pks else ():
        of_run = signs.setdefault(pk, {})
        of_run[case] = (*of_run.get(case, ()), sign_of_key(key))
    return signs


def outcomes_of_runs(runs: Sequence[StoredRun], store: Store, addressed: Iterable[str] = ()) -> dict[int, RunOutcomes]:
    """How all cases of the runs went, by the run's key in the store; of those `addressed`, also what failed.

    An infrastructure failure shows nothing about its case.
    """
    lost = cases_failed_by(store, [one.pk for one in runs], _INFRASTRUCTURE) if runs else set()
    signs = signs_of(runs, addressed, store)
    failed: dict[int, set[str]] = {one.pk: set() for one in runs}
    passed: dict[int, set[str]] = {one.pk: set() for one in runs}
    for cell in cells_of(store, list(failed)) if failed else ():
        if cell.fails and cell.state in MEASURED and (cell.run, cell.case) not in lost:
            failed[cell.run].add(cell.case)
        if cell.passes:
            passed[cell.run].add(cell.case)
    return {one.pk: _outcomes(one, failed[one.pk], passed[one.pk], signs.get(one.pk, {})) for one in runs}


def _outcomes(
    stored: StoredRun, failed: Iterable[str], passed: Iterable[str], signs: Mapping[str, tuple[FailureSign, ...]]
) -> RunOutcomes:
    return RunOutcomes(
        run=stored.run.native_id,
        at=stored.run.started_at or stored.imported_at[:10],
        subject=subject_of(stored.run),
        suite=stored.run.suite,
        failed=frozenset(failed),
        passed=frozenset(passed),
        signs=signs,
    )


def gap_records(gaps: Iterable[KnownGap], store: Store) -> Iterator[GapRecord]:
    keys: dict[str, list[str]] = {}
    for gap in gaps:
        if gap.suite not in keys:
            keys[gap.suite] = case_keys(store, suite=gap.suite)
        yield GapRecord(gap=gap, cases=tuple(key for key in keys[gap.suite] if gap_for(key, [gap])))


def failing_runs(cases: Iterable[str], store: Store) -> tuple[StoredRun, ...]:
    failing = {one.run_id for one in tries_of(store, cases) if one.failed}
    return tuple(one for one in all_runs(store) if one.run.id in failing) if failing else ()


def keys_by_suite(store: Store, suite: str = "") -> dict[str, list[str]]:
    by_suite: dict[str, list[str]] = {}
    for key, suites in suites_of(store, case_keys(store, suite=suite)).items():
        for name in suites:
            by_suite.setdefault(name, []).append(key)
    return by_suite


def gaps_in_store(stored: StoredRun, store: Store) -> dict[str, tuple[RecordedGap, ...]]:
    gaps = known_gaps(store, stored.run.suite)
    keys = case_keys(store, pk=stored.pk) if gaps else []
    fitting = ((key, gap_for(key, gaps)) for key in keys)
    return {key: (RecordedGap(where=IN_STORE, quote=gap.text),) for key, gap in fitting if gap is not None}


class CaseVerdict(NamedTuple):
    model: str
    at: str
    label: str


def later_verdicts(stored: StoredRun, store: Store, cases: Collection[str]) -> dict[str, list[CaseVerdict]]:
    """Case → the standing verdicts on it in other runs of the suite."""
    if not stored.run.suite:
        return {}
    tried = elsewhere(store, stored, cases)
    verdicts = verdicts_on(store, [one for some in tried.values() for one in some])
    by_case: dict[str, list[CaseVerdict]] = {}
    for case, tries in tried.items():
        for attempt in tries:
            stood = standing(verdicts.get(attempt.attempt, ()))
            if stood is not None:
                verdict = stood.verdict
                by_case.setdefault(case, []).append(CaseVerdict(attempt.model, verdict.at or "", verdict.label))
    return by_case
