"""One run on its way into the store."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, func, select, update

from errata.model import Counts, Run, Unreadable
from errata.model.codec import pack
from errata.store import sqlite
from errata.store.blocks import BlockWriter
from errata.store.packing import Blob, PackedAttempt, PackedCase, without_texts
from errata.store.schema import attempts, blobs, cases, checks, runs
from errata.store.zstd import compress

Change = Literal["new", "grown", "unchanged"]


class ImportedRun(msgspec.Struct, frozen=True):
    """What an import did with one run."""

    id: str
    pk: int
    change: Change
    revision: int


_ATTEMPT_COLUMNS = [column.name for column in attempts.columns]
_CASE_COLUMNS = [column.name for column in cases.columns]
_CHECK_COLUMNS = [column.name for column in checks.columns]


class Staged:
    """One run on its way into the store."""

    def __init__(self, pk: int, run: Run) -> None:
        self.pk = pk
        self.run = run
        self.unreadables: list[Unreadable] = []
        self._seq = 0
        self._next_block = 0
        self._full_blocks: list[tuple[int, int, bytes]] = []
        self._records = BlockWriter(self._take_block, self._take_full)
        self._steps = BlockWriter(self._take_block, self._take_full)
        self._attempts_hash = blake2b(digest_size=16)
        self._cases_hash = blake2b(digest_size=16)
        self._checks: dict[str, dict[str, int]] = {}

    def write_attempts(self, connection: Connection, members: Iterable[PackedAttempt]) -> None:
        rows: list[tuple[Any, ...]] = []
        failed: list[tuple[Any, ...]] = []
        files: list[Blob] = []
        pk, add_record, add_steps, hashed = self.pk, self._records.add, self._steps.add, self._attempts_hash.update
        for packed in members:
            seq = self._seq
            self._seq = seq + 1
            hashed(packed.record)
            steps: tuple[int | None, int | None] = (None, None)
            if packed.steps:
                hashed(packed.steps)
                steps = add_steps(packed.steps)
            rows.append((pk, seq, *packed.columns, *add_record(packed.record), *steps))
            for check in packed.checks:
                failed.append((pk, seq, *check))
            files.extend(packed.blobs)
        sqlite.bulk_insert(connection, "attempts", _ATTEMPT_COLUMNS, rows)
        sqlite.bulk_insert(connection, "checks", _CHECK_COLUMNS, failed)
        self._write_blocks(connection)
        self._write_blobs(connection, files)

    def write_cases(self, connection: Connection, members: list[PackedCase]) -> None:
        for case in members:
            self._cases_hash.update(case.record)
        rows = [(self.pk, case.key, case.digest, case.category, case.record) for case in members]
        # a case that is described twice keeps its first description
        sqlite.bulk_insert(connection, "cases", _CASE_COLUMNS, rows, or_ignore=True)
        self._write_blobs(connection, [blob for case in members for blob in case.blobs])

    def tally(self, statuses: dict[str, dict[str, int]]) -> None:
        for name, counts in statuses.items():
            known = self._checks.setdefault(name, {})
            for status, count in counts.items():
                known[status] = known.get(status, 0) + count

    def close(self, connection: Connection) -> None:
        """Write what is still open: the last blocks, what could not be read, the context files."""
        self._records.flush()
        self._steps.flush()
        self._write_blocks(connection)
        files: list[Blob] = []
        self.run = msgspec.structs.replace(self.run, context=without_texts(self.run.context, files))
        self._write_blobs(connection, files)
        rows = [(self.pk, number, pack(item)) for number, item in enumerate(self.unreadables)]
        sqlite.bulk_insert(connection, "unreadables", ["run_pk", "number", "record"], rows)

    def make_current(self, connection: Connection) -> ImportedRun:
        digest = self._digest()
        old = connection.execute(
            select(runs.c.pk, runs.c.digest, runs.c.revision).where(
                runs.c.run_id == self.run.id, runs.c.state == "current"
            )
        ).first()
        if old is not None and old.digest == digest:
            connection.execute(update(runs).where(runs.c.pk == self.pk).values(state="stale"))
            # the logs may have moved; that is no change of the run
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(origin=self.run.origin))
            return ImportedRun(self.run.id, old.pk, "unchanged", old.revision)
        revision = 1 if old is None else old.revision + 1
        if old is not None:
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(state="stale"))
        connection.execute(
            update(runs).where(runs.c.pk == self.pk).values(
                state="current", revision=revision, digest=digest, native_id=self.run.native_id, name=self.run.name,
                suite=self.run.suite, model=self.run.subject.model, started_at=self.run.started_at,
                origin=self.run.origin, record=pack(self._bare_run()),
                counts=msgspec.to_builtins(self._counts(connection)),
            )
        )  # fmt: skip
        return ImportedRun(self.run.id, self.pk, "new" if old is None else "grown", revision)

    def _counts(self, connection: Connection) -> Counts:
        mine = attempts.c.run_pk == self.pk
        counted = mine & attempts.c.counted
        total = connection.execute(select(func.count()).where(mine)).scalar_one()
        row = connection.execute(
            select(
                func.count(),
                func.count(attempts.c.case_key.distinct()),
                func.count().filter(attempts.c.failure),
                func.sum(attempts.c.cost),
                func.count(attempts.c.cost),
                func.sum(attempts.c.tokens),
            ).where(counted)
        ).one()
        groups: dict[str, dict[str, int]] = {
            column.name: dict(
                connection.execute(select(column, func.count()).where(counted).group_by(column)).tuples().all()
            )
            for column in (attempts.c.execution, attempts.c.measurement, attempts.c.outcome)
        }
        failed = connection.execute(
            select(checks.c.name, func.count())
            .join(attempts, (attempts.c.run_pk == checks.c.run_pk) & (attempts.c.seq == checks.c.seq))
            .where(counted, checks.c.status == "fail")
            .group_by(checks.c.name)
        ).tuples()
        return Counts(
            attempts=total, counted=row[0], cases=row[1], failures=row[2], unreadable=len(self.unreadables),
            executions=groups["execution"], measurements=groups["measurement"], outcomes=groups["outcome"],
            checks=self._checks, failed_checks=dict(failed.all()), cost=row[3], cost_known=row[4], tokens=row[5],
        )  # fmt: skip

    def _digest(self) -> str:
        whole = blake2b(digest_size=16)
        for part in (pack(self._bare_run()), self._cases_hash.digest(), self._attempts_hash.digest()):
            whole.update(part)
        for item in self.unreadables:
            whole.update(pack(item))
        return whole.hexdigest()

    def _bare_run(self) -> Run:
        """The run's own content: where it lay and what was thought of it are kept apart."""
        return msgspec.structs.replace(self.run, origin="", revision=1, excluded=None)

    def _take_block(self) -> int:
        self._next_block += 1
        return self._next_block

    def _take_full(self, number: int, data: bytes) -> None:
        self._full_blocks.append((self.pk, number, data))

    def _write_blocks(self, connection: Connection) -> None:
        sqlite.bulk_insert(connection, "blocks", ["run_pk", "number", "data"], self._full_blocks)
        self._full_blocks = []

    def _write_blobs(self, connection: Connection, files: list[Blob]) -> None:
        if not files:
            return
        unique = dict(files)
        known = set()
        for digest in unique:
            if connection.execute(select(blobs.c.digest).where(blobs.c.digest == digest)).first():
                known.add(digest)
        new = [(digest, len(data), compress(data)) for digest, data in unique.items() if digest not in known]
        sqlite.bulk_insert(connection, "blobs", ["digest", "size", "data"], new)
        uses = [(self.pk, digest) for digest in unique]
        sqlite.bulk_insert(connection, "blob_uses", ["run_pk", "digest"], uses, or_ignore=True)
