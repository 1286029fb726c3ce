"""Looking runs up, and what is kept about them beside their facts."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, bindparam, delete, insert, select

from errata.errors import NotFoundError
from errata.model import Counts, Exclusion, Finding, Run, StoredRun, Unreadable
from errata.model.codec import pack, unpack
from errata.model.gate import CodeRef, GateRecord
from errata.model.store_address import StoreLocation
from errata.model.times import moment_of
from errata.store import engine
from errata.store.blocks import ZstdError, compress, decompress
from errata.store.database import Store
from errata.store.schema import code_refs, exclusions, findings, gates, runs, summaries, unreadables
from errata.text.clean import one_line

SHORTEST = 3


def all_runs(store: Store, *, suite: str = "") -> list[StoredRun]:
    """Newest first: by the time the run started, else by the time it was imported. All, or those of one suite."""
    known = _unchanging.get()
    if known is None:
        return _all_runs(store, suite)
    if (store.path, suite) not in known:
        known[store.path, suite] = _all_runs(store, suite)
    return known[store.path, suite]


_unchanging: ContextVar[dict[tuple[StoreLocation, str], list[StoredRun]] | None] = ContextVar("runs", default=None)


@contextmanager
def runs_unchanged() -> Iterator[None]:
    """No run is imported, removed or excluded in this block: `all_runs` reads each list once."""
    before = _unchanging.set({})
    try:
        yield
    finally:
        _unchanging.reset(before)


def _all_runs(store: Store, suite: str) -> list[StoredRun]:
    return list(store.read_once(("runs", suite), lambda connection: _read_runs(connection, suite)))


def _read_runs(connection: Connection, suite: str) -> list[StoredRun]:
    rows = connection.execute(_OF_SUITE, {"suite": suite}) if suite else connection.execute(_CURRENT)
    stored = [_stored(row) for row in rows]
    return sorted(stored, key=lambda one: (moment_of(one.run.started_at or one.imported_at), one.pk), reverse=True)


class NamesOfSubject(msgspec.Struct, frozen=True, gc=False):
    model: str = ""


class RunNames(msgspec.Struct, frozen=True, gc=False):
    """The part of a run's record that names it. There may be very many runs, and reading all of each takes longer."""

    native_id: str
    id: str = ""
    external_id: str = ""
    name: str = ""
    subject: NamesOfSubject = NamesOfSubject()
    variant: dict[str, Any] = {}
    extra: dict[str, msgspec.Raw] = {}


_names_decoder = msgspec.msgpack.Decoder(RunNames)


def names_of_runs(store: Store) -> list[RunNames]:
    query = select(runs.c.record).where(runs.c.state == "current").order_by(runs.c.pk)
    with store.reading() as connection:
        return [_names_decoder.decode(record) for record in connection.execute(query).scalars()]


def runs_by_id(store: Store, run_ids: Sequence[str]) -> Iterator[StoredRun]:
    for some in engine.chunks(run_ids):
        with store.reading() as connection:
            rows = connection.execute(_CURRENT.where(runs.c.run_id.in_(some)))
            by_id = {row.run_id: _stored(row) for row in rows}
        yield from (by_id[run_id] for run_id in some if run_id in by_id)


def run_by_id(store: Store, run_id: str) -> StoredRun:
    with store.reading() as connection:
        row = connection.execute(_BY_ID, {"run": run_id}).first()
        if row is None:
            raise NotFoundError(f"No run has the id `{run_id}`", hint="`errata runs` lists the runs in the store")
        return _stored(row)


def stored_run(store: Store, pk: int) -> StoredRun:
    with store.reading() as connection:
        return _stored(connection.execute(_CURRENT.where(runs.c.pk == pk)).one())


def find_run(store: Store, selector: str) -> StoredRun:
    """A run by a unique prefix of its id or native id, the tail of its native id, its name, its origin, or `latest`."""
    stored = all_runs(store)
    if not stored:
        raise NotFoundError(
            "The store holds no runs yet", hint="`errata import PATH…` reads some; `errata demo` shows how"
        )
    if selector == "latest":
        return max(stored, key=lambda one: (one.imported_at, one.pk))
    for matches in (_named_exactly, _named_by_part):
        matching = [one for one in stored if matches(one.run, selector)]
        if len(matching) == 1 and (matches is _named_exactly or len(selector) >= SHORTEST):
            return matching[0]
        if len(matching) > 1:
            listed = "\n".join(_run_details(one.run) for one in matching[:10])
            raise NotFoundError(f"`{selector}` names {len(matching)} runs", hint=f"name one of them:\n{listed}")
    raise NotFoundError(f"No run matches `{selector}`", hint="`errata runs` lists the runs in the store")


def unreadables_of(store: Store, pk: int) -> list[Unreadable]:
    with store.reading() as connection:
        query = select(unreadables.c.record).where(unreadables.c.run_pk == pk).order_by(unreadables.c.number)
        return [unpack(row.record, Unreadable) for row in connection.execute(query)]


def findings_of(store: Store, pk: int) -> list[Finding]:
    with store.reading() as connection:
        query = select(findings.c.record).where(findings.c.run_pk == pk).order_by(findings.c.number)
        return [unpack(row.record, Finding) for row in connection.execute(query)]


