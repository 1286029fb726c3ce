"""How other runs did on a case, and what was thought of it there."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, case, func, or_, select, tuple_

from errata.model import Attribution, FailureKey, StoredRun, Verdict
from errata.model.codec import unpack
from errata.model.identity import attempt_id, split_attempt_id
from errata.model.standing import without_withdrawn
from errata.store.database import Store
from errata.store.engine import FEW, chunks
from errata.store.same_work import beside
from errata.store.schema import (
    attempts,
    attributions,
    bucket_members,
    buckets,
    checks,
    exclusions,
    runs,
    verdicts,
)

RUNS = 200


class Elsewhere(NamedTuple):
    run_id: str
    run: str
    model: str
    started_at: str
    attempt: str
    execution: str
    outcome: str
    pk: int
    seq: int


def elsewhere(store: Store, stored: StoredRun, keys: Collection[str]) -> dict[str, list[Elsewhere]]:
    """Case → the last counted attempt of each other run of the suite that is not excluded, the newest run first."""
    known = [other for other in beside(stored, store) if other.pk != stored.pk and other.run.excluded is None]
    others = {other.pk: other.run for other in known[:RUNS]}
    order = {pk: place for place, pk in enumerate(others)}
    by_case: dict[str, dict[int, Elsewhere]] = {key: {} for key in keys}
    with store.reading() as connection:
        for row in _tried(connection, list(others), keys):
            run = others[row.run_pk]
            made = attempt_id(run.id, row.case_key, session=row.session, index=row.number, path=row.path)
            fields = (run.id, run.native_id, run.subject.model, run.started_at or "", made, row.execution, row.outcome)
            by_case[row.case_key][row.run_pk] = Elsewhere(*fields, row.run_pk, row.seq)
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


def _tried(connection: Connection, pks: list[int], keys: Collection[str]) -> Iterator[Any]:
    columns = (attempts.c.run_pk, attempts.c.seq, attempts.c.case_key, attempts.c.session, attempts.c.number)
    facts = (attempts.c.path, attempts.c.execution, attempts.c.outcome)
    query = select(*columns, *facts).where(attempts.c.counted)
    query = query.where(attempts.c.run_pk.in_(pks), attempts.c.case_key.in_(list(keys)))
    yield from connection.execute(query.order_by(attempts.c.run_pk, attempts.c.seq)) if pks else ()


# --- cases by what people call them, in whatever run, and how they went wherever they were tried


class Tried(NamedTuple):
    run_id: str
    case: str
    passed: bool
    failed: bool
    """Measured, and not passed."""
    is_failure: bool
    """Failed, measured or not: through the provider, too."""


def tries_of(store: Store, keys: Iterable[str]) -> Iterator[Tried]:
    """In every run that is not excluded."""
    query = _tries()
    with store.reading() as connection:
        for some in chunks(list(dict.fromkeys(keys))):
            for row in connection.execute(query.where(attempts.c.case_key.in_(some))):
                yield Tried(row.run_id, row.case_key, bool(row.passed), bool(row.failed), bool(row.is_failure))


def _tries() -> Select[Any]:
    """What a signal calls broken was not measured."""
    broken = func.coalesce(attributions.c.breaks, False)
    carried_out = attempts.c.execution.in_(("completed", "limit"))
    measured = carried_out & (attempts.c.measurement == "scored") & ~broken
    passed = measured & ~attempts.c.failure & attempts.c.outcome.in_(("pass", "partial"))
    rows = (
        func.max(case((passed, 1), else_=0)).label("passed"),
        func.max(case((measured & attempts.c.failure, 1), else_=0)).label("failed"),
        func.max(case((attempts.c.failure, 1), else_=0)).label("is_failure"),
    )
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    joined = attempts.join(runs, runs.c.pk == attempts.c.run_pk).outerjoin(attributions, same)
    joined = joined.outerjoin(exclusions, exclusions.c.run_id == runs.c.run_id)
    query = select(runs.c.run_id, attempts.c.case_key, *rows).select_from(joined)
    query = query.where(runs.c.state == "current", attempts.c.counted, exclusions.c.run_id.is_(None))
    return query.group_by(runs.c.run_id, attempts.c.case_key)


def failure_keys_of(store: Store, pks: Iterable[int], keys: Iterable[str]) -> Iterator[tuple[int, str, FailureKey]]:
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    query = select(attempts.c.run_pk, attempts.c.case_key, attributions.c.record)
    query = query.select_from(attempts.join(attributions, same)).where(attempts.c.counted)
    query = query.where(attempts.c.run_pk.in_(list(pks)))
    with store.reading() as connection:
        for some in chunks(list(dict.fromkeys(keys))):
            for row in connection.execute(query.where(attempts.c.case_key.in_(some))):
                yield row.run_pk, row.case_key, unpack(row.record, Attribution).failure_key


def cases_failed_by(store: Store, pks: Iterable[int], owners: Iterable[str]) -> set[tuple[int, str]]:
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    others = func.sum(case((attributions.c.owner.in_(list(owners)), 0), else_=1))
    query = select(attempts.c.run_pk, attempts.c.case_key).select_from(attempts.join(attributions, same))
    query = query.where(attempts.c.counted, attempts.c.run_pk.in_(list(pks)))
    with store.reading() as connection:
        rows = connection.execute(query.group_by(attempts.c.run_pk, attempts.c.case_key).having(others == 0))
        return {(row.run_pk, row.case_key) for row in rows}


def cases_ending(store: Store, name: str, *, suite: str = "", pk: int | None = None) -> list[str]:
    ending = attempts.c.case_key.iendswith(f"/{name}", autoescape=True)
    return _keys(store, or_(attempts.c.case_key == name, ending), suite, pk)


def case_keys(store: Store, *, suite: str = "", pk: int | None = None) -> list[str]:
    return _keys(store, attempts.c.counted, suite, pk)


def _keys(store: Store, wanted: Any, suite: str, pk: int | None) -> list[str]:
    query = select(attempts.c.case_key).join(runs, runs.c.pk == attempts.c.run_pk).distinct()
    query = query.where(runs.c.state == "current", wanted).order_by(attempts.c.case_key)
    query = query.where(runs.c.suite == suite) if suite else query
    with store.reading() as connection:
        rows = connection.execute(query.where(runs.c.pk == pk) if pk is not None else query)
        return [row.case_key for row in rows]


def suites_of(store: Store, keys: Iterable[str]) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    query = select(attempts.c.case_key, runs.c.suite).join(runs, runs.c.pk == attempts.c.run_pk).distinct()
    with store.reading() as connection:
        for some in chunks(list(keys)):
            for row in connection.execute(query.where(runs.c.state == "current", attempts.c.case_key.in_(some))):
                names.setdefault(row.case_key, set()).add(row.suite)
    return names


def bucket_cases(store: Store, slugs: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    named = list(slugs)
    joined = buckets.outerjoin(bucket_members, bucket_members.c.bucket == buckets.c.id)
    query = select(buckets.c.slug, bucket_members.c.attempt_id).select_from(joined).where(~buckets.c.gone)
    names: dict[str, dict[str, None]] = {}
    with store.reading() as connection:
        for row in connection.execute(query.where(buckets.c.slug.in_(named)) if named else query):
            cases = names.setdefault(row.slug, {})
            if row.attempt_id:
                cases[split_attempt_id(row.attempt_id).case] = None
    return {slug: tuple(cases) for slug, cases in names.items()}
