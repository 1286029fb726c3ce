"""How every case went in each of several runs: one query over the narrow table, no block is opened for what passed."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, and_, case, distinct, func, or_, select

from errata.model.counts import Cell, CellState
from errata.store.attempts import PLACES, read_rows
from errata.store.case_versions import SEVERAL, keys_with_versions
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import attempts, attributions, cases, checks

# the result of an attempt; of several failed attempts the smallest number is the most informative
_FAILED: tuple[CellState, ...] = ("failed", "partial", "limit", "error", "cancelled")
_UNDECIDED: tuple[CellState, ...] = ("partial", "unscored", "missing")
_STATES: tuple[CellState, ...] = (*_FAILED, *_UNDECIDED, "passed")
_PASSED = len(_STATES) - 1

Key = tuple[int, str]
"""A run's number and a case."""


def cells_of(store: Store, pks: Collection[int]) -> list[Cell]:
    """One for each run and each case with a counted attempt, in no order."""
    followers = _followers(store, pks)
    contradicting: dict[int, bool] = {}
    cells = []
    with store.reading() as connection:
        for pk, key, tried, code, passes, fails, position in connection.execute(_query(pks)):
            state: CellState = _STATES[code]
            if passes and fails:
                if pk not in contradicting:
                    contradicting[pk] = not _repeats(store, pk)
                state = "contradictory" if contradicting[pk] else "mixed"
            elif passes:
                state = "passed"
            elif followers and fails and followers.get((pk, key)) == fails:
                state = "follows"
            cells.append(Cell(pk, key, state, tried, passes, fails, position))
    return cells


def failed_checks_by_case(store: Store, pks: Collection[int]) -> Iterator[tuple[int, str, str, int]]:
    """Run, case, check, and in how many of its counted attempts that failed."""
    same = (attempts.c.run_pk == checks.c.run_pk) & (attempts.c.seq == checks.c.seq)
    query = select(checks.c.run_pk, attempts.c.case_key, checks.c.name, func.count(distinct(checks.c.seq)))
    query = query.select_from(checks.join(attempts, same)).where(checks.c.status == "fail", attempts.c.counted)
    query = query.where(checks.c.run_pk.in_(list(pks)))
    with store.reading() as connection:
        for row in connection.execute(query.group_by(checks.c.run_pk, attempts.c.case_key, checks.c.name)):
            yield row[0], row[1], row[2], row[3]


def digests_of(store: Store, pks: Iterable[int]) -> dict[int, dict[str, str]]:
    """Run → case → the digest of its task, where the log has the task.

    Where the rows of a case differ, it is one that no other run has.
    """
    digests: dict[int, dict[str, str]] = {pk: {} for pk in pks}
    query = select(cases.c.run_pk, cases.c.key, cases.c.digest).where(cases.c.digest != "")
    with store.reading() as connection:
        for pk, key, digest in connection.execute(query.where(cases.c.run_pk.in_(list(digests)))):
            digests[pk][key] = digest
    for pk, key in keys_with_versions(store, list(digests)):
        digests[pk][key] = f"{SEVERAL} of run {pk}"
    return digests


def _query(pks: Collection[int]) -> Any:
    coded = (
        select(attempts.c.run_pk, attempts.c.case_key, attempts.c.position, _code().label("code"))
        .where(attempts.c.run_pk.in_(list(pks)), attempts.c.counted)
        .subquery()
    )
    passes = func.sum(case((coded.c.code == _PASSED, 1), else_=0))
    fails = func.sum(case((coded.c.code < len(_FAILED), 1), else_=0))
    first = (func.min(coded.c.code), passes, fails, func.min(coded.c.position))
    return select(*(key := (coded.c.run_pk, coded.c.case_key)), func.count(), *first).group_by(*key)


def _code() -> ColumnElement[int]:
    """An outcome decides; without one, what kept the attempt from having any."""
    execution, outcome = attempts.c.execution, attempts.c.outcome
    no_verdict = attempts.c.measurement.in_(("unscored", "error"))
    undecided = len(_FAILED)
    return case(
        (outcome == "pass", _PASSED),
        (outcome == "fail", 0),
        (and_(outcome == "partial", attempts.c.failure), 1),
        (outcome == "partial", undecided),
        (execution.in_(("missing", "unfinished", "skipped")), undecided + 2),
        (or_(no_verdict, execution == "completed"), undecided + 1),
        (execution == "limit", 2),
        (execution == "error", 3),
        else_=4,
    )


def _followers(store: Store, pks: Collection[int]) -> Counter[Key]:
    """How many attempts of a case only follow from another failure."""
    query = select(attributions.c.run_pk, attributions.c.seq).where(attributions.c.owner == "collateral")
    by_run: dict[int, list[int]] = {}
    counts: Counter[Key] = Counter()
    with store.reading() as connection:
        for pk, seq in connection.execute(query.where(attributions.c.run_pk.in_(list(pks)))):
            by_run.setdefault(pk, []).append(seq)
        for pk, seqs in by_run.items():
            for some in chunks(seqs):
                named = select(attempts.c.case_key).where(attempts.c.run_pk == pk, attempts.c.seq.in_(some))
                counts.update((pk, key) for (key,) in connection.execute(named.where(attempts.c.counted)))
    return counts


def _repeats(store: Store, pk: int) -> bool:
    """Whether a run tries its cases several times; several rows of one and the same try do not make it so."""
    again = select(*PLACES).where(attempts.c.run_pk == pk, attempts.c.counted, attempts.c.number > 1)
    rows = read_rows(store, pk, again.order_by(attempts.c.seq), steps=False)
    return any(attempt.duplicate_of is None for _, attempt in rows)
