"""What only a server needs of the store: the journal of runs that are reported while they go on, tokens, changes."""

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import Connection, Row, Select, func, insert, select, update

from errata.errors import ConflictError, NotFoundError, StoreError
from errata.model.live import LiveRunState, LiveStatus, StoreChange
from errata.model.token import Token
from errata.store import engine
from errata.store.blocks import compress, decompress
from errata.store.database import Store
from errata.store.schema import bucket_events, exclusions, leases, live_items, live_runs, runs, tokens, verdicts


class JournalItem(msgspec.Struct, frozen=True):
    kind: str
    key: str
    digest: str
    data: bytes
    attempt: str = ""
    number: int = 0


def start_live_run(
    store: Store, state: LiveRunState, key: str, item: JournalItem, *, silence: float | None
) -> tuple[LiveRunState, bool]:
    """The state of the run, and whether it is new: a run is started once."""
    with store.writing() as connection:
        known = _state(connection, state.run)
        if known is not None:
            return known, False
        values = {"run_id": state.run, "key": key, "token": state.token, "state": state.state, "silence": silence}
        times = {"started_at": state.started_at, "heard_at": state.heard_at}
        connection.execute(insert(live_runs).values(**values, **times, published=0))
        _insert(connection, state.run, item)
    return state, True


def add_to_journal(
    store: Store, run_id: str, items: Sequence[JournalItem], *, now: str, finishes: bool = False
) -> tuple[LiveRunState, int]:
    """All of them or none: the state after it, and how many are new. A key belongs to one content."""
    with store.writing() as connection:
        before = _state(connection, run_id)
        if before is None:
            raise NotFoundError(f"No run `{run_id}` was started", hint="start it: `POST /api/live/runs`")
        new = 0
        for item in items:
            if _is_known(connection, run_id, item):
                continue
            if before.state == "finished":
                raise ConflictError("The run is finished: nothing can be added", hint="start another run")
            _insert(connection, run_id, item)
            new += 1
        state: LiveStatus = "finished" if finishes or before.state == "finished" else "running"
        changed = update(live_runs).where(live_runs.c.run_id == run_id).values(heard_at=now, state=state)
        connection.execute(changed)
    return msgspec.structs.replace(before, state=state, heard_at=now), new


def _is_known(connection: Connection, run_id: str, item: JournalItem) -> bool:
    query = select(live_items.c.digest).where(live_items.c.run_id == run_id, live_items.c.key == item.key)
    digest = connection.execute(query).scalar()
    if digest is not None and digest != item.digest:
        message = f"The key `{item.key}` was used for another report"
        raise ConflictError(message, hint="repeat a report unchanged, or give the new one a key of its own")
    return digest is not None


def _insert(connection: Connection, run_id: str, item: JournalItem) -> None:
    values = {"run_id": run_id, "kind": item.kind, "key": item.key, "digest": item.digest}
    connection.execute(insert(live_items).values(**values, attempt_id=item.attempt, record=compress(item.data)))


def set_live_state(store: Store, run_id: str, state: LiveStatus, *, only_from: LiveStatus | None = None) -> None:
    with store.writing() as connection:
        query = update(live_runs).where(live_runs.c.run_id == run_id)
        connection.execute((query.where(live_runs.c.state == only_from) if only_from else query).values(state=state))


def journal_place(store: Store, run_id: str) -> tuple[int, int]:
    with store.reading() as connection:
        newest = select(func.max(live_items.c.number)).where(live_items.c.run_id == run_id)
        published = select(live_runs.c.published).where(live_runs.c.run_id == run_id)
        return connection.execute(newest).scalar() or 0, connection.execute(published).scalar() or 0


def keep_published(store: Store, run_id: str, number: int) -> None:
    """The run in `runs` contains all reports up to this one. Of a finished run only the keys are still needed."""
    with store.writing() as connection:
        run = live_runs.c.run_id == run_id
        connection.execute(update(live_runs).where(run, live_runs.c.published < number).values(published=number))
        state = _state(connection, run_id)
        newest = connection.execute(select(func.max(live_items.c.number)).where(live_items.c.run_id == run_id)).scalar()
        if state is not None and state.state == "finished" and newest == number:
            emptied = update(live_items).where(live_items.c.run_id == run_id, live_items.c.record.is_not(None))
            connection.execute(emptied.values(record=None))


