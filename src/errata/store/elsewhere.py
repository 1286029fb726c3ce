"""How other runs did on a case, and what was thought of it there."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Select, select, tuple_

from errata.model import Verdict
from errata.model.codec import unpack
from errata.model.identity import attempt_id
from errata.model.standing import without_withdrawn
from errata.store.case_versions import SEVERAL, keys_with_versions
from errata.store.database import Store
from errata.store.schema import attempts, cases, checks, exclusions, runs, verdicts

FEW = 500
"""Values that one query names."""
RUNS = 200
"""Other runs that are looked at, the newest ones."""

T = TypeVar("T")


class Elsewhere(NamedTuple):
    """How another run did on a case."""

    run_id: str
    run: str
    model: str
    started_at: str
    attempt: str
    execution: str
    outcome: str
    digest: str
    """Of the case as that run had it."""
    pk: int
    seq: int


def elsewhere(store: Store, suite: str, run_id: str, keys: Collection[str]) -> dict[str, list[Elsewhere]]:
    """Case → the last counted attempt of each other run of the suite that is not excluded, the newest run first."""
    with store.reading() as connection:
        others = {row.pk: row for row in connection.execute(_other_runs(suite, run_id))}
        order = {pk: place for place, pk in enumerate(others)}
        several = keys_with_versions(store, list(others))
        by_case: dict[str, dict[int, Elsewhere]] = {key: {} for key in keys}
        for row in _tried(connection, list(others), keys):
            run = others[row.run_pk]
            made = attempt_id(run.run_id, row.case_key, session=row.session, index=row.number, path=row.path)
            fields = (run.run_id, run.native_id, run.model, run.started_at or "", made, row.execution, row.outcome)
            digest = SEVERAL if (row.run_pk, row.case_key) in several else row.digest or ""
            by_case[row.case_key][row.run_pk] = Elsewhere(*fields, digest, row.run_pk, row.seq)
    return {key: sorted(by_run.values(), key=lambda one: order[one.pk]) for key, by_run in by_case.items()}


def failed_checks_of(store: Store, tries: Iterable[Elsewhere]) -> dict[tuple[int, int], list[str]]:
    """By run and attempt: the names of what failed, also of what does not count."""
    wanted = [(one.pk, one.seq) for one in tries]
    by_place: dict[tuple[int, int], list[str]] = {}
    with store.reading() as connection:
        for some in chunks(wanted):
            query = select(checks.c.run_pk, checks.c.seq, checks.c.name).where(checks.c.status == "fail")
            query = query.where(tuple_(checks.c.run_pk, checks.c.seq).in_(some))
            for row in connection.execute(query.order_by(checks.c.run_pk, checks.c.seq, checks.c.place)):
                by_place.setdefault((row.run_pk, row.seq), []).append(row.name)
    return by_place


def verdicts_on(store: Store, tries: Iterable[Elsewhere]) -> dict[str, list[Verdict]]:
    """By attempt, oldest first."""
    by_run: dict[str, list[str]] = {}
    for tried in tries:
        by_run.setdefault(tried.run_id, []).append(tried.attempt)
    by_attempt: dict[str, list[Verdict]] = {}
    with store.reading() as connection:
        query = select(verdicts.c.run_id).where(verdicts.c.run_id.in_(list(by_run)[:FEW])).distinct()
        reviewed = [row.run_id for row in connection.execute(query)]
        wanted = [attempt for run_id in reviewed for attempt in by_run[run_id]]
        for some in chunks(wanted):
            query = select(verdicts.c.record).where(verdicts.c.run_id.in_(reviewed), verdicts.c.attempt_id.in_(some))
            for row in connection.execute(query.order_by(verdicts.c.at, verdicts.c.id)):
                verdict = unpack(row.record, Verdict)
                by_attempt.setdefault(verdict.attempt, []).append(verdict)
    return {attempt: left for attempt, given in by_attempt.items() if (left := without_withdrawn(given))}


def _other_runs(suite: str, run_id: str) -> Select[Any]:
    joined = runs.outerjoin(exclusions, runs.c.run_id == exclusions.c.run_id)
    query = select(runs.c.pk, runs.c.run_id, runs.c.native_id, runs.c.model, runs.c.started_at).select_from(joined)
    query = query.where(runs.c.state == "current", runs.c.suite == suite, runs.c.run_id != run_id)
    return (
        query.where(exclusions.c.run_id.is_(None))
        .order_by(runs.c.started_at.desc().nulls_last(), runs.c.pk.desc())
        .limit(RUNS)
    )


def _tried(connection: Connection, pks: list[int], keys: Collection[str]) -> Iterator[Any]:
    columns = (attempts.c.run_pk, attempts.c.seq, attempts.c.case_key, attempts.c.session, attempts.c.number)
    facts = (attempts.c.path, attempts.c.execution, attempts.c.outcome, cases.c.digest)
    same = (cases.c.run_pk == attempts.c.run_pk) & (cases.c.key == attempts.c.case_key)
    query = select(*columns, *facts).select_from(attempts.outerjoin(cases, same)).where(attempts.c.counted)
    query = query.where(attempts.c.run_pk.in_(pks), attempts.c.case_key.in_(list(keys)))
    yield from connection.execute(query.order_by(attempts.c.run_pk, attempts.c.seq)) if pks else ()


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[at : at + FEW] for at in range(0, len(values), FEW))
