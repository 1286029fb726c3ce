"""How the same cases went in several runs, and cases by their names; for what only a comparison of runs shows."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from sqlalchemy import case, exists, func, select

from errata.model import Attempt, Case
from errata.model.codec import unpack
from errata.store.attempts import attempts_of
from errata.store.case_versions import SEVERAL, keys_with_versions
from errata.store.database import Store
from errata.store.schema import attempts, case_versions, cases

CHUNK = 500
FEW = 100
"""Up to this many cases are looked up one by one; beyond it, all failures of a run are read."""


class CaseOutcome(NamedTuple):
    case: str
    run_pk: int
    passed: bool
    """Some counted attempt passed, if only in part."""
    failed: bool
    """Some counted attempt ran to its end, was measured, and failed."""
    digest: str
    """Of the task, its reference and its grader; empty where the log has none of them."""


def case_outcomes(store: Store, pks: Iterable[int]) -> Iterator[CaseOutcome]:
    """Of every case in each of the runs, those of one case together.

    A case whose rows differ within a run equals that of no other run.
    """
    numbers = list(pks)
    several = keys_with_versions(store, numbers)
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
            own = (row.run_pk, row.case_key) in several
            digest = f"{SEVERAL} of run {row.run_pk}" if own else row.digest
            yield CaseOutcome(row.case_key, row.run_pk, bool(row.passed), bool(row.failed), digest)


class TriedElsewhere(NamedTuple):
    """A case that a run failed, and how it went in the other runs or in other attempts of the same run."""

    case: str
    passed_in: int | None
    """A run with an attempt that passed; none where nobody passed."""


def tried_elsewhere(store: Store, pk: int, others: Iterable[int]) -> Iterator[TriedElsewhere]:
    """Only where the task, its reference and its grader were the same."""
    own, theirs = cases.alias(), cases.alias()
    failed = select(attempts.c.case_key).where(attempts.c.run_pk == pk, attempts.c.failure).distinct().subquery()
    passed_in = func.min(case((attempts.c.outcome == "pass", attempts.c.run_pk))).label("passed_in")
    query = (
        select(attempts.c.case_key, passed_in)
        .select_from(
            attempts.join(failed, failed.c.case_key == attempts.c.case_key)
            .outerjoin(own, (own.c.run_pk == pk) & (own.c.key == attempts.c.case_key))
            .outerjoin(theirs, (theirs.c.run_pk == attempts.c.run_pk) & (theirs.c.key == attempts.c.case_key))
        )
        .where(
            attempts.c.run_pk.in_([pk, *others]),
            attempts.c.counted,
            attempts.c.measurement == "scored",
            (attempts.c.run_pk != pk) | (attempts.c.outcome == "pass"),
            func.coalesce(own.c.digest, "") == func.coalesce(theirs.c.digest, ""),
            ~exists().where(case_versions.c.run_pk == attempts.c.run_pk, case_versions.c.key == attempts.c.case_key),
            ~exists().where(case_versions.c.run_pk == pk, case_versions.c.key == attempts.c.case_key),
        )
        .group_by(attempts.c.case_key)
    )
    with store.reading() as connection:
        for row in connection.execute(query.execution_options(yield_per=2_000)):
            yield TriedElsewhere(row.case_key, row.passed_in)


def cases_named(store: Store, pk: int, keys: Iterable[str]) -> Iterator[Case]:
    """Those cases of a run that have these keys, without the texts of their files."""
    rest = iter(keys)
    while chunk := list(islice(rest, CHUNK)):
        with store.reading() as connection:
            query = select(cases.c.record).where(cases.c.run_pk == pk, cases.c.key.in_(chunk))
            yield from [unpack(row.record, Case) for row in connection.execute(query)]


def failures_on(store: Store, pk: int, keys: frozenset[str]) -> Iterator[Attempt]:
    """The failures of a run on some of its cases, without transcripts and the texts of files."""
    if len(keys) <= FEW:
        for key in sorted(keys):
            yield from attempts_of(store, pk, failures=True, case=key)
    else:
        yield from (attempt for attempt in attempts_of(store, pk, failures=True) if attempt.case in keys)
