"""Writing large runs: staged under a number nobody sees, then made current in one short transaction each."""

from collections.abc import Collection
from contextlib import ExitStack
from hashlib import blake2b
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import Connection, Row, bindparam, case, delete, func, insert, select, update

from errata.errors import StoreError
from errata.model import Counts, Run, Unreadable
from errata.model.codec import pack, unpack
from errata.store import engine, shared_ids
from errata.store.blocks import DIGEST_SIZE, OLDER_SIZE, OlderContent, compress
from errata.store.carried_verdicts import carry_verdicts
from errata.store.case_versions import complete_versions, write_cases
from errata.store.database import Store, this_process
from errata.store.packing import Blob, PackedBatch, RunPart, without_texts
from errata.store.removal import collect_garbage
from errata.store.run_totals import SCORED, UNREADABLE_KEPT, Change, ImportedRun, RunTotals, is_less, share_unclaimed
from errata.store.schema import attempts, blob_uses, blobs, blocks, checks, runs, unreadables

BATCHES_AT_ONCE = 8
BYTES_AT_ONCE = 2 * 1024 * 1024
"""Of blocks. A transaction writes every page that it has touched, so larger ones write less."""


class Importing:
    """One import: takes batches, then `finish`. Left without finishing, nothing of it will be seen."""

    def __init__(
        self, store: Store, *, parts: Collection[str] = (), read: Collection[str] = (), replace: bool = False
    ) -> None:
        """`parts`: ids of runs that get what is read. `read`: runs that other logs of this import have.

        With `replace`, a log takes the place of any other of its id.
        """
        self._store = store
        self._parts, self._read, self._replace = parts, read, replace
        self._staged: dict[str, Staged] = {}
        self._waiting: list[PackedBatch] = []
        self._size = 0
        self._unclaimed: list[Unreadable] = []
        self._unclaimed_more = 0
        self._open = ExitStack()
        self._importer = this_process()

    def __enter__(self) -> Self:
        collect_garbage(self._store)
        self._store.refuse_read_only()
        # one connection for the whole import: closing the last one makes SQLite move its log into the file each time
        self._open.enter_context(self._store.kept_open())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if error is not None and not isinstance(error, StoreError):
            self._give_up()

    def add(self, batch: PackedBatch) -> None:
        """A run is begun at once, and its batches are written a few at a time; only then is the store locked."""
        self._waiting.append(batch)
        self._size += sum(len(data) for part in batch.parts.values() for _, data in part.blocks)
        if batch.runs or len(self._waiting) >= BATCHES_AT_ONCE or self._size >= BYTES_AT_ONCE:
            self._write_waiting()

    def _write_waiting(self) -> None:
        waiting, self._waiting, self._size = self._waiting, [], 0
        with self._store.writing(rows=True) as connection:
            for batch in waiting:
                for run in batch.runs:
                    self._add_run(connection, run)
                self._add_unreadables(batch)
                for run_id, part in batch.parts.items():
                    self._staged[run_id].write(connection, part)

    def finish(self) -> list[ImportedRun]:
        """Make every run of this import current; each becomes visible completely or not at all."""
        self._write_waiting()
        share_unclaimed(list(self._staged.values()), self._unclaimed, self._unclaimed_more)
        done = []
        for staged in self._staged.values():
            with self._store.writing(rows=True) as connection:
                staged.close(connection)
            with self._store.writing() as connection:
                run_id = staged.run.id
                done.append(
                    staged.make_current(
                        connection,
                        is_part=run_id in self._parts,
                        was_read=run_id in self._read,
                        replace=self._replace,
                    )
                )
        done = carry_verdicts(self._store, done)
        collect_garbage(self._store)
        return done

    def _add_run(self, connection: Connection, run: Run) -> None:
        known = self._staged.get(run.id)
        if known is not None:
            known.run = run
            return
        current = select(runs.c.digest).where(runs.c.run_id == engine.fitting(run.id), runs.c.state == "current")
        begun = RunTotals(run)
        values = begun.begun(self._importer) | begun.described()
        statement = insert(runs).values(**values, state="importing", revision=0, digest="", counts={}, record=b"")
        pk = connection.execute(statement).inserted_primary_key
        assert pk is not None
        self._staged[run.id] = Staged(pk[0], run, replaces=connection.execute(current).scalar() or "")

    def _add_unreadables(self, batch: PackedBatch) -> None:
        for run_id, item in batch.unreadables:
            if run_id in self._staged:
                self._staged[run_id].note(item)
            elif len(self._unclaimed) < UNREADABLE_KEPT:
                self._unclaimed.append(item)
            else:
                self._unclaimed_more += 1

    def _give_up(self) -> None:
        with self._store.writing() as connection:
            for staged in self._staged.values():
                connection.execute(update(runs).where(runs.c.pk == staged.pk).values(state="stale"))
        collect_garbage(self._store)


