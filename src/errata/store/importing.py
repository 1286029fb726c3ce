"""Writing large runs: staged under a number nobody sees, then made current in one short transaction each."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, insert, select, update

from errata.errors import StoreError
from errata.model import Run, Unreadable
from errata.store.database import Store, this_process
from errata.store.engine import fitting
from errata.store.packing import PackedBatch
from errata.store.removal import collect_garbage
from errata.store.run_totals import UNREADABLE_KEPT, ImportedRun, RunTotals, share_unclaimed
from errata.store.schema import runs
from errata.store.staged import Staged

BATCHES_AT_ONCE = 8
BYTES_AT_ONCE = 2 * 1024 * 1024
"""Of blocks. A transaction writes every page that it has touched, so larger ones write less."""


class Importing:
    """One import: takes batches, then `finish`. Left without finishing, nothing of it will be seen."""

    def __init__(self, store: Store) -> None:
        self._store = store
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
                done.append(staged.make_current(connection))
        collect_garbage(self._store)
        return done

    def _add_run(self, connection: Connection, run: Run) -> None:
        known = self._staged.get(run.id)
        if known is not None:
            known.run = run
            return
        begun = RunTotals(run)
        values = begun.begun(self._importer) | begun.described()
        statement = insert(runs).values(**values, state="importing", revision=0, digest="", counts={}, record=b"")
        pk = connection.execute(statement).inserted_primary_key
        assert pk is not None
        self._staged[run.id] = Staged(pk[0], run, replaces=current_digest(connection, run.id))

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


def current_digest(connection: Connection, run_id: str) -> str:
    query = select(runs.c.digest).where(runs.c.run_id == fitting(run_id), runs.c.state == "current")
    return connection.execute(query).scalar() or ""
