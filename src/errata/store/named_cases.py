"""Cases by what people call them, in whatever run, and how they went wherever they were tried."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Select, case, func, or_, select

from errata.model import Attribution, FailureKey
from errata.model.codec import unpack
from errata.model.identity import split_attempt_id
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.schema import attempts, attributions, bucket_members, buckets, exclusions, runs


class Tried(NamedTuple):
    """How a case went in a run."""

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
    """Run, case and failure key of each attributed failure of these cases."""
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    query = select(attempts.c.run_pk, attempts.c.case_key, attributions.c.record)
    query = query.select_from(attempts.join(attributions, same)).where(attempts.c.counted)
    query = query.where(attempts.c.run_pk.in_(list(pks)))
    with store.reading() as connection:
        for some in chunks(list(dict.fromkeys(keys))):
            for row in connection.execute(query.where(attempts.c.case_key.in_(some))):
                yield row.run_pk, row.case_key, unpack(row.record, Attribution).failure_key


def cases_failed_by(store: Store, pks: Iterable[int], owners: Iterable[str]) -> set[tuple[int, str]]:
    """Run and case where every attributed failure is one of these owners'."""
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    others = func.sum(case((attributions.c.owner.in_(list(owners)), 0), else_=1))
    query = select(attempts.c.run_pk, attempts.c.case_key).select_from(attempts.join(attributions, same))
    query = query.where(attempts.c.counted, attempts.c.run_pk.in_(list(pks)))
    with store.reading() as connection:
        rows = connection.execute(query.group_by(attempts.c.run_pk, attempts.c.case_key).having(others == 0))
        return {(row.run_pk, row.case_key) for row in rows}


def cases_ending(store: Store, name: str, *, suite: str = "", pk: int | None = None) -> list[str]:
    """The keys of the cases of that name or with that ending: of one run, of one suite, of all."""
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
    """Case → the suites of the runs that tried it."""
    names: dict[str, set[str]] = {}
    query = select(attempts.c.case_key, runs.c.suite).join(runs, runs.c.pk == attempts.c.run_pk).distinct()
    with store.reading() as connection:
        for some in chunks(list(keys)):
            for row in connection.execute(query.where(runs.c.state == "current", attempts.c.case_key.in_(some))):
                names.setdefault(row.case_key, set()).add(row.suite)
    return names


def bucket_cases(store: Store, slugs: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """Slug → the cases of the bucket's members; of all buckets where none is named."""
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
