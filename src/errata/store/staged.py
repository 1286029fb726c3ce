"""One run on its way into the store."""

from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, func, insert, select, update

from errata.errors import StoreError
from errata.model import Counts, Run
from errata.model.codec import pack
from errata.store import engine
from errata.store.blocks import compress
from errata.store.case_versions import complete_versions, write_cases
from errata.store.content_digest import OlderContent, is_older
from errata.store.packing import Blob, RunPart, without_texts
from errata.store.run_totals import ImportedRun, RunTotals, is_less
from errata.store.schema import attempts, blob_uses, blobs, blocks, checks, runs, unreadables


class Staged(RunTotals):
    """Its rows are written as they come, under a number that no query sees yet."""

    def __init__(self, pk: int, run: Run, *, replaces: str = "") -> None:
        """`replaces` is the digest of the run that is current."""
        super().__init__(run)
        self.pk = pk
        self._older = OlderContent() if is_older(replaces) else None

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
        rows = [(number, pack(item)) for number, item in enumerate(self.unreadables)]
        engine.bulk_insert(connection, unreadables, rows, run_pk=self.pk)

    def make_current(self, connection: Connection) -> ImportedRun:
        digest = self.digest()
        old = connection.execute(
            select(runs.c.pk, runs.c.digest, runs.c.revision, runs.c.counts).where(
                runs.c.run_id == self.run.id, runs.c.state == "current"
            )
        ).first()
        if old is not None and self.is_same_as(old.digest, self._older_content):
            connection.execute(update(runs).where(runs.c.pk == self.pk).values(state="stale"))
            # the logs may have moved; that is not a change of the run
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(origin=engine.fitting(self.run.origin)))
            return ImportedRun(self.run.id, old.pk, "unchanged", old.revision)
        counts = self._counts(connection)
        if old is not None and is_less(counts, old.counts):
            connection.execute(update(runs).where(runs.c.pk == self.pk).values(state="stale"))
            return ImportedRun(self.run.id, old.pk, "kept", old.revision)
        revision = 1 if old is None else old.revision + 1
        if old is not None:
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(state="stale"))
        values: dict[str, Any] = self.described()
        values |= {"state": "current", "revision": revision, "digest": digest, "record": pack(self.bare_run())}
        values["counts"] = msgspec.to_builtins(counts)
        connection.execute(update(runs).where(runs.c.pk == self.pk).values(**values))
        return ImportedRun(self.run.id, self.pk, "new" if old is None else "grown", revision)

    def _older_content(self) -> str:
        return self._older.hexdigest() if self._older is not None else ""

    def _counts(self, connection: Connection) -> Counts:
        there = connection.execute(select(func.count()).where(attempts.c.run_pk == self.pk)).scalar_one()
        if there != self.rows:
            raise StoreError("Another process treated this import as dead and removed it", hint="import again")
        return self.counts(cases=self._cases(connection), failed_checks=self._failed_checks(connection))

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
