"""What other runs of the suite show about the failures of one: who passed, failed or answered the same cases."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from errata.errors import StoreError
from errata.model import Attempt, Case, Counts, Run, StoredRun, case_key
from errata.model.attempt import stand_in_of
from errata.model.identity import fingerprint
from errata.model.suspects import NOT_THE_CASES, allowed_passes
from errata.store.attempts import attempts_of, case_of, with_texts
from errata.store.case_outcomes import (
    CaseOutcome,
    PassedIn,
    case_outcomes,
    cases_named,
    failed_tasks,
    failures_on,
    passes_of_tasks,
)
from errata.store.case_versions import tasks_apart
from errata.store.database import Store
from errata.store.runs import keep_summary, kept_summary
from errata.store.same_work import beside
from errata.triage import observe
from errata.triage.across import (
    PAIR,
    Across,
    CaseElsewhere,
    failing_everywhere,
)
from errata.triage.demands import nearly_passed, unnamed_demands
from errata.triage.rulesets import rules_in_use

MOST_RUNS = 50
ACROSS = "across, by key"


class Peers:
    """The runs that a run can be held against: of the same suite, measured, not excluded."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        runs = beside(stored, store, most=MOST_RUNS) if stored.run.suite else []
        usable = [one for one in runs if one.run.excluded is None and was_measured(one.counts)]
        self.references = {one.pk: one for one in usable if stand_in_of(one.run) == "reference"}
        self.subjects = {one.pk: subject_name(one.run) for one in usable if not stand_in_of(one.run)}
        repeated = stored.counts.attempts_in_log > stored.counts.cases
        states = [(one.run.id, one.digest) for one in usable if len(usable) > 1 or repeated or self.references]
        self.version = fingerprint(sorted(states), size=4) if states else ""
        """Changes whenever a run comes, goes, grows or is excluded; empty where there is nothing to compare with."""


def subject_name(run: Run) -> str:
    """A run of an unknown model is a subject of its own, and its name has the run's id."""
    model = run.subject.model or f"run {run.id}"
    return " + ".join(part for part in (run.subject.agent, model) if part)


def across_version(stored: StoredRun, store: Store) -> str:
    """Part of the version of a triage, so that it is repeated when other runs bring new evidence.

    Another run of the suite may well say nothing new of this one: what was found is kept with the runs it came from.
    """
    peers = Peers(stored, store)
    if not peers.version:
        return ""
    kept = kept_summary(store, stored.pk, ACROSS, peers.version)
    return look_across(stored, store).version if kept is None else kept.decode("ascii")


def look_across(stored: StoredRun, store: Store) -> Across:
    """Everything that the other runs tell about the failures of this one."""
    peers = Peers(stored, store)
    if not peers.version:
        return Across()
    with store.kept_open():
        cases = _with_tests(dict(_elsewhere(stored, store, peers)), stored, store, peers)
        passed_by, differing = _passed_by(stored, store, peers)
    version = _fingerprint(cases, passed_by, differing)
    with suppress(StoreError):  # a read-only store is examined again each time
        keep_summary(store, stored.pk, ACROSS, peers.version, version.encode("ascii"))
    return Across(cases, passed_by=passed_by, differing=differing, version=version)


def _passed_by(stored: StoredRun, store: Store, peers: Peers) -> tuple[dict[str, str], frozenset[str]]:
    """Of the cases that this run failed and that were measured elsewhere: who passed each; empty for nobody.

    Another attempt of the same run counts where it passed. Beside them, those that others measured only with another
    task, reference or grader.
    """
    named = peers.subjects | dict.fromkeys(peers.references, "the reference")
    own = subject_name(stored.run)
    names = {pk: "another run of the same model" if name == own else name for pk, name in named.items()}
    names |= {stored.pk: "another attempt of this run"}
    pks = tuple(sorted({stored.pk, *named}))
    measured, tasks = _passes_of_tasks(store, pks), tasks_apart(store, pks)
    passed_by, differing = {}, set()
    for key, task in failed_tasks(store, stored.pk, tasks):
        passes = measured.get(hash((key, task)))
        if passes is not None and (passes.only != stored.pk or passes.first is not None):
            passed_by[key] = "" if passes.first is None else names[passes.first]
        elif any(hash((key, other)) in measured for other in {"", *tasks.get(key, {}).values()} - {task}):
            differing.add(key)
    return passed_by, frozenset(differing)


@lru_cache(maxsize=1)
def _passes_of_tasks(store: Store, pks: tuple[int, ...]) -> dict[int, PassedIn]:
    """The same for all runs of a suite, one after the other."""
    return passes_of_tasks(store, pks, tasks_apart(store, pks))


def _fingerprint(cases: Mapping[str, CaseElsewhere], passed_by: Mapping[str, str], differing: frozenset[str]) -> str:
    """Over all that becomes part of a signal; empty where nothing does."""
    facts = [
        (
            *(key, case.failed, case.passed, case.reference.id if case.reference else "", case.same_task),
            *(sorted(case.demanded.items()), sorted(case.refused.items())),
        )
        for key, case in sorted(cases.items())
    ]
    shown = [facts, sorted(passed_by.items()), *([sorted(differing)] if differing else [])]
    return fingerprint(shown, size=4) if facts or passed_by or differing else ""


class _AnswerGroup(NamedTuple):
    """One case, as long as its task was the same, where that speaks against the task or its grader."""

    case: str
    passed_by: dict[int, bool]
    """By a run's number, of those that tried it."""
    failed: tuple[str, ...]
    passed: int
    references_fail: bool
    same_task: bool


