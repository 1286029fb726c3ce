"""What packets are made of, read a few failures at a time: no transaction stays open while somebody reviews them."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

import msgspec
from sqlalchemy import Connection, Select, or_, select

from errata.model import Attempt, Attribution, Case
from errata.model.attempt import ListedFailure
from errata.model.codec import unpack
from errata.model.identity import AttemptParts, attempt_id
from errata.store import engine
from errata.store.attempts import FETCH, PLACES, file_texts, filled, read_rows
from errata.store.case_versions import version_record
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.schema import attempts, attributions, bucket_members, cases, checks

KIN = 60
T = TypeVar("T", Attempt, Case)


class Loaded(NamedTuple):
    attempt: Attempt
    case: Case | None
    attribution: Attribution | None


def listed_failures(store: Store, pk: int, run_id: str, *, failed_check: str = "") -> Iterator[ListedFailure]:
    """In the order of the conversation or suite, else of the log."""
    columns = (attempts.c.seq, attempts.c.case_key, attempts.c.session, attempts.c.number, attempts.c.path)
    facts = (attempts.c.execution, attempts.c.measurement, attempts.c.outcome)
    same_attempt = (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq)
    query = select(*columns, *facts, attributions.c.owner).select_from(attempts.outerjoin(attributions, same_attempt))
    query = query.where(attempts.c.run_pk == pk, attempts.c.failure)
    if failed_check:
        same = (checks.c.run_pk == attempts.c.run_pk) & (checks.c.seq == attempts.c.seq)
        failed = select(checks.c.seq).where(same, checks.c.name == failed_check, checks.c.status == "fail")
        query = query.where(failed.exists())
    query = query.order_by(attempts.c.position.nulls_first(), attempts.c.seq).execution_options(yield_per=FETCH)
    with store.reading() as connection:
        for row in connection.execute(query):
            made = attempt_id(run_id, row.case_key, session=row.session, index=row.number, path=row.path)
            yield ListedFailure(row.seq, row.case_key, made, row.execution, row.measurement, row.outcome, row.owner)


def number_of(store: Store, pk: int, parts: AttemptParts) -> int | None:
    """The number of an attempt in its run, failure or not; none where the run has no such attempt."""
    query = select(attempts.c.seq).where(attempts.c.run_pk == pk, attempts.c.case_key == parts.case)
    same = (attempts.c.number == parts.index) & (attempts.c.path == parts.path)
    query = query.where(same, attempts.c.session.is_not_distinct_from(parts.session))
    with store.reading() as connection:
        return connection.execute(query).scalar()


def loaded(store: Store, pk: int, seqs: Sequence[int]) -> list[Loaded]:
    """In the order asked for; fewer where the run was replaced meanwhile."""
    numbered = _numbered(store, pk, seqs, steps=True)
    with store.reading() as connection:
        records = _attributions(connection, pk, seqs)
        known = _cases(connection, pk, numbered.values())
        files = [attempt.artefacts for attempt in numbered.values()] + [case.artefacts for case in known.values()]
        texts = file_texts(connection, chain.from_iterable(files))
    described = {key: _filled(case, texts) for key, case in known.items()}
    return [
        Loaded(_filled(attempt, texts), described.get((attempt.case, attempt.case_version)), records.get(seq))
        for seq in seqs
        if (attempt := numbered.get(seq)) is not None
    ]


def attributed_at(store: Store, pk: int, seqs: Sequence[int]) -> dict[int, tuple[Attempt, Attribution | None]]:
    numbered = _numbered(store, pk, seqs)
    with store.reading() as connection:
        records = _attributions(connection, pk, seqs)
    return {seq: (attempt, records.get(seq)) for seq, attempt in numbered.items()}


def turns_between(store: Store, pk: int, first: int, last: int) -> list[Attempt]:
    query = select(*PLACES).where(attempts.c.run_pk == pk, attempts.c.counted)
    query = query.where(attempts.c.position >= first, attempts.c.position <= last)
    query = query.order_by(attempts.c.position, attempts.c.seq)
    return [attempt for _, attempt in read_rows(store, pk, query, steps=True)]


def attempts_at(store: Store, pk: int, keys: Collection[str]) -> dict[str, list[Attempt]]:
    query = select(attempts.c.seq, attempts.c.case_key)
    query = query.where(attempts.c.run_pk == pk, attempts.c.case_key.in_(list(keys))).order_by(attempts.c.seq)
    chosen: dict[str, list[int]] = {key: [] for key in keys}
    with store.reading() as connection:
        for row in connection.execute(query.execution_options(yield_per=FETCH)):
            if len(chosen[row.case_key]) <= KIN:
                chosen[row.case_key].append(row.seq)
    seqs = sorted(seq for some in chosen.values() for seq in some)
    numbered = [one for some in chunks(seqs) for one in _numbered(store, pk, some).values()]
    with store.reading() as connection:
        texts = file_texts(connection, chain.from_iterable(attempt.artefacts for attempt in numbered))
    by_case: dict[str, list[Attempt]] = {key: [] for key in keys}
    for attempt in numbered:
        by_case[attempt.case].append(_filled(attempt, texts))
    return by_case


def _numbered(store: Store, pk: int, seqs: Sequence[int], *, steps: bool = False) -> dict[int, Attempt]:
    query = select(*PLACES).where(attempts.c.run_pk == pk, attempts.c.seq.in_(seqs)).order_by(attempts.c.seq)
    return {row.seq: attempt for row, attempt in read_rows(store, pk, query, steps=steps)}


def _attributions(connection: Connection, pk: int, seqs: Sequence[int]) -> dict[int, Attribution]:
    query = select(attributions.c.seq, attributions.c.record)
    query = query.where(attributions.c.run_pk == pk, attributions.c.seq.in_(seqs))
    return {row.seq: unpack(row.record, Attribution) for row in connection.execute(query)}


def _cases(connection: Connection, pk: int, tried: Collection[Attempt]) -> dict[tuple[str, str], Case]:
    keys = sorted({attempt.case for attempt in tried})
    query = select(cases.c.key, cases.c.record).where(cases.c.run_pk == pk, cases.c.key.in_(keys))
    known = {(row.key, ""): unpack(row.record, Case) for row in connection.execute(query)}
    for key, version in {(attempt.case, attempt.case_version) for attempt in tried if attempt.case_version}:
        if (record := version_record(connection, pk, key, version)) is not None:
            known[key, version] = unpack(record, Case)
    return known


def _filled(record: T, texts: dict[str, str]) -> T:
    return msgspec.structs.replace(record, artefacts=filled(record.artefacts, texts)) if record.artefacts else record


# --- search the failures of a run by a text in their attributions, by case or by bucket; only matches are read


def attributions_with(store: Store, pk: int, texts: Sequence[str]) -> Iterator[Attribution]:
    """Those that hold one of the texts anywhere: in the key, in a quote, or in an id, so the caller looks again."""
    holding = [engine.holds(attributions.c.record, text.encode("utf-8", "replace")) for text in texts if text]
    if holding:
        yield from _read(store, select(attributions.c.record).where(attributions.c.run_pk == pk, or_(*holding)))


def attributions_of_case(store: Store, pk: int, case: str) -> Iterator[Attribution]:
    same = (attributions.c.run_pk == attempts.c.run_pk) & (attributions.c.seq == attempts.c.seq)
    query = select(attributions.c.record).select_from(attempts.join(attributions, same))
    return _read(store, query.where(attempts.c.run_pk == pk, attempts.c.case_key == case, attempts.c.failure))


def _read(store: Store, query: Select[tuple[bytes]]) -> Iterator[Attribution]:
    with store.reading() as connection:
        for row in connection.execute(query.order_by(attributions.c.seq).execution_options(yield_per=FETCH)):
            yield unpack(row.record, Attribution)


def members_in(store: Store, run_id: str, bucket_ids: Collection[str]) -> Iterator[tuple[str, str]]:
    columns = bucket_members.c
    query = select(columns.attempt_id, columns.bucket).where(columns.run_id == run_id, columns.follows.is_(False))
    with store.reading() as connection:
        for some in chunks(sorted(bucket_ids)):
            for row in connection.execute(query.where(columns.bucket.in_(some)).order_by(columns.attempt_id)):
                yield row.attempt_id, row.bucket
