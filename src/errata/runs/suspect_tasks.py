"""Suspect tasks of several runs: the one list that every page, report and `--json` shows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import msgspec

from errata.compare.passed_by_nobody import CaseCounts, at_most, is_suspect_by_counts, suspect_categories
from errata.errors import NotFoundError, StoreError
from errata.model import Attempt, StoredRun
from errata.model.attempt import stand_in_of
from errata.model.identity import fingerprint
from errata.model.run import case_name
from errata.model.suspects import (
    FAULTS_OF_TESTS,
    FEWEST,
    NOT_THE_CASES,
    SuspectTask,
    SuspectTasks,
    allowed_passes,
)
from errata.model.times import to_text
from errata.review.stored.task_reviews import review_of, reviews_of_tasks
from errata.store.attempts import case_of, with_texts
from errata.store.attributions import rules_version_of
from errata.store.case_outcomes import (
    FEW,
    MOST_SUBJECTS,
    CaseTally,
    attributed_failures_on,
    case_tallies,
    failures_on,
)
from errata.store.case_versions import Tasks, tasks_apart
from errata.store.database import Store
from errata.store.runs import all_runs, keep_summary, kept_summary, run_by_id
from errata.store.same_work import each_work_once
from errata.triage.stored.peers import MOST_RUNS, subject_name, was_measured
from errata.triage.task_evidence import REFERENCE, SubjectFailure, as_doubts, evidence_against

if TYPE_CHECKING:
    from errata.review.material import RunContext
    from errata.runs.view import RunView


KIND = "suspect tasks"
RULES = 4
"""Increase it when the list changes although the runs and their triage are the same."""
MOST_LISTED = 500
MOST_READ = 150
"""Tasks whose attempts are read for what they share; signals of triage are looked up for all that are listed."""
SUBJECTS_READ = 12
_STRENGTHS = ("likely", "weak", "counts")
Version = tuple[str, str]
"""Case and task: one, as long as it was not edited."""
RunVersions = tuple[tuple[int, str, str], ...]
"""Number, id, and what changes with the facts of a run and with its triage."""


def runs_beside(stored: StoredRun, store: Store) -> list[StoredRun]:
    return all_runs(store, suite=stored.run.suite)[:MOST_RUNS] if stored.run.suite else [stored]


def suspect_tasks(runs: Sequence[StoredRun], store: Store) -> SuspectTasks:
    """Of runs that are triaged. Empty where there are neither several subjects nor a reference."""
    included = (one for one in each_work_once(runs, store) if one.run.excluded is None)
    usable = [one for one in included if was_measured(one.counts)]
    # a number never changes its facts, and the version of a triage changes with what it saw
    versions = sorted((one.pk, one.run.id, f"{rules_version_of(store, one.pk)}+{one.digest}") for one in usable)
    suspects = _load_or_find(store, tuple(versions))
    return with_reviews(suspects, store, [one.run.id for one in usable]) if suspects else suspects


def with_reviews(suspects: SuspectTasks, store: Store, run_ids: Sequence[str]) -> SuspectTasks:
    given = reviews_of_tasks(store, run_ids)
    if not given:
        return suspects
    tasks = [msgspec.structs.replace(task, review=review_of(given.get(task.case_key, ()))) for task in suspects.tasks]
    return msgspec.structs.replace(suspects, tasks=tuple(tasks))


def task_of(key: str, runs: Sequence[StoredRun], store: Store) -> SuspectTask:
    """A suspect task by its case, or any task that these runs have failed."""
    known = next((task for task in suspect_tasks(runs, store).tasks if task.case_key == key), None)
    if known is not None:
        return known
    failed = [one for stored in runs for one in failures_on(store, stored.pk, frozenset((key,))) if one.counted]
    name = case_name(runs[0].run, key)
    if not failed:
        raise NotFoundError(f"No run of the suite fails `{name}`", hint="`errata review tasks RUN` lists suspect tasks")
    first = {one.run: one.id for one in reversed(failed)}
    return SuspectTask(
        case=name,
        case_key=key,
        subjects=len(first),
        passed=0,
        attempts=len(failed),
        passes=0,
        p=1.0,
        attempt_ids=tuple(first.values())[:SUBJECTS_READ],
    )


class _RunsBySubject:
    def __init__(self, runs: Sequence[StoredRun]) -> None:
        self.by_pk = {one.pk: one for one in runs}
        self.references = {one.pk for one in runs if stand_in_of(one.run) == "reference"}
        named = {one.pk: subject_name(one.run) for one in runs if not stand_in_of(one.run)}
        self.names = tuple(sorted(set(named.values())))[:MOST_SUBJECTS]
        numbers = {name: number for number, name in enumerate(self.names)}
        self.subjects = {pk: numbers[name] for pk, name in named.items() if name in numbers}


class _TaskCounts(msgspec.Struct):
    version: Version
    category: str
    subjects: int
    passed: int
    attempts: int
    passes: int
    mask: int
    p: float = 1.0

    @property
    def is_suspect_by_counts(self) -> bool:
        return is_suspect_by_counts(self.passed, self.p, self.subjects)


@lru_cache(maxsize=4)
def _load_or_find(store: Store, versions: RunVersions) -> SuspectTasks:
    """As it was found the last time, with the first of the runs; the same for all runs of a suite."""
    if not versions:
        return SuspectTasks()
    pk, version = versions[0][0], f"{RULES}+{fingerprint(versions)}"
    data = kept_summary(store, pk, KIND, version)
    if data is not None:
        with suppress(msgspec.DecodeError):
            return _decoder.decode(data)
    suspects = _suspects(store, versions)
    with suppress(StoreError):  # a store that can only be read is examined again each time
        keep_summary(store, pk, KIND, version, msgspec.msgpack.encode(suspects))
    return suspects


_decoder = msgspec.msgpack.Decoder(SuspectTasks)


def _suspects(store: Store, versions: RunVersions) -> SuspectTasks:
    runs = _RunsBySubject([run_by_id(store, run_id) for _, run_id, _ in versions])
    if len(runs.names) < 2 and not runs.references:
        return SuspectTasks()
    suite, names = CaseCounts(), set[str]()
    categories: dict[str, CaseCounts] = {}
    apart = tasks_apart(store, tuple(sorted({*runs.references, *runs.subjects})))
    references = _tallies(store, dict.fromkeys(runs.references, 0), apart)
    reference_fails = {(tally.case, tally.task) for tally in references if not tally.passed}
    candidates, nobody = [], list[str]()
    for tally in _tallies(store, runs.subjects, apart):
        names.add(tally.case)
        suite.add(tally.measured, tally.passed)
        categories.setdefault(tally.category, CaseCounts()).add(tally.measured, tally.passed)
        if suite.is_failed_by_all(tally.measured, tally.passed):
            nobody.append(tally.case)
        if tally.passed.bit_count() <= allowed_passes(tally.measured.bit_count()):
            candidates.append(_candidate(tally))
    tried = {one.version for one in candidates}
    candidates += [
        _TaskCounts(version, "", 0, 0, 0, 0, 0)
        for version in sorted(reference_fails - tried)
        if version[0] not in names
    ]
    chosen = []
    for candidate in candidates:
        candidate.p = at_most(suite.rates(candidate.mask), candidate.passed)
        if candidate.is_suspect_by_counts:
            chosen.append(candidate)
        elif candidate.passed == 0 and (candidate.subjects > 1 or candidate.version in reference_fails):
            chosen.append(candidate)  # the counts alone are no surprise: evidence about the task is needed, too
    chosen.sort(key=lambda one: (one.version not in reference_fails, one.subjects < FEWEST, one.p, one.version))
    with store.kept_open():
        tasks = [*_with_evidence(chosen[:MOST_LISTED], runs, store, names)]
    left_over = sum(one.is_suspect_by_counts for one in chosen[MOST_LISTED:])
    tasks.sort(
        key=lambda task: (
            _STRENGTHS.index(task.strength),
            -sum(one.strength == "likely" for one in task.evidence),
            task.p,
        )
    )
    return SuspectTasks(
        suite=next((one.run.suite for one in runs.by_pk.values() if one.run.suite), ""),
        subjects=runs.names,
        cases=suite.cases,
        failed_by_all=suite.failed_by_all,
        passed_by_nobody=tuple(sorted(nobody)),
        expected=suite.expected,
        total=len(tasks) + left_over,
        tasks=tuple(tasks),
        categories=suspect_categories(categories),
    )


def _tallies(store: Store, subjects: Mapping[int, int], tasks: Tasks) -> Iterator[CaseTally]:
    if not subjects:
        return iter(())
    return case_tallies(store, subjects, tasks, not_measured=NOT_THE_CASES, faults_of_tests=FAULTS_OF_TESTS)


def _candidate(tally: CaseTally) -> _TaskCounts:
    return _TaskCounts(
        version=(tally.case, tally.task),
        category=tally.category,
        subjects=tally.measured.bit_count(),
        passed=tally.passed.bit_count(),
        attempts=tally.attempts,
        passes=tally.passes,
        mask=tally.measured,
    )


def _with_evidence(
    candidates: Sequence[_TaskCounts], runs: _RunsBySubject, store: Store, names: set[str]
) -> Iterator[SuspectTask]:
    """Tasks whose counts are no surprise, or whose subjects are too few, are listed for evidence about the task."""
    failures = _failures(candidates, runs, store)
    listed = _attempts(list(dict.fromkeys(one.version[0] for one in candidates[:MOST_READ])), runs, store)
    first = next(iter(runs.by_pk.values()))
    called = {case_name(first.run, name) for name in names}
    for at, candidate in enumerate(candidates):
        key = candidate.version[0]
        name = case_name(first.run, key)
        case, attempts = None, {}
        if at < MOST_READ:
            case = next((case for pk in runs.by_pk if (case := case_of(store, pk, key)) is not None), None)
            attempts = {name: with_texts(store, one) for name, one in listed[key].items()}
        failed = failures.get(key, {})
        evidence = evidence_against(failed, attempts, case, passed=candidate.passed, own_name=name, names=called)
        if candidate.subjects < FEWEST:
            evidence = as_doubts(evidence)
        if not evidence and not candidate.is_suspect_by_counts:
            continue
        yield SuspectTask(
            case=name,
            case_key=key,
            category=candidate.category,
            subjects=candidate.subjects,
            passed=candidate.passed,
            attempts=candidate.attempts,
            passes=candidate.passes,
            p=candidate.p,
            evidence=evidence,
            attempt_ids=tuple(every[0].attempt for every in failed.values())[:SUBJECTS_READ],
        )


def _failures(
    candidates: Sequence[_TaskCounts], runs: _RunsBySubject, store: Store
) -> dict[str, dict[str, list[SubjectFailure]]]:
    keys = sorted({one.version[0] for one in candidates})
    failures: dict[str, dict[str, list[SubjectFailure]]] = {}
    for pk, stored in runs.by_pk.items():
        subject = REFERENCE if pk in runs.references else runs.names[runs.subjects[pk]] if pk in runs.subjects else ""
        for failure in attributed_failures_on(store, pk, stored.run.id, keys) if subject else ():
            by_subject = failures.setdefault(failure.case, {})
            by_subject.setdefault(subject, []).append(SubjectFailure(failure.attempt, failure.attribution.signals))
    return failures


def _attempts(keys: Sequence[str], runs: _RunsBySubject, store: Store) -> dict[str, dict[str, Attempt]]:
    attempts: dict[str, dict[str, Attempt]] = {key: {} for key in keys}
    for pk, subject in runs.subjects.items():
        for at in range(0, len(keys), FEW):
            for attempt in failures_on(store, pk, frozenset(keys[at : at + FEW])):
                by_subject = attempts[attempt.case]
                if attempt.measurement == "scored" and len(by_subject) < SUBJECTS_READ:
                    by_subject.setdefault(runs.names[subject], attempt)
    return attempts


# --- verdicts on tasks that a run inherits when it is analysed after its tasks were reviewed


def inherit_task_verdicts(view: "RunView") -> int:
    """How many failures of the suite have a verdict on their task now; one small query where no task was reviewed."""
    store = view.store
    if not view.stored.counts.failures:
        return 0
    run_ids = [one.run.id for one in runs_beside(view.stored, store)]
    reviewed = reviews_of_tasks(store, run_ids)
    return _pass_on(reviewed, run_ids, view) if reviewed else 0


def _pass_on(reviewed: Iterable[str], run_ids: Sequence[str], view: "RunView") -> int:
    from errata.review.stored.tasks import pass_on  # noqa: PLC0415 packets are heavy, and this is rare
    from errata.runs.review_context import context_of  # noqa: PLC0415
    from errata.runs.view import RunView  # noqa: PLC0415 the view asks for this

    store = view.store

    @cache
    def context(run_id: str) -> "RunContext":
        return context_of(view if run_id == view.run.id else RunView(run_by_id(store, run_id), store))

    at = to_text(datetime.now(UTC))
    return sum(pass_on(case, context, store, run_ids, at=at) for case in reviewed)