def _elsewhere(stored: StoredRun, store: Store, peers: Peers) -> Iterator[tuple[str, CaseElsewhere]]:
    """Of every case that this run failed: how it went with the others."""
    if len(set(peers.subjects.values())) < PAIR and not peers.references:
        return
    gold = {group.case: group for run in peers.references.values() for group in _clean_failures(run, store)}
    subjects = tuple(sorted(peers.subjects.items()))
    contradicted = {case for run in peers.references.values() for case in _contradicted(run.run)}
    for group in _groups(store, stored.pk, subjects, tuple(sorted(peers.references))):
        if group.passed_by.get(stored.pk, True):
            continue
        in_doubt = group.case in contradicted and stored.pk not in peers.references
        reference = gold.get(group.case) if group.references_fail and not in_doubt else None
        elsewhere = CaseElsewhere(group.failed, group.passed, reference, group.same_task)
        if reference is not None or (elsewhere.is_failed_by_all and len(group.failed) >= PAIR):
            yield group.case, elsewhere


def _contradicted(run: Run) -> Iterator[str]:
    """Cases that another report about the same run gives another result."""
    return (case_key(run.suite, case) for conflict in run.conflicts for case in conflict.cases)


def _groups(
    store: Store, own: int, subjects: tuple[tuple[int, str], ...], references: tuple[int, ...]
) -> list[_AnswerGroup]:
    every = tuple(sorted({own, *references, *(pk for pk, _ in subjects)}))
    return _groups_of(store, every, subjects, references)


@lru_cache(maxsize=1)
def _groups_of(
    store: Store, pks: tuple[int, ...], subjects: tuple[tuple[int, str], ...], references: tuple[int, ...]
) -> list[_AnswerGroup]:
    """The same for all runs of a suite, one after the other; most cases are passed by somebody and are not in it."""
    named, groups = dict(subjects), []
    for case, rows in groupby(case_outcomes(store, pks), key=lambda row: row.case):
        alike: dict[str, list[CaseOutcome]] = {}
        for row in rows:
            alike.setdefault(row.task, []).append(row)
        for those in alike.values():
            failed, passed = failing_everywhere(
                (named[row.run_pk], row.passed, row.failed) for row in those if row.run_pk in named
            )
            gold = [row.passed for row in those if row.run_pk in references]
            references_fail = bool(gold) and not any(gold)
            is_failed_by_all = passed <= allowed_passes(len(failed) + passed)
            if references_fail or (is_failed_by_all and len(failed) >= PAIR):
                passed_by = {row.run_pk: row.passed for row in those}
                described = any(row.described for row in those)
                groups.append(_AnswerGroup(case, passed_by, failed, passed, references_fail, described))
    return groups


def _clean_failures(reference: StoredRun, store: Store) -> Iterator[Attempt]:
    """Failures of a reference that nothing but the case, its grader or the reference itself explains."""
    rules = rules_in_use()
    for listed in attempts_of(store, reference.pk, failures=True):
        if listed.outcome != "fail" or listed.measurement != "scored" or listed.execution != "completed":
            continue
        attempt = with_texts(store, listed)
        seen = observe(
            reference.run, attempt, case_of(store, reference.pk, attempt.case, attempt.case_version), None, rules
        )
        if not any(one.breaks or one.owner in NOT_THE_CASES for one in seen):
            yield attempt


MOST_LOGS = 1_000
"""The tests' logs of all subjects are compared for at most this many attempts."""


def _with_tests(
    cases: dict[str, CaseElsewhere], stored: StoredRun, store: Store, peers: Peers
) -> dict[str, CaseElsewhere]:
    """Where all failed: for want of what the task does not name, and by which tests."""
    wanted = [key for key, one in cases.items() if one.is_failed_by_all]
    known = {case.key: case for case in cases_named(store, stored.pk, wanted)} if wanted else {}
    demanded: dict[str, dict[str, set[str]]] = {key: {} for key in known}
    refused: dict[str, dict[tuple[tuple[str, str], ...], set[str]]] = {key: {} for key in known}
    left = MOST_LOGS
    for pk, subject in peers.subjects.items() if known else ():
        for listed in failures_on(store, pk, frozenset(known)):
            if left <= 0 or not any(one.role == "log" for one in listed.artefacts):
                continue
            left -= 1
            seen = _tests_of(listed, pk, known[listed.case], store)
            for demand in seen.demands:
                demanded[listed.case].setdefault(demand, set()).add(subject)
            if seen.refused:
                refused[listed.case].setdefault(seen.refused, set()).add(subject)
    for key in known:
        counted = {demand: len(subjects) for demand, subjects in demanded[key].items()}
        alike_by = {tests: len(subjects) for tests, subjects in refused[key].items()}
        cases[key] = cases[key].with_tests(counted, alike_by)
    return cases


class _TestResults(NamedTuple):
    demands: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def _tests_of(listed: Attempt, pk: int, case: Case, store: Store) -> _TestResults:
    """Each log is read once, although every run of a suite is held against every other."""
    known, key = _known_tests(store), (pk, listed.id, case.digest)
    if key not in known:
        attempt = with_texts(store, listed)
        known[key] = _TestResults(tuple(unnamed_demands(attempt, case)), nearly_passed(attempt))
    return known[key]


@lru_cache(maxsize=1)
def _known_tests(_store: Store) -> dict[tuple[int, str, str], _TestResults]:
    return {}


def was_measured(counts: Counts) -> bool:
    """Whether most attempts have an outcome: an unavailable run is not evidence about its cases."""
    made = counts.attempts_in_log
    return made > 0 and 2 * sum(counts.outcomes.get(word, 0) for word in ("pass", "fail", "partial")) >= made


def has_looked_across(stored: StoredRun, store: Store) -> bool:
    """Whether `across_version` knows its answer; else it looks at every run of the suite."""
    peers = Peers(stored, store)
    return not peers.version or kept_summary(store, stored.pk, ACROSS, peers.version) is not None
