"""What was done about failures, and what is accepted as it is: actions and known gaps, each committed by itself."""

from typing import Any

import msgspec
from sqlalchemy import Table, bindparam, delete, insert, select

from errata.errors import NotFoundError
from errata.model import Action, KnownGap
from errata.model.codec import pack, unpack
from errata.store.database import Store
from errata.store.schema import actions
from errata.store.schema import known_gaps as gaps

LEAST_OF_AN_ID = 4


def keep_action(store: Store, action: Action) -> bool:
    """Kept once. Of one that is known, only the report it was written into may be new. Whether it was not known."""
    with store.writing() as connection:
        row = connection.execute(select(actions.c.record).where(actions.c.id == action.id)).first()
        known = unpack(row.record, Action) if row else None
        kept = action if known is None else msgspec.structs.replace(known, report=action.report or known.report)
        if kept != known:
            connection.execute(delete(actions).where(actions.c.id == action.id))
            connection.execute(insert(actions).values(id=kept.id, date=kept.date, record=pack(kept)))
    return known is None


def all_actions(store: Store) -> list[Action]:
    query = select(actions.c.record).order_by(actions.c.date, actions.c.id)
    records = store.read_once("actions", lambda connection: connection.execute(query).scalars().all())
    return [unpack(record, Action) for record in records]


def action_by_id(store: Store, beginning: str) -> Action:
    """By its id, or the beginning of it where no other begins so."""
    record: bytes = _by_id(store, actions, beginning, "action", "`errata action list` shows them all")
    return unpack(record, Action)


def forget_action(store: Store, action_id: str) -> None:
    with store.writing() as connection:
        connection.execute(delete(actions).where(actions.c.id == action_id))


def keep_gap(store: Store, gap: KnownGap) -> KnownGap | None:
    """Kept under its id; what was kept there before."""
    values = {"id": gap.id, "suite": gap.suite, "case_key": gap.case_key, "record": pack(gap)}
    with store.writing() as connection:
        row = connection.execute(select(gaps.c.record).where(gaps.c.id == gap.id)).first()
        connection.execute(delete(gaps).where(gaps.c.id == gap.id))
        connection.execute(insert(gaps).values(values))
    return unpack(row.record, KnownGap) if row else None


_GAPS = select(gaps.c.record).order_by(gaps.c.suite, gaps.c.case_key == "", gaps.c.case_key, gaps.c.id)
_GAPS_OF_SUITE = _GAPS.where(gaps.c.suite.in_(("", bindparam("suite"))))


def known_gaps(store: Store, suite: str = "") -> list[KnownGap]:
    """Those of a suite and those of every suite; all where none is named. Those of one case come first."""
    query, values = (_GAPS_OF_SUITE, {"suite": suite}) if suite else (_GAPS, {})
    records = store.read_once(("gaps", suite), lambda connection: connection.execute(query, values).scalars().all())
    return [unpack(record, KnownGap) for record in records]


def gap_by_id(store: Store, beginning: str) -> KnownGap:
    record: bytes = _by_id(store, gaps, beginning, "known gap", "`errata known list` shows them all")
    return unpack(record, KnownGap)


def forget_gap(store: Store, gap_id: str) -> None:
    with store.writing() as connection:
        connection.execute(delete(gaps).where(gaps.c.id == gap_id))


def _by_id(store: Store, table: Table, beginning: str, what: str, hint: str) -> Any:
    with store.reading() as connection:
        query = select(table.c.id, table.c.record).where(table.c.id.startswith(beginning, autoescape=True))
        rows = connection.execute(query.order_by(table.c.id)).all() if beginning else []
    exact = [row for row in rows if row.id == beginning or len(beginning) >= LEAST_OF_AN_ID]
    if len(exact) == 1:
        return exact[0].record
    problem = (
        f"`{beginning}` begins the ids of {len(exact)} {what}s" if exact else f"No {what} has the id `{beginning}`"
    )
    raise NotFoundError(problem, hint=hint)
