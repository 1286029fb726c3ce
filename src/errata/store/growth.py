"""Runs that grow in place: rows that a log has gained are added to those of the earlier import."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from errata.model import Counts, Run, Unreadable
from errata.model.codec import pack, unpack
from errata.store import engine
from errata.store.blocks import BLOCK_SIZE, ZstdError, compress, decompress
from errata.store.content_digest import HashedContent
from errata.store.database import Store, this_process
from errata.store.packing import PackedBatch, PackedRows
from errata.store.run_totals import ATTEMPT_COLUMNS, UNREADABLE_KEPT, ImportedRun, share_unclaimed
from errata.store.schema import (
    attempts,
    attributions,
    blob_uses,
    blocks,
    case_versions,
    cases,
    checks,
    findings,
    runs,
    summaries,
    thinned,
    unreadables,
)
from errata.store.whole_runs import WholeRun, insert_blobs

KIND = "growth"
_ASKED_AT_ONCE = 500
_CASE, _NUMBER, _POSITION, _COUNTED = map(ATTEMPT_COLUMNS.index, ("case_key", "number", "position", "counted"))
_RECORDS, _STEPS = map(ATTEMPT_COLUMNS.index, ("record_block", "steps_block"))


class StoredRows(msgspec.Struct, array_like=True):
    """The rows of a run, as far as those that follow have to know them."""

    hashed: HashedContent
    records_block: int
    """The number of the last one; 0 if there is none."""
    steps_block: int
    first_position: int | None
    last_position: int | None


class Growth(msgspec.Struct, array_like=True):
    """What was imported: which bytes of a log, and the rows they gave."""

    size: int
    lines: int
    sha256: bytes
    """Over the bytes of the log."""
    signature: str
    rows: StoredRows


class GrowableRun(msgspec.Struct):
    """A run whose log may have grown."""

    pk: int
    run: Run
    digest: str
    revision: int
    counts: Counts
    growth: Growth


def growable_run(store: Store, key: str) -> GrowableRun | None:
    """The current run that was imported under this key; None where it has to be imported whole."""
    columns = (runs.c.pk, runs.c.record, runs.c.digest, runs.c.revision, runs.c.counts, runs.c.origin, summaries.c.data)
    query = select(*columns).join(summaries, summaries.c.run_pk == runs.c.pk)
    query = query.where(summaries.c.kind == KIND, summaries.c.version == key, runs.c.state == "current")
    with store.reading() as connection:
        rows = connection.execute(query.limit(2)).all()
    if len(rows) != 1:
        return None
    [row] = rows
    try:
        growth = msgspec.msgpack.decode(decompress(row.data), type=Growth)
    except (ZstdError, msgspec.MsgspecError):
        return None
    run = msgspec.structs.replace(unpack(row.record, Run), origin=row.origin)
    return GrowableRun(row.pk, run, row.digest, row.revision, msgspec.convert(row.counts, Counts), growth)


def can_grow(counts: Counts) -> bool:
    """Whether every attempt has a row in the log and a case of its own."""
    is_plain = counts.attempts == counts.counted == counts.cases > 0
    return is_plain and not counts.executions.keys() & {"missing", "unfinished"}


def keep_growth(store: Store, pk: int, key: str, hashed: HashedContent, log: Growth) -> None:
    """After an import of the whole log. Nothing is kept for a run whose rows depend on each other."""
    with store.writing(rows=True) as connection:
        row = connection.execute(select(runs.c.counts).where(runs.c.pk == pk, runs.c.state == "current")).first()
        if row is None or not can_grow(msgspec.convert(row.counts, Counts)):
            return
        if any(_has_rows(connection, table, pk) for table in (thinned, case_versions)):
            return
        last_blocks = func.max(attempts.c.record_block), func.max(attempts.c.steps_block)
        positions = func.min(attempts.c.position), func.max(attempts.c.position)
        last = connection.execute(select(*last_blocks, *positions).where(attempts.c.run_pk == pk)).one()
        rows = StoredRows(hashed, last[0] or 0, last[1] or 0, last[2], last[3])
        connection.execute(delete(summaries).where(summaries.c.run_pk == pk, summaries.c.kind == KIND))
        _write_growth(connection, pk, key, msgspec.structs.replace(log, rows=rows))


def _write_growth(connection: Connection, pk: int, key: str, growth: Growth) -> None:
    data = compress(msgspec.msgpack.encode(growth))
    connection.execute(insert(summaries).values(run_pk=pk, kind=KIND, version=key, data=data))


def _has_rows(connection: Connection, table: Any, pk: int) -> bool:
    return connection.execute(select(table.c.run_pk).where(table.c.run_pk == pk).limit(1)).first() is not None


def packed_rows(store: Store, known: GrowableRun) -> PackedRows | None:
    """Where the rows that were added begin; None where a block is lost."""
    rows = known.growth.rows
    open_blocks: list[tuple[int, bytes] | None] = []
    with store.reading() as connection:
        for number in (rows.records_block, rows.steps_block):
            query = select(blocks.c.data).where(blocks.c.run_pk == known.pk, blocks.c.number == number)
            packed = connection.execute(query).scalar() if number else b""
            if packed is None:
                return None
            data = decompress(packed) if packed else b""
            open_blocks.append((number, data) if data and len(data) < BLOCK_SIZE else None)
    last = max(rows.records_block, rows.steps_block)
    return PackedRows(known.counts.attempts, last, open_blocks[0], open_blocks[1])


class GrownRun(WholeRun):
    """The rows that were added to a run, and the totals of all."""

    def __init__(self, known: GrowableRun) -> None:
        super().__init__(known.run)
        self._prior = prior = known.counts
        self._unreadable = 0
        self._tokens, self._cost, self._cost_known = prior.tokens, prior.cost, prior.cost_known
        self._checks = {name: dict(statuses) for name, statuses in prior.checks.items()}

    def counts(self, *, cases: int, failed_checks: dict[str, int]) -> Counts:
        added, prior = super().counts(cases=cases, failed_checks=failed_checks), self._prior
        return msgspec.structs.replace(
            added,
            attempts=prior.attempts + added.attempts,
            counted=prior.counted + added.counted,
            cases=prior.cases + added.cases,
            failures=prior.failures + added.failures,
            executions=_sum(prior.executions, added.executions),
            measurements=_sum(prior.measurements, added.measurements),
            outcomes=_sum(prior.outcomes, added.outcomes),
            failed_checks=dict(sorted(_sum(prior.failed_checks, added.failed_checks).items())),
        )

    @property
    def is_plain(self) -> bool:
        """Whether every attempt has a case of its own, described at most once."""
        rows = self.attempts
        plain = all(row[_COUNTED] and row[_NUMBER] == 1 for row in rows)
        return plain and len(self.keys) == len(rows) and not self.describes_a_case_twice

    @property
    def keys(self) -> set[str]:
        return {row[_CASE] for row in self.attempts}

    def stored_rows(self, before: StoredRows) -> StoredRows:
        assert self.hashed is not None
        rows = self.attempts
        positions = [row[_POSITION] for row in rows if row[_POSITION] is not None]
        earlier = [place for place in (before.first_position, before.last_position) if place is not None]
        return StoredRows(
            self.hashed,
            max((row[_RECORDS] for row in rows), default=before.records_block),
            max((row[_STEPS] for row in rows if row[_STEPS] is not None), default=before.steps_block),
            min((*positions, *earlier), default=None),
            max((*positions, *earlier), default=None),
        )


def _sum(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return first | {name: first.get(name, 0) + count for name, count in second.items()}


def grown_run(known: GrowableRun, earlier: Sequence[Unreadable], batches: Iterable[PackedBatch]) -> GrownRun:
    """What reading the whole log would have given, with the rows of the added lines only."""
    grown = GrownRun(known)
    unclaimed = [item for item in earlier if not item.run]
    for item in earlier:
        if item.run:
            grown.note(item)
    for batch in batches:
        for run in batch.runs:
            grown.run = run
        for run_id, item in batch.unreadables:
            if run_id:
                grown.note(item)
            else:
                unclaimed.append(item)
        for part in batch.parts.values():
            grown.take(part)
    share_unclaimed([grown], unclaimed, 0)
    grown.close()
    return grown


def write_grown(store: Store, known: GrowableRun, grown: GrownRun, key: str, log: Growth) -> ImportedRun | None:
    """Add the rows in one transaction. None where the run has to be imported whole."""
    if not grown.is_plain or len(grown.unreadables) >= UNREADABLE_KEPT or grown.run.id != known.run.id:
        return None
    with store.writing() as connection:
        head = connection.execute(select(runs).where(runs.c.pk == known.pk)).first()
        if head is None or head.state != "current" or head.digest != known.digest:
            return None
        if any(_has_rows(connection, table, known.pk) for table in (thinned, case_versions)):
            return None
        if _has_any(connection, known.pk, grown) or _lacks_files(known.run, grown.run):
            return None
        digest = grown.digest()
        if digest == head.digest:  # nothing but empty lines was added
            values = {"origin": engine.fitting(grown.run.origin)}
            connection.execute(update(runs).where(runs.c.pk == known.pk).values(**values))
            result = ImportedRun(known.run.id, known.pk, "unchanged", known.revision)
        else:
            _write_rows(connection, known.pk, grown)
            _write_head(connection, known, grown, digest)
            result = ImportedRun(known.run.id, known.pk, "grown", known.revision + 1)
        connection.execute(delete(summaries).where(summaries.c.run_pk == known.pk, summaries.c.kind == KIND))
        if log.size and can_grow(grown.whole_counts()):
            rows = grown.stored_rows(known.growth.rows)
            _write_growth(connection, known.pk, key, msgspec.structs.replace(log, rows=rows))
    return result


def _has_any(connection: Connection, pk: int, grown: GrownRun) -> bool:
    """Whether an added row is of a case that has one."""
    described = {case[1] for case in grown.rows_of.cases}
    for column, names in ((attempts.c.case_key, grown.keys), (cases.c.key, described)):
        keys = [engine.fitting(name) for name in names]
        for at in range(0, len(keys), _ASKED_AT_ONCE):
            query = select(column).where(column.table.c.run_pk == pk, column.in_(keys[at : at + _ASKED_AT_ONCE]))
            if connection.execute(query.limit(1)).first() is not None:
                return True
    return False


def _lacks_files(earlier: Run, now: Run) -> bool:
    """Whether a text of the earlier import would be left without a use."""
    return bool({file.blob for file in earlier.context} - {file.blob for file in now.context} - {None, ""})


def _write_rows(connection: Connection, pk: int, grown: GrownRun) -> None:
    rows = grown.rows_of
    numbers = [number for number, _ in rows.blocks]
    connection.execute(delete(blocks).where(blocks.c.run_pk == pk, blocks.c.number.in_(numbers)))
    for table, added in ((attempts, grown.attempts), (checks, rows.checks), (blocks, rows.blocks)):
        engine.bulk_insert(connection, table, added, run_pk=pk)
    engine.bulk_insert(connection, cases, [case[1:] for case in rows.cases], run_pk=pk)
    files = dict(rows.blobs)
    insert_blobs(connection, files)
    engine.bulk_insert(connection, blob_uses, [(digest,) for digest in files], run_pk=pk)
    connection.execute(delete(unreadables).where(unreadables.c.run_pk == pk))
    problems = [(number, pack(item)) for number, item in enumerate(grown.unreadables)]
    engine.bulk_insert(connection, unreadables, problems, run_pk=pk)


def _write_head(connection: Connection, known: GrowableRun, grown: GrownRun, digest: str) -> None:
    """Whatever was derived from the earlier rows goes, as with a run that is replaced."""
    for table in (attributions, findings, summaries):
        connection.execute(delete(table).where(table.c.run_pk == known.pk))
    values: dict[str, Any] = grown.begun(this_process()) | grown.described()
    values |= {"revision": known.revision + 1, "digest": digest, "record": pack(grown.bare_run())}
    values |= {"counts": msgspec.to_builtins(grown.whole_counts()), "triaged": None, "bucketed": None}
    connection.execute(update(runs).where(runs.c.pk == known.pk).values(**values))
