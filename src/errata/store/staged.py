"""One run on its way into the store."""

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, bindparam, func, insert, select, update

from errata.errors import StoreError
from errata.model import Counts, Run, Unreadable
from errata.model.codec import pack
from errata.model.run import without_folder_names
from errata.store import sqlite
from errata.store.blocks import compress
from errata.store.case_versions import complete_versions, write_cases
from errata.store.packing import Blob, RunPart, Tally, without_texts
from errata.store.schema import attempts, blob_uses, blobs, blocks, checks, runs, unreadables

UNREADABLE_KEPT = 10_000
_COLUMNS = [column.name for column in attempts.columns][1:]
_FACTS_OF = itemgetter(*map(_COLUMNS.index, ("counted", "failure", "execution", "measurement", "outcome")))
_SPENT_OF = itemgetter(*map(_COLUMNS.index, ("counted", "tokens", "cost")))
Change = Literal["new", "grown", "unchanged", "kept"]
"""`kept`: the store holds more of the run than this log does, and nothing was changed."""


class ImportedRun(msgspec.Struct, frozen=True):
    """What an import did with one run."""

    id: str
    pk: int
    change: Change
    revision: int


class Staged:
    """Its rows are written as they come, under a number that no query sees yet."""

    def __init__(self, pk: int, run: Run) -> None:
        self.pk = pk
        self.run = run
        self._unreadables: list[Unreadable] = []
        self._unreadable = 0
        self._content = ""
        self._rows = 0
        self._checks: Tally = {}
        self._facts: Counter[tuple[Any, ...]] = Counter()
        self._tokens: int | None = None
        self._cost: float | None = None
        self._cost_known = 0

    def note(self, item: Unreadable) -> None:
        """Every item is counted, the first of them are kept: a file of garbage must not fill the memory."""
        self._unreadable += item.is_lost
        if len(self._unreadables) < UNREADABLE_KEPT:
            self._unreadables.append(item)

    def note_more(self, count: int) -> None:
        """How many more unreadable items there are, without their content."""
        self._unreadable += count

    def write(self, connection: Connection, part: RunPart) -> None:
        self._tally(part.attempts)
        sqlite.bulk_insert(connection, attempts, part.attempts, run_pk=self.pk)
        sqlite.bulk_insert(connection, checks, part.checks, run_pk=self.pk)
        sqlite.bulk_insert(connection, blocks, part.blocks, run_pk=self.pk)
        write_cases(connection, self.pk, part.cases)
        self._write_blobs(connection, part.blobs)
        self._content = part.digest or self._content
        for name, statuses in part.tally.items():
            known = self._checks.setdefault(name, {})
            for status, count in statuses.items():
                known[status] = known.get(status, 0) + count

    def _tally(self, rows: list[tuple[Any, ...]]) -> None:
        """Count while the rows pass by: the reading process takes longer than this one."""
        self._rows += len(rows)
        self._facts.update(map(_FACTS_OF, rows))
        for counted, tokens, cost in map(_SPENT_OF, rows):
            if counted and tokens is not None:
                self._tokens = (self._tokens or 0) + tokens
            if counted and cost is not None:
                self._cost = (self._cost or 0.0) + cost
                self._cost_known += 1

    def close(self, connection: Connection) -> None:
        """Write what is known only at the end: what could not be read, context files, what rows of one case share."""
        files: list[Blob] = []
        self.run = msgspec.structs.replace(self.run, context=without_texts(self.run.context, files))
        self._write_blobs(connection, files)
        complete_versions(connection, self.pk)
        rows = [(number, pack(item)) for number, item in enumerate(self._unreadables)]
        sqlite.bulk_insert(connection, unreadables, rows, run_pk=self.pk)

    def make_current(self, connection: Connection) -> ImportedRun:
        digest = self._digest()
        old = connection.execute(
            select(runs.c.pk, runs.c.digest, runs.c.revision, runs.c.counts).where(
                runs.c.run_id == self.run.id, runs.c.state == "current"
            )
        ).first()
        if old is not None and old.digest == digest:
            connection.execute(update(runs).where(runs.c.pk == self.pk).values(state="stale"))
            # the logs may have moved; that is not a change of the run
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(origin=sqlite.fitting(self.run.origin)))
            return ImportedRun(self.run.id, old.pk, "unchanged", old.revision)
        counts = self._counts(connection)
        if old is not None and _attempts_made(msgspec.to_builtins(counts)) < _attempts_made(old.counts):
            # a part of a run, such as its failures alone or a log cut off, must not take the place of the whole
            connection.execute(update(runs).where(runs.c.pk == self.pk).values(state="stale"))
            return ImportedRun(self.run.id, old.pk, "kept", old.revision)
        revision = 1 if old is None else old.revision + 1
        if old is not None:
            connection.execute(update(runs).where(runs.c.pk == old.pk).values(state="stale"))
        facts = {
            "native_id": self.run.native_id, "name": self.run.name, "suite": self.run.suite,
            "model": self.run.subject.model, "started_at": self.run.started_at, "origin": self.run.origin,
        }  # fmt: skip
        values = {name: sqlite.fitting(value) for name, value in facts.items()}
        values |= {"state": "current", "revision": revision, "digest": digest, "record": pack(self._bare_run())}
        values["counts"] = msgspec.to_builtins(counts)
        connection.execute(update(runs).where(runs.c.pk == self.pk).values(**values))
        return ImportedRun(self.run.id, self.pk, "new" if old is None else "grown", revision)

    def _counts(self, connection: Connection) -> Counts:
        there = connection.execute(select(func.count()).where(attempts.c.run_pk == self.pk)).scalar_one()
        if there != self._rows:
            raise StoreError("Another process took this import for dead and cleared it away", hint="import again")
        counted = [(facts[1:], often) for facts, often in self._facts.items() if facts[0]]
        total = sum(often for _, often in counted)
        return Counts(
            attempts=self._rows,
            counted=total,
            cases=self._cases(connection, only_counted=total < self._rows),
            failures=sum(often for facts, often in counted if facts[0]),
            unreadable=self._unreadable,
            executions=_summed((facts[1], often) for facts, often in counted),
            measurements=_summed((facts[2], often) for facts, often in counted),
            outcomes=_summed((facts[3], often) for facts, often in counted),
            checks=self._checks,
            failed_checks=self._failed_checks(connection),
            cost=self._cost,
            cost_known=self._cost_known,
            tokens=self._tokens,
        )

    def _cases(self, connection: Connection, *, only_counted: bool) -> int:
        query = select(func.count(attempts.c.case_key.distinct())).where(attempts.c.run_pk == self.pk)
        return int(connection.execute(query.where(attempts.c.counted) if only_counted else query).scalar_one())

    def _failed_checks(self, connection: Connection) -> dict[str, int]:
        query = (
            select(checks.c.name, func.count(checks.c.seq.distinct()))
            .join(attempts, (attempts.c.run_pk == checks.c.run_pk) & (attempts.c.seq == checks.c.seq))
            .where(checks.c.run_pk == self.pk, attempts.c.counted, checks.c.status == "fail")
            .group_by(checks.c.name)
        )
        return {row[0]: row[1] for row in connection.execute(query)}

    def _digest(self) -> str:
        whole = blake2b(pack(without_folder_names(self._bare_run())), digest_size=16)
        whole.update(self._content.encode())
        whole.update(str(self._unreadable).encode())
        for item in self._unreadables:
            whole.update(pack(item))
        return whole.hexdigest()

    def _bare_run(self) -> Run:
        """The run's own content: where it lay and what was thought of it are kept apart."""
        return msgspec.structs.replace(self.run, origin="", revision=1, excluded=None)

    def _write_blobs(self, connection: Connection, files: list[Blob]) -> None:
        if not files:
            return
        unique = dict(files)
        query = select(blobs.c.digest).where(blobs.c.digest == bindparam("digest"))
        known = {digest for digest in unique if connection.execute(query, {"digest": digest}).first()}
        rows = [
            {"digest": digest, "size": len(data), "data": compress(data)}
            for digest, data in unique.items()
            if digest not in known
        ]
        if rows:
            connection.execute(insert(blobs), rows)
        sqlite.bulk_insert(connection, blob_uses, [(digest,) for digest in unique], run_pk=self.pk)


def _summed(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, count in pairs:
        counts[name] = counts.get(name, 0) + count
    return counts


def _attempts_made(counts: dict[str, Any]) -> int:
    """How many counted attempts have a row in the log."""
    executions = counts.get("executions", {})
    return int(counts.get("counted", 0)) - int(executions.get("missing", 0)) - int(executions.get("unfinished", 0))