# --- one run on its way into the store


class Staged(RunTotals):
    """Its rows are written as they come, under a number that no query sees yet."""

    def __init__(self, pk: int, run: Run, *, replaces: str = "") -> None:
        """`replaces` is the digest of the run that is current."""
        super().__init__(run)
        self.pk = pk
        self._older = OlderContent() if len(replaces) == 2 * OLDER_SIZE else None

    def write(self, connection: Connection, part: RunPart) -> None:
        self.tally(part)
        if self._older is not None:
            self._older.add(part.cases, part.blocks)
        engine.bulk_insert(connection, attempts, part.attempts, run_pk=self.pk)
        engine.bulk_insert(connection, checks, part.checks, run_pk=self.pk)
        engine.bulk_insert(connection, blocks, part.blocks, run_pk=self.pk)
        write_cases(connection, self.pk, part.cases)
        self._write_blobs(connection, part.blobs)

    def close(self, connection: Connection) -> None:
        """Write what is known only at the end: what could not be read, context files, what rows of one case share."""
        files: list[Blob] = []
        self.run = msgspec.structs.replace(self.run, context=without_texts(self.run.context, files))
        self._write_blobs(connection, files)
        complete_versions(connection, self.pk)
        self._write_numbers(connection)
        rows = [(number, pack(item)) for number, item in enumerate(self.unreadables)]
        engine.bulk_insert(connection, unreadables, rows, run_pk=self.pk)

    def make_current(self, connection: Connection, *, is_part: bool, was_read: bool, replace: bool) -> ImportedRun:
        columns = (runs.c.pk, runs.c.digest, runs.c.revision, runs.c.counts, runs.c.origin, runs.c.record)
        query = select(*columns).where(runs.c.run_id == self.run.id, runs.c.state == "current")
        old = connection.execute(query).first()
        digest = self.digest()
        if old is not None and old.digest == (self.digest(self._older.hexdigest()) if self._older else digest):
            self._give_way(connection)
            # the logs may have moved; that is not a change of the run
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(origin=engine.fitting(self.run.origin)))
            return ImportedRun(self.run.id, old.pk, "unchanged", old.revision)
        if old is not None and is_part:
            digest = self._join(connection, old, digest)
        counts = self._counts(connection)
        if old is not None and not is_part and not replace:
            change = self._change(connection, old, counts, was_read=was_read)
            if change != "grown":
                self._give_way(connection)
                return ImportedRun(self.run.id, old.pk, change, old.revision)
        revision = 1 if old is None else old.revision + 1
        if old is not None:
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(state="stale"))
        values: dict[str, Any] = self.described()
        values |= {"state": "current", "revision": revision, "digest": digest, "record": pack(self.bare_run())}
        values["counts"] = msgspec.to_builtins(counts)
        connection.execute(update(runs).where(runs.c.pk == self.pk).values(**values))
        if old is None:
            return ImportedRun(self.run.id, self.pk, "new", revision)
        return ImportedRun(self.run.id, self.pk, "grown", revision, replaced=old.pk)

    def _write_numbers(self, connection: Connection) -> None:
        own = attempts.c.run_pk == self.pk
        if self.has_numbers:
            value = func.coalesce(attempts.c.value, case({"pass": 1.0, "fail": 0.0}, value=attempts.c.outcome))
            scored = own & (attempts.c.measurement == "scored") & attempts.c.outcome.in_(SCORED)
            connection.execute(update(attempts).where(scored).values(outcome="number", failure=False, value=value))
        if names := self.settle_numbers():
            failed = (checks.c.run_pk == self.pk) & (checks.c.status == "fail")
            connection.execute(delete(checks).where(failed, checks.c.name.in_(names)))

    def _give_way(self, connection: Connection) -> None:
        connection.execute(update(runs).where(runs.c.pk == self.pk).values(state="stale"))

    def _change(self, connection: Connection, old: Row[*tuple[Any, ...]], counts: Counts, *, was_read: bool) -> Change:
        if shared_ids.is_log_of(self.run, old.record, old.origin):
            return "kept" if is_less(counts, old.counts) else "grown"
        return shared_ids.relation(connection, self.run, self.pk, old, was_read=was_read)

    def _join(self, connection: Connection, old: Row[*tuple[Any, ...]], digest: str) -> str:
        shared_ids.add_stored_rows(connection, old.pk, self.pk)
        complete_versions(connection, self.pk)
        stored = msgspec.structs.replace(unpack(old.record, Run), origin=old.origin)
        self.take_in(msgspec.convert(old.counts, Counts), shared_ids.facts_of(connection, self.pk))
        self._write_numbers(connection)
        self.run = shared_ids.joined(stored, self.run, self._cases(connection))
        return blake2b(f"{old.digest} {digest}".encode(), digest_size=DIGEST_SIZE).hexdigest()

    def _counts(self, connection: Connection) -> Counts:
        there = connection.execute(select(func.count()).where(attempts.c.run_pk == self.pk)).scalar_one()
        if there != self.rows:
            raise StoreError("Another process treated this import as dead and removed it", hint="import again")
        numbers = select(func.count(attempts.c.value), func.sum(attempts.c.value))
        values, total = connection.execute(numbers.where(attempts.c.run_pk == self.pk, attempts.c.counted)).one()
        failed = self._failed_checks(connection)
        return self.counts(cases=self._cases(connection), failed_checks=failed, values=values, total=total or 0.0)

    def _cases(self, connection: Connection) -> int:
        query = select(func.count(attempts.c.case_key.distinct())).where(attempts.c.run_pk == self.pk)
        only_counted = self.counted < self.rows
        return int(connection.execute(query.where(attempts.c.counted) if only_counted else query).scalar_one())

    def _failed_checks(self, connection: Connection) -> dict[str, int]:
        query = (
            select(checks.c.name, func.count(checks.c.seq.distinct()))
            .join(attempts, (attempts.c.run_pk == checks.c.run_pk) & (attempts.c.seq == checks.c.seq))
            .where(checks.c.run_pk == self.pk, attempts.c.counted, checks.c.status == "fail")
            .group_by(checks.c.name)
        )
        return {row[0]: row[1] for row in connection.execute(query)}

    def _write_blobs(self, connection: Connection, files: list[Blob]) -> None:
        if not files:
            return
        unique = dict(files)
        engine.lock_name(connection, blobs.name)
        query = select(blobs.c.digest).where(blobs.c.digest == bindparam("digest"))
        known = {digest for digest in unique if connection.execute(query, {"digest": digest}).first()}
        rows = [
            {"digest": digest, "size": len(data), "data": compress(data)}
            for digest, data in unique.items()
            if digest not in known
        ]
        if rows:
            connection.execute(insert(blobs), rows)
        engine.bulk_insert(connection, blob_uses, [(digest,) for digest in unique], run_pk=self.pk)
