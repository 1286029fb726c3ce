"""What changed in the store since the last look, whoever wrote it: any process that has the file open."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Select, select

from errata.errors import StoreError
from errata.model.live import StoreChange
from errata.store import engine
from errata.store.database import Store
from errata.store.schema import bucket_events, exclusions, leases, live_runs, runs, verdicts

MOST_SINGLE = 50
"""Changes of one kind that are listed one by one; more of them become one change of the run."""


class ChangeFeed:
    """Has a connection of its own, which sees the commits of all others. For one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version: int | str | None = None
        self._runs: dict[str, tuple[Any, ...]] = {}
        self._claims: set[tuple[str, str, str]] = set()
        self._verdict: tuple[int, str] | None = None
        self._event: tuple[int, bool] = (0, False)

    def __enter__(self) -> Self:
        connection = self._store.engine.connect()
        self._connection: Connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        self.poll()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def poll(self) -> list[StoreChange]:
        """What changed since the last call. It costs one statement where nothing was committed."""
        try:
            with self._store.translated():
                return self._changes()
        except StoreError:
            # a connection that was lost is opened again by the next call
            self._connection.rollback()
            raise

    def _changes(self) -> list[StoreChange]:
        version = engine.data_version(self._connection)
        if version == self._version:
            return []
        is_first, self._version = self._version is None, version
        changes = [*self._changed_runs(), *self._new_verdicts(), *self._bucket_events(), *self._changed_claims()]
        return [] if is_first else changes

    def _rows(self, query: Select[Any]) -> list[Any]:
        return list(self._connection.execute(query))

    def _changed_runs(self) -> Iterator[StoreChange]:
        facts = (runs.c.run_id, runs.c.pk, runs.c.revision, exclusions.c.at, live_runs.c.state)
        joined = runs.outerjoin(exclusions, runs.c.run_id == exclusions.c.run_id)
        joined = joined.outerjoin(live_runs, runs.c.run_id == live_runs.c.run_id)
        query = select(*facts).select_from(joined).where(runs.c.state == "current")
        before, self._runs = self._runs, {row[0]: tuple(row[1:]) for row in self._rows(query)}
        for run_id in before.keys() - self._runs.keys():
            yield StoreChange(kind="run", run=run_id)
        for run_id, now in self._runs.items():
            known = before.get(run_id)
            if known == now:
                continue
            # only more of the same run: another number, another revision
            is_growth = known is not None and known[2:] == now[2:]
            yield StoreChange(kind="attempts" if is_growth else "run", run=run_id)

    def _new_verdicts(self) -> Iterator[StoreChange]:
        columns = (engine.ROW, verdicts.c.id, verdicts.c.run_id, verdicts.c.attempt_id, verdicts.c.reviewer)
        newest = self._rows(select(*columns).order_by(engine.ROW.desc()).limit(1))
        last = (int(newest[0][0]), str(newest[0][1])) if newest else (0, "")
        before, self._verdict = self._verdict, last
        if before is None or last == before:
            return
        # a number may be given again after the last row was removed
        since = before[0] if last[0] > before[0] else last[0] - 1
        new = self._rows(select(*columns).where(since < engine.ROW).order_by(engine.ROW).limit(100_000))
        if len(new) > MOST_SINGLE:
            yield from (StoreChange(kind="verdict", run=run) for run in dict.fromkeys(row[2] for row in new))
        else:
            yield from (StoreChange(kind="verdict", run=row[2], attempt=row[3], by=row[4]) for row in new)

    def _bucket_events(self) -> Iterator[StoreChange]:
        columns = (bucket_events.c.number, bucket_events.c.undone, bucket_events.c.author)
        newest = self._rows(select(*columns).order_by(bucket_events.c.number.desc()).limit(1))
        last = (int(newest[0][0]), bool(newest[0][1])) if newest else (0, False)
        before, self._event = self._event, last
        if last != before:
            yield StoreChange(kind="bucket", by=newest[0][2] if newest else None)

    def _changed_claims(self) -> Iterator[StoreChange]:
        query = select(leases.c.run_id, leases.c.attempt_id, leases.c.reviewer)
        before, self._claims = self._claims, {(row[0], row[1], row[2]) for row in self._rows(query)}
        changed = sorted(before ^ self._claims)
        if len(changed) > MOST_SINGLE:
            yield from (StoreChange(kind="claim", run=run) for run in dict.fromkeys(one[0] for one in changed))
        else:
            yield from (StoreChange(kind="claim", run=run, attempt=attempt, by=by) for run, attempt, by in changed)
