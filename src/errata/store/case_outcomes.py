"""How the same cases went in several runs, and cases by their names; for what only a comparison of runs shows."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import and_, case, func, or_, select

from errata.model import Attempt, Attribution, Case
from errata.model.case_versions import SEVERAL
from errata.model.cells import Cell, CellTally, result_of
from errata.model.codec import unpack
from errata.model.identity import attempt_id
from errata.store.attempts import PLACES, attempts_of, read_rows
from errata.store.case_versions import Tasks, task_of, tasks_apart
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.schema import attempts, attributions, cases

FEW = 100
"""Up to this many cases are looked up by name; beyond it, all failures of a run are read."""


class CaseOutcome(NamedTuple):
    case: str
    run_pk: int
    passed: bool
    failed: bool
    """Some counted attempt ran to its end, was measured, and failed."""
    task: str
    """Empty unless runs describe the case in ways that contradict each other."""
    described: bool
    """Whether the log has the task, its reference or its grader."""


def case_outcomes(store: Store, pks: Iterable[int]) -> Iterator[CaseOutcome]:
    numbers = sorted(pks)
    tasks = tasks_apart(store, tuple(numbers))
    passed = attempts.c.outcome.in_(("pass", "partial"))
    failed = (
        (attempts.c.outcome == "fail") & (attempts.c.execution == "completed") & (attempts.c.measurement == "scored")
    )
    same = (cases.c.run_pk == attempts.c.run_pk) & (cases.c.key == attempts.c.case_key)
    query = (
        select(
            attempts.c.case_key,
            attempts.c.run_pk,
            func.max(case((passed, 1), else_=0)).label("passed"),
            func.max(case((failed, 1), else_=0)).label("failed"),
            func.max(func.coalesce(cases.c.digest, "")).label("digest"),
        )
        .select_from(attempts.outerjoin(cases, same))
        .where(attempts.c.run_pk.in_(numbers), attempts.c.counted)
        .group_by(attempts.c.case_key, attempts.c.run_pk)
        .order_by(attempts.c.case_key, attempts.c.run_pk)
    )
    with store.reading() as connection:
        for row in connection.execute(query.execution_options(yield_per=2_000)):
            task = task_of(tasks, row.case_key, row.run_pk)
            yield CaseOutcome(row.case_key, row.run_pk, bool(row.passed), bool(row.failed), task, bool(row.digest))


class CaseTally(NamedTuple):
    case: str
    task: str
    category: str
    measured: int
    """The subjects that were measured on it, one bit each by their numbers."""
    passed: int
    attempts: int
    passes: int


MOST_SUBJECTS = 62
"""Bits of an integer."""


def case_tallies(
    store: Store,
    subjects: Mapping[int, int],
    tasks: Tasks,
    *,
    not_measured: Collection[str],
    faults_of_tests: Collection[str],
) -> Iterator[CaseTally]:
    """By case and task, without runs whose rows ask or expect different things.

    `subjects`: a run's number → its subject's, below 62.
    A failure of an owner in `not_measured` is left out, unless a signal in `faults_of_tests` decided its owner.
    """
    passed = or_(attempts.c.outcome == "pass", and_(attempts.c.outcome == "partial", ~attempts.c.failure))
    refused = attempts.c.failure & attempts.c.outcome.in_(("fail", "partial")) & (attempts.c.measurement == "scored")
    of_the_case = or_(
        and_(
            attempts.c.execution == "completed",
            func.coalesce(attributions.c.owner, "").not_in(list(not_measured)),
        ),
        attributions.c.decided_by.in_(list(faults_of_tests)),
    )
    same_case = (cases.c.run_pk == attempts.c.run_pk) & (cases.c.key == attempts.c.case_key)
    same_attempt = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    by_run = (attempts.c.case_key, attempts.c.run_pk)
    facts = (func.max(func.coalesce(cases.c.category, "")), func.count(), func.sum(case((passed, 1), else_=0)))
    query = (
        select(*by_run, *facts)
        .select_from(attempts.outerjoin(cases, same_case).outerjoin(attributions, same_attempt))
        .where(attempts.c.run_pk.in_(list(subjects)), attempts.c.counted, or_(passed, and_(refused, of_the_case)))
        .group_by(*by_run)
        .order_by(*by_run)
    )
    with store.reading() as connection:
        rows = connection.execute(query.execution_options(yield_per=2_000))
        for key, of_case in groupby(rows, key=itemgetter(0)):
            by_task: dict[str, CaseTally] = {}
            for _, pk, category, made, passes in of_case:
                task = task_of(tasks, key, pk)
                old, bit = by_task.get(task) or CaseTally(key, task, "", 0, 0, 0, 0), 1 << subjects[pk]
                masks = (old.measured | bit, old.passed | (bit if passes else 0))
                by_task[task] = CaseTally(
                    key, task, max(old.category, category), *masks, old.attempts + made, old.passes + passes
                )
            yield from (tally for task, tally in by_task.items() if not task.startswith(SEVERAL))


class AttributedFailure(NamedTuple):
    case: str
    attempt: str
    attribution: Attribution


def attributed_failures_on(store: Store, pk: int, run_id: str, keys: Iterable[str]) -> Iterator[AttributedFailure]:
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    columns = (attempts.c.case_key, attempts.c.session, attempts.c.number, attempts.c.path, attributions.c.record)
    for some in chunks(keys):
        query = select(*columns).select_from(attempts.join(attributions, same)).order_by(attempts.c.seq)
        query = query.where(attempts.c.run_pk == pk, attempts.c.counted, attempts.c.case_key.in_(some))
        with store.reading() as connection:
            rows = connection.execute(query).all()
        for row in rows:
            made = attempt_id(run_id, row.case_key, session=row.session, index=row.number, path=row.path)
            yield AttributedFailure(row.case_key, made, unpack(row.record, Attribution))


class PassedIn(NamedTuple):
    """How a task went in the runs that measured it; an edited task is another one."""

    first: int | None
    only: int | None


def passes_of_tasks(store: Store, pks: tuple[int, ...], tasks: Tasks) -> dict[int, PassedIn]:
    """By the hash of case and task, since a suite may have a million cases; one query for all its runs."""
    by_run = (attempts.c.case_key, attempts.c.run_pk)
    query = select(*by_run, func.max(case((attempts.c.outcome == "pass", 1), else_=0))).group_by(*by_run)
    query = query.where(attempts.c.run_pk.in_(pks), attempts.c.counted, attempts.c.measurement == "scored")
    known: dict[PassedIn, PassedIn] = {}
    tallies: dict[int, PassedIn] = {}
    with store.reading() as connection:
        for key, pk, passed in connection.execute(query.order_by(*by_run).execution_options(yield_per=2_000)):
            task = hash((key, task_of(tasks, key, pk)))
            before = tallies.get(task)
            first = before.first if before else None
            passes = PassedIn(pk if first is None and passed else first, None if before else pk)
            tallies[task] = known.setdefault(passes, passes)
    return tallies


def failed_tasks(store: Store, pk: int, tasks: Tasks) -> Iterator[tuple[str, str]]:
    """Case and task of what a run failed, without cases whose rows ask or expect different things."""
    query = select(attempts.c.case_key).where(attempts.c.run_pk == pk, attempts.c.failure).distinct()
    with store.reading() as connection:
        for key in connection.execute(query.execution_options(yield_per=2_000)).scalars():
            if not (task := task_of(tasks, key, pk)).startswith(SEVERAL):
                yield key, task


def last_attempts(store: Store, pk: int) -> dict[str, int]:
    query = (
        select(attempts.c.case_key, func.max(attempts.c.number))
        .where(attempts.c.run_pk == pk, attempts.c.counted)
        .group_by(attempts.c.case_key)
    )
    with store.reading() as connection:
        return {key: int(number) for key, number in connection.execute(query)}


def cases_named(store: Store, pk: int, keys: Iterable[str]) -> Iterator[Case]:
    for some in chunks(keys):
        with store.reading() as connection:
            query = select(cases.c.record).where(cases.c.run_pk == pk, cases.c.key.in_(some))
            yield from [unpack(row.record, Case) for row in connection.execute(query)]


def failures_on(store: Store, pk: int, keys: frozenset[str]) -> Iterator[Attempt]:
    """The failures of a run on some of its cases, without transcripts and the texts of files."""
    if len(keys) <= FEW:
        query = select(*PLACES).where(attempts.c.run_pk == pk, attempts.c.failure)
        # sorted here: asked for an order, SQLite walks through the whole run instead of the index by case
        rows = read_rows(store, pk, query.where(attempts.c.case_key.in_(sorted(keys))), steps=False)
        yield from (attempt for _, attempt in sorted(rows, key=lambda pair: pair[0].seq))
    else:
        yield from (attempt for attempt in attempts_of(store, pk, failures=True) if attempt.case in keys)


# --- how every case went in each of several runs: one query over the narrow table, no block is opened for what passed


Key = tuple[int, str]


def cells_of(store: Store, pks: Collection[int]) -> list[Cell]:
    """One for each run and each case with a counted attempt, in no order."""
    tallies: dict[Key, CellTally] = {}
    results: dict[tuple[Any, ...], int] = {}
    with store.reading() as connection:
        for pk, key, *facts, often, position, numbers, total in connection.execute(_query(pks)):
            execution, measurement, outcome, failure = known = tuple(facts)
            result = results.get(known)
            if result is None:
                result = results[known] = result_of(execution, measurement, outcome, is_failure=failure)
            tally = tallies.get((pk, key))
            if tally is None:
                tally = tallies[pk, key] = CellTally()
            tally.add(result, often, position, (numbers, total or 0.0))
    _count_followers(tallies, store, pks)
    repeated = {pk: _repeats(store, pk) for pk in {pk for (pk, _), tally in tallies.items() if tally.is_mixed}}
    return [tally.cell(pk, key, is_repeated=repeated.get(pk, False)) for (pk, key), tally in tallies.items()]


def values_of(store: Store, pk: int, *, first: int, limit: int, highest: bool) -> tuple[int, dict[str, float]]:
    """How many cases have a number, and that of some: from the lowest on, or from the highest."""
    key, number = attempts.c.case_key, attempts.c.value
    value = func.avg(func.coalesce(number, case({"pass": 1.0, "fail": 0.0}, value=attempts.c.outcome)))
    query = select(key, value.label("mean")).where(attempts.c.run_pk == pk, attempts.c.counted).group_by(key)
    means = query.having(func.count(number) > 0).subquery()
    order = (means.c.mean.desc() if highest else means.c.mean, means.c.case_key)
    with store.reading() as connection:
        total = connection.execute(select(func.count()).select_from(means)).scalar_one()
        chosen = connection.execute(select(means).order_by(*order).limit(limit).offset(first)).all()
    return total, {mean.case_key: mean.mean for mean in chosen}


def _query(pks: Collection[int]) -> Any:
    case = (attempts.c.run_pk, attempts.c.case_key)
    facts = (attempts.c.execution, attempts.c.measurement, attempts.c.outcome, attempts.c.failure)
    query = select(
        *case,
        *facts,
        func.count(),
        func.min(attempts.c.position),
        func.count(attempts.c.value),
        func.sum(attempts.c.value),
    )
    return query.where(attempts.c.run_pk.in_(list(pks)), attempts.c.counted).group_by(*case, *facts)


def _count_followers(tallies: dict[Key, CellTally], store: Store, pks: Collection[int]) -> None:
    query = select(attributions.c.run_pk, attributions.c.seq).where(attributions.c.owner == "collateral")
    by_run: dict[int, list[int]] = {}
    with store.reading() as connection:
        for pk, seq in connection.execute(query.where(attributions.c.run_pk.in_(list(pks)))):
            by_run.setdefault(pk, []).append(seq)
        for pk, seqs in by_run.items():
            for some in chunks(seqs):
                named = select(attempts.c.case_key).where(attempts.c.run_pk == pk, attempts.c.seq.in_(some))
                for (key,) in connection.execute(named.where(attempts.c.counted)):
                    tallies[pk, key].follows += 1


def _repeats(store: Store, pk: int) -> bool:
    """Whether a run tries its cases several times; several rows of one and the same try do not make it so."""
    again = select(*PLACES).where(attempts.c.run_pk == pk, attempts.c.counted, attempts.c.number > 1)
    rows = read_rows(store, pk, again.order_by(attempts.c.seq), steps=False)
    return any(attempt.duplicate_of is None for _, attempt in rows)