def keep_findings(store: Store, stored: StoredRun, records: Iterable[Finding]) -> None:
    """Replace the findings of a run by those of a new checkup, unless the run has grown meanwhile."""
    pk = stored.pk
    rows = [(number, one.name, one.severity, pack(one)) for number, one in enumerate(records)]
    with store.writing(derived=True) as connection:
        if connection.execute(select(runs.c.digest).where(runs.c.pk == pk)).scalar() != stored.digest:
            return
        connection.execute(delete(findings).where(findings.c.run_pk == pk))
        engine.bulk_insert(connection, findings, rows, run_pk=pk)


def exclude(store: Store, run_id: str, *, reason: str, author: str) -> None:
    with store.writing() as connection:
        connection.execute(delete(exclusions).where(exclusions.c.run_id == run_id))
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        connection.execute(insert(exclusions).values(run_id=run_id, reason=reason, author=author, at=at))


def include(store: Store, run_id: str) -> bool:
    with store.writing() as connection:
        return bool(connection.execute(delete(exclusions).where(exclusions.c.run_id == run_id)).rowcount)


_CURRENT = (
    select(runs, exclusions.c.reason, exclusions.c.author, exclusions.c.at)
    .select_from(runs.outerjoin(exclusions, runs.c.run_id == exclusions.c.run_id))
    .where(runs.c.state == "current")
)
# built once: building them takes longer than executing them
_OF_SUITE = _CURRENT.where(runs.c.suite == bindparam("suite"))
_BY_ID = _CURRENT.where(runs.c.run_id == bindparam("run"))


def _stored(row: Row[Any]) -> StoredRun:
    excluded = Exclusion(reason=row.reason, by=row.author, at=row.at) if row.reason is not None else None
    run = msgspec.structs.replace(_decoded(row.record), origin=row.origin, revision=row.revision, excluded=excluded)
    counts = msgspec.convert(row.counts, Counts)
    return StoredRun(run=run, counts=counts, pk=row.pk, imported_at=row.imported_at, digest=row.digest)


@lru_cache(maxsize=2_000)
def _decoded(record: bytes) -> Run:
    """One command looks at all runs several times: for a name, for those of the same suite, for those before it."""
    return unpack(record, Run)


def _run_details(run: Run) -> str:
    variant = ", ".join(f"{key} {one_line(value, 48)}" for key, value in run.variant.items())
    return " · ".join(part for part in (run.native_id, run.subject.model, variant, f"id {run.id}") if part)


def _named_exactly(run: Run, selector: str) -> bool:
    if selector in (run.id, run.native_id, run.external_id or None, run.name or None):
        return True
    try:
        return run.origin == str(Path(selector).resolve())
    except (OSError, ValueError):  # a name that no file can have
        return False


def _named_by_part(run: Run, selector: str) -> bool:
    if not selector:
        return False
    tail = run.native_id.rpartition("_")[2]
    return any(name.startswith(selector) for name in (run.id, run.native_id, tail))


def kept_summary(store: Store, pk: int, kind: str, version: str) -> bytes | None:
    """None where it is missing, damaged, or of another version: then the caller computes it again."""
    query = select(summaries.c.data).where(summaries.c.run_pk == pk, summaries.c.kind == kind)
    with store.reading() as connection:
        row = connection.execute(query.where(summaries.c.version == version)).first()
    try:
        return None if row is None else decompress(row.data)
    except ZstdError:
        return None


def run_with_summary(store: Store, kind: str, version: str) -> tuple[StoredRun, bytes] | None:
    query = select(summaries.c.run_pk, summaries.c.data).join(runs, runs.c.pk == summaries.c.run_pk)
    query = query.where(summaries.c.kind == kind, summaries.c.version == version, runs.c.state == "current")
    with store.reading() as connection:
        rows = connection.execute(query.limit(2)).all()
    try:
        return (stored_run(store, rows[0].run_pk), decompress(rows[0].data)) if len(rows) == 1 else None
    except ZstdError:
        return None


def keep_summary(store: Store, pk: int, kind: str, version: str, data: bytes) -> None:
    with store.writing(derived=True) as connection:
        connection.execute(delete(summaries).where(summaries.c.run_pk == pk, summaries.c.kind == kind))
        connection.execute(insert(summaries).values(run_pk=pk, kind=kind, version=version, data=compress(data)))


# --- what CI knows about runs beside their facts: the branch and commit they tested, and how their last gate ended


def keep_code_ref(store: Store, run_ids: Iterable[str], ref: CodeRef) -> None:
    values = [{"run_id": run_id, "branch": ref.branch, "commit": ref.commit, "at": ref.at} for run_id in run_ids]
    if not values:
        return
    with store.writing() as connection:
        connection.execute(delete(code_refs).where(code_refs.c.run_id.in_([one["run_id"] for one in values])))
        connection.execute(insert(code_refs), values)


def code_refs_of(store: Store) -> dict[str, CodeRef]:
    with store.reading() as connection:
        rows = connection.execute(select(code_refs))
        return {row.run_id: CodeRef(branch=row.branch, commit=row.commit, at=row.at) for row in rows}


def keep_gate(store: Store, run_id: str, gate: GateRecord) -> None:
    with store.writing() as connection:
        connection.execute(delete(gates).where(gates.c.run_id == run_id))
        values = {"run_id": run_id, "baseline_id": gate.baseline, "verdict": gate.verdict, "at": gate.at}
        connection.execute(insert(gates).values(values))


def gates_of(store: Store) -> dict[str, GateRecord]:
    with store.reading() as connection:
        rows = connection.execute(select(gates))
        return {row.run_id: GateRecord(baseline=row.baseline_id, verdict=row.verdict, at=row.at) for row in rows}
