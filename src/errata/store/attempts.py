"""Reading attempts and cases back, one by one, exactly as they were imported."""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, CursorResult, Row, Select, bindparam, select

from errata.errors import NotFoundError
from errata.model import Artefact, Attempt, Case, Run, Step, StoredRun
from errata.model.attempt import as_number
from errata.model.case import categories_from
from errata.model.case_versions import CaseBook
from errata.model.codec import unpack
from errata.model.identity import split_attempt_id
from errata.store.blocks import BlockReader, decompress
from errata.store.case_versions import VersionLookup, has_any, version_record, versions_of
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.runs import run_by_id
from errata.store.schema import attempts, blobs, blocks, cases, checks, thinned

FETCH = 2_000
PLACES = (
    attempts.c.seq,
    attempts.c.record_block,
    attempts.c.record_at,
    attempts.c.steps_block,
    attempts.c.steps_at,
    attempts.c.outcome,
)
"""The first columns of whatever `read_rows` is given: where an attempt and its transcript lie, and what its run made
of its outcome."""


def attempts_of(
    store: Store,
    pk: int,
    *,
    failures: bool = False,
    counted: bool = False,
    outcome: str = "",
    case: str = "",
    only: Collection[str] | None = None,
    steps: bool = False,
    steps_of_passes: bool = False,
    by_position: bool = False,
) -> Iterator[Attempt]:
    query = select(*PLACES).where(attempts.c.run_pk == pk)
    if failures:
        query = query.where(attempts.c.failure)
    if counted:
        query = query.where(attempts.c.counted)
    if outcome:
        query = query.where(attempts.c.outcome == outcome)
    if case:
        query = query.where(attempts.c.case_key == case)
    if only is not None:
        query = query.where(attempts.c.case_key.in_(list(only)))
    order = (attempts.c.position, attempts.c.seq) if by_position else (attempts.c.seq,)
    wanted = None if steps else _is_counted_pass
    asked = read_rows(store, pk, query.order_by(*order), steps=steps or steps_of_passes, with_steps=wanted)
    for _, attempt in asked:
        yield attempt


class FailureToTriage(NamedTuple):
    seq: int
    attempt: Attempt
    case: bytes | None


def failures_to_triage(store: Store, pk: int, *, with_steps: Callable[[Attempt], bool]) -> Iterator[FailureToTriage]:
    rows = read_rows(store, pk, _FAILURES_WITH_CASES, steps=True, texts=True, with_steps=with_steps)
    for row, attempt in rows:
        yield FailureToTriage(row.seq, attempt, row.record)


def attempts_with_failed_check(store: Store, pk: int, check: str) -> Iterator[Attempt]:
    joined = attempts.join(checks, (attempts.c.run_pk == checks.c.run_pk) & (attempts.c.seq == checks.c.seq))
    query = select(*PLACES).select_from(joined).where(attempts.c.run_pk == pk, attempts.c.counted)
    query = query.where(checks.c.name == check, checks.c.status == "fail").distinct()
    for _, attempt in read_rows(store, pk, query.order_by(attempts.c.seq), steps=False):
        yield attempt


def attempt_by_id(store: Store, attempt_id: str) -> Attempt:
    try:
        parts = split_attempt_id(attempt_id)
    except ValueError:
        raise NotFoundError(
            f"`{attempt_id}` is not the id of an attempt", hint="`errata failures RUN --json` gives ids"
        ) from None
    stored = run_by_id(store, parts.run)
    for attempt in attempts_of(store, stored.pk, case=parts.case, steps=True):
        if attempt.id == attempt_id:
            return with_texts(store, attempt)
    raise NotFoundError(
        f"Run `{stored.run.native_id}` has no attempt `{attempt_id}`", hint="`errata failures RUN` lists them"
    )


def case_of(store: Store, pk: int, key: str, version: str = "") -> Case | None:
    """A case with its files, as the attempts of this version had it; none where the log does not describe it."""
    with store.reading() as connection:
        own = version_record(connection, pk, key, version) if version else None
        record = own or connection.execute(_CASE, {"run": pk, "case": key}).scalar()
        if record is None:
            return None
        case = unpack(record, Case)
        return msgspec.structs.replace(case, artefacts=with_file_texts(connection, case.artefacts))


def cases_of(store: Store, pk: int) -> Iterator[Case]:
    """Every case that the log describes, once, without the texts of its files."""
    with store.reading() as connection:
        for row in connection.execute(_CASES, {"run": pk}, execution_options={"yield_per": FETCH}):
            yield unpack(row.record, Case)


def case_book_of(store: Store, pk: int) -> CaseBook:
    """Every case that the log describes, without the texts of its files, as each attempt had it."""
    return CaseBook(cases_of(store, pk), versions_of(store, pk))