def live_run(store: Store, run_id: str) -> LiveRunState | None:
    with store.reading() as connection:
        return _state(connection, run_id)


def live_runs_in(store: Store, *states: LiveStatus) -> list[tuple[LiveRunState, float | None]]:
    """In one of these states, each with the silence that it allows, if it names one."""
    with store.reading() as connection:
        rows = connection.execute(select(live_runs).where(live_runs.c.state.in_(states)))
        return [(_as_state(row), row.silence) for row in rows]


def unpublished_runs(store: Store) -> list[str]:
    newest = select(live_items.c.run_id, func.max(live_items.c.number).label("newest")).group_by(live_items.c.run_id)
    counted = newest.subquery()
    query = select(live_runs.c.run_id).join(counted, counted.c.run_id == live_runs.c.run_id)
    with store.reading() as connection:
        return list(connection.execute(query.where(live_runs.c.published < counted.c.newest)).scalars())


def journal_of(store: Store, run_id: str, attempt: str = "") -> list[JournalItem]:
    """About the run itself, or about one attempt; oldest first."""
    query = select(live_items).where(live_items.c.run_id == run_id, live_items.c.attempt_id == attempt)
    with store.reading() as connection:
        return [_item(row) for row in connection.execute(query.order_by(live_items.c.number))]


def attempts_in_journal(store: Store, run_id: str) -> Iterator[str]:
    first = func.min(live_items.c.number)
    query = select(live_items.c.attempt_id).where(live_items.c.run_id == run_id, live_items.c.attempt_id != "")
    with store.reading() as connection:
        yield from connection.execute(query.group_by(live_items.c.attempt_id).order_by(first)).scalars().all()


def _item(row: Row[Any]) -> JournalItem:
    data = decompress(row.record) if row.record is not None else b""
    return JournalItem(row.kind, row.key, row.digest, data, row.attempt_id, row.number)


def _state(connection: Connection, run_id: str) -> LiveRunState | None:
    row = connection.execute(select(live_runs).where(live_runs.c.run_id == run_id)).first()
    return None if row is None else _as_state(row)


def _as_state(row: Row[Any]) -> LiveRunState:
    return LiveRunState(
        run=row.run_id, state=row.state, started_at=row.started_at, heard_at=row.heard_at, token=row.token
    )


# --- tokens in the store: their hashes, scopes and last use


def keep_token(store: Store, token: Token, digest: str) -> bool:
    """False where a token of this name exists that was not revoked."""
    with store.writing() as connection:
        taken = select(tokens.c.id).where(tokens.c.name == token.name, tokens.c.revoked_at.is_(None))
        if connection.execute(taken).first() is not None:
            return False
        values = {"id": token.id, "name": token.name, "hash": digest, "scopes": " ".join(token.scopes)}
        made = {"created_at": token.created_at, "created_by": token.created_by}
        connection.execute(insert(tokens).values(**values, **made))
    return True


def all_tokens(store: Store) -> list[Token]:
    with store.reading() as connection:
        return [_token(row) for row in connection.execute(select(tokens).order_by(engine.ROW))]


def token_with_hash(store: Store, token_id: str) -> tuple[Token, str] | None:
    with store.reading() as connection:
        row = connection.execute(select(tokens).where(tokens.c.id == token_id)).first()
        return None if row is None else (_token(row), str(row.hash))


def keep_last_use(store: Store, token_id: str, at: str) -> None:
    with store.writing() as connection:
        connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=at))


def keep_revocation(store: Store, token_id: str, at: str) -> None:
    with store.writing() as connection:
        unrevoked = update(tokens).where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None))
        connection.execute(unrevoked.values(revoked_at=at))


def _token(row: Row[Any]) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        scopes=tuple(row.scopes.split()),
        created_at=row.created_at,
        created_by=row.created_by,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )


# --- what changed in the store since the last look, whoever wrote it: any process that has the file open


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