def categories_of(store: Store, pk: int, only: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Case key → its categories, the main one first; without cases that have none. `only`: of these cases."""
    query = _CASES_BY_KEY if only is None else _CASES_BY_KEY.where(cases.c.key.in_(list(only)))
    by_case: dict[str, tuple[str, ...]] = {}
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    with store.reading() as connection:
        for row in connection.execute(query, {"run": pk}, execution_options={"yield_per": FETCH}):
            named = _named_decoder.decode(row.record)
            if categories := categories_from(named.category, named.tags):
                by_case[row.key] = same.setdefault(categories, categories)
    return by_case


class _NamedCategories(msgspec.Struct, gc=False):
    """Of a case's record only what names its categories: the texts are not decoded."""

    category: str = ""
    tags: tuple[str, ...] = ()


_named_decoder = msgspec.msgpack.Decoder(_NamedCategories)


def with_texts(store: Store, attempt: Attempt) -> Attempt:
    with store.reading() as connection:
        return msgspec.structs.replace(attempt, artefacts=with_file_texts(connection, attempt.artefacts))


def run_with_texts(store: Store, stored: StoredRun) -> Run:
    with store.reading() as connection:
        return msgspec.structs.replace(stored.run, context=with_file_texts(connection, stored.run.context))


def read_rows(
    store: Store,
    pk: int,
    query: Select[Any],
    *,
    steps: bool,
    with_steps: Callable[[Attempt], bool] | None = None,
    texts: bool = False,
) -> Iterator[tuple[Row[Any], Attempt]]:
    """The query begins with `PLACES` and may name the run `:run`.

    `with_steps`: which attempts get their transcript; all where it is not given.
    """
    with store.reading() as connection:

        def load(number: int) -> bytes:
            return bytes(connection.execute(_BLOCK, {"run": pk, "block": number}).scalar_one())

        records, transcripts = BlockReader(load), BlockReader(load)
        versions, thinning = VersionLookup(connection, pk), ThinningLookup(connection, pk)
        get, decode, has_versions = records.get, _attempt_decoder.decode, versions.has_any
        for row in rows_of(connection.execute(query, {"run": pk}, execution_options={"yield_per": FETCH})):
            seq, block, at, steps_block, steps_at, outcome, *_ = row
            attempt = decode(get(block, at))
            if outcome == "number" != attempt.outcome:
                attempt = as_number(attempt)
            if has_versions and not attempt.case_version and (version := versions.at(attempt.case, seq)):
                attempt = msgspec.structs.replace(attempt, case_version=version)
            if steps and steps_block is not None and (with_steps is None or with_steps(attempt)):
                attempt = msgspec.structs.replace(attempt, steps=STEPS.decode(transcripts.get(steps_block, steps_at)))
            if thinning.has_any and (day := thinning.at(row)):
                attempt = msgspec.structs.replace(attempt, thinned=day)
            if texts and attempt.artefacts:
                attempt = msgspec.structs.replace(attempt, artefacts=with_file_texts(connection, attempt.artefacts))
            yield row, attempt


def rows_of(result: CursorResult[Any]) -> Iterator[Any]:
    """Of a large result, in less time than its own iterator takes: that one asks for every row."""
    return chain.from_iterable(result.partitions(FETCH))


class ThinningLookup:
    """When the transcripts of a run were thinned; of most runs, none was."""

    def __init__(self, connection: Connection, pk: int) -> None:
        self._connection, self._pk = connection, pk
        self.has_any = has_any(connection, _ANY_THINNED, pk)

    def at(self, row: Row[Any]) -> str | None:
        query = select(thinned.c.at).where(thinned.c.run_pk == self._pk, thinned.c.seq == row.seq)
        return self._connection.execute(query).scalar()


def _is_counted_pass(attempt: Attempt) -> bool:
    return attempt.outcome == "pass" and attempt.counted


# built once: building them takes longer than executing them
_BLOCK = select(blocks.c.data).where(blocks.c.run_pk == bindparam("run"), blocks.c.number == bindparam("block"))
_FILES = select(blobs.c.digest, blobs.c.data).where(blobs.c.digest.in_(bindparam("files", expanding=True)))
_ANY_THINNED = select(thinned.c.seq).where(thinned.c.run_pk == bindparam("run")).limit(1)
_CASE = select(cases.c.record).where(cases.c.run_pk == bindparam("run"), cases.c.key == bindparam("case"))
_CASES = select(cases.c.record).where(cases.c.run_pk == bindparam("run")).order_by(cases.c.key)
_CASES_BY_KEY = select(cases.c.key, cases.c.record).where(cases.c.run_pk == bindparam("run"))
_FAILURES_WITH_CASES = (
    select(*PLACES, attempts.c.case_key, cases.c.record)
    .select_from(
        attempts.outerjoin(cases, (attempts.c.run_pk == cases.c.run_pk) & (attempts.c.case_key == cases.c.key))
    )
    .where(attempts.c.run_pk == bindparam("run"), attempts.c.failure)
    .order_by(attempts.c.seq)
)
_attempt_decoder = msgspec.msgpack.Decoder(Attempt)
STEPS = msgspec.msgpack.Decoder(tuple[Step, ...])


def with_file_texts(connection: Connection, artefacts: tuple[Artefact, ...]) -> tuple[Artefact, ...]:
    return filled(artefacts, file_texts(connection, artefacts))


def file_texts(connection: Connection, artefacts: Iterable[Artefact]) -> dict[str, str]:
    wanted = {artefact.blob for artefact in artefacts if artefact.blob and artefact.text is None}
    return {
        row.digest: decompress(row.data).decode("utf-8", "surrogatepass")
        for some in chunks(sorted(wanted))
        for row in connection.execute(_FILES, {"files": some})
    }


def filled(artefacts: tuple[Artefact, ...], texts: dict[str, str]) -> tuple[Artefact, ...]:
    if not any(artefact.blob and artefact.text is None for artefact in artefacts):
        return artefacts
    return tuple(
        msgspec.structs.replace(artefact, text=texts.get(artefact.blob), blob="")
        if artefact.blob and artefact.text is None
        else artefact
        for artefact in artefacts
    )
