"""Logs that share a run's id: one that grew, parts of one run, or two runs that only their folders tell apart."""

import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Table, and_, case, func, insert, literal, select

from errata.model import Run
from errata.model.codec import unpack
from errata.model.identity import case_key
from errata.store.case_versions import CaseRow, write_cases
from errata.store.schema import (
    attempts,
    blob_uses,
    blocks,
    case_versions,
    cases,
    checks,
    thinned,
    unreadables,
    version_starts,
)

Relation = Literal["grown", "kept", "part", "apart"]
"""A later log of an id has all that the store has, or a part of it, or only other attempts, or other results."""

NOT_MADE = ("missing", "unfinished", "skipped")
"""Executions of attempts that have no result which another log could contradict."""
_KEY: tuple[ColumnElement[Any], ...] = (
    attempts.c.case_key,
    attempts.c.number,
    attempts.c.path,
    func.coalesce(attempts.c.session, -1).label("session"),
)
SCORED = "scored"
"""Words for attempts that were not measured, because something broke, come before it in the alphabet."""
_RESULT = attempts.c.measurement + "/" + attempts.c.outcome


def place_of(run: Run) -> str:
    """Where its log lies. Of many logs in one folder, each is another place."""
    return os.path.join(os.path.abspath(run.origin), run.ref.file if run.ref else "")  # noqa: PTH118, PTH100 may not exist


def is_log_of(run: Run, record: bytes, origin: str) -> bool:
    """Whether a run was read where the stored one of its id was: that log may change as it likes."""
    stored = msgspec.structs.replace(unpack(record, Run), origin=origin)
    return not stored.parts_at and place_of(stored) == place_of(run)


def relation(connection: Connection, run: Run, new: int, old: Row[*tuple[Any, ...]], *, was_read: bool) -> Relation:
    """How the attempts of a run that is being imported compare to those of the stored run with its id.

    `was_read`: this import reads the stored one, too, so that an equal one does not take its place.
    """
    stored = unpack(old.record, Run)
    sides = ((old.pk, _KEY), (new, _KEY))
    if stored.suite != run.suite and _is_renamed(connection, (old.pk, stored.suite), (new, run.suite)):
        sides = ((old.pk, _key_below(stored.suite)), (new, _key_below(run.suite)))
    before, fresh = (
        select(*key, func.min(_RESULT).label("least"), func.max(_RESULT).label("most"))
        .where(attempts.c.run_pk == pk, attempts.c.execution.not_in(NOT_MADE))
        .group_by(*key)
        .subquery()
        for pk, key in sides
    )
    same_key = and_(*(before.c[name] == fresh.c[name] for name in ("case_key", "number", "path", "session")))
    same = and_(same_key, *(before.c[name] == fresh.c[name] for name in ("least", "most")))
    # what broke in one log and was retried in the other is no other result: the harness puts it in the same place
    pairs = (before, fresh), (fresh, before)
    retried, broken = (and_(same_key, then.c.most < SCORED, now.c.least >= SCORED) for then, now in pairs)
    joins = [before.join(fresh, each) for each in (same_key, same, retried, broken)]
    of_old, of_new, both, equal, mended, lost = (
        connection.scalar(select(func.count()).select_from(each)) or 0 for each in (before, fresh, *joins)
    )
    if both > equal + max(mended, lost) or (mended and lost):
        return "apart"
    if both == of_new and not mended and (both < of_old or was_read or lost):
        return "kept"
    if lost:
        return "apart"
    if both == of_old:
        return "grown"
    return "part" if not both or place_of(run) in stored.parts_at else "apart"


def _is_renamed(connection: Connection, *sides: tuple[int, str]) -> bool:
    """Whether cases of one name ask the same below both suites, and none asks something else."""
    tasks = []
    for pk, suite in sides:
        query = select(cases.c.key, cases.c.digest).where(cases.c.run_pk == pk, cases.c.digest != "")
        tasks.append({row.key.removeprefix(case_key(suite, "")): row.digest for row in connection.execute(query)})
    return {tasks[0][name] == tasks[1][name] for name in tasks[0].keys() & tasks[1].keys()} == {True}


def _key_below(suite: str) -> tuple[ColumnElement[Any], ...]:
    """With the case's name alone: a suite may have another name in each log."""
    prefix = case_key(suite, "")
    name = case(
        (attempts.c.case_key.startswith(prefix, autoescape=True), func.substr(attempts.c.case_key, len(prefix) + 1)),
        else_=attempts.c.case_key,
    )
    return (name.label("case_key"), *_KEY[1:])


def facts_of(connection: Connection, pk: int) -> list[tuple[Any, ...]]:
    columns = [attempts.c[name] for name in ("counted", "failure", "execution", "measurement", "outcome")]
    query = select(*columns, func.count()).where(attempts.c.run_pk == pk).group_by(*columns)
    return [tuple(row) for row in connection.execute(query)]


def attempt_keys(connection: Connection, pk: int) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in connection.execute(select(*_KEY).where(attempts.c.run_pk == pk))}


def add_stored_rows(connection: Connection, stored: int, new: int) -> None:
    """Copy the rows of the stored run behind those of the new one, which has none of its attempts."""
    seq = _next(connection, attempts, "seq", new)
    block = _next(connection, blocks, "number", new)
    shifts = {"seq": seq, "record_block": block, "steps_block": block}
    _copy(connection, attempts, stored, new, shifts)
    _copy(connection, checks, stored, new, {"seq": seq})
    _copy(connection, thinned, stored, new, {"seq": seq})
    _copy(connection, blocks, stored, new, {"number": block})
    _copy(connection, unreadables, stored, new, {"number": _next(connection, unreadables, "number", new)})
    known = select(blob_uses.c.digest).where(blob_uses.c.run_pk == new)
    _copy(connection, blob_uses, stored, new, {}, blob_uses.c.digest.not_in(known))
    write_cases(connection, new, _case_rows(connection, stored, seq))


def _case_rows(connection: Connection, pk: int, seq: int) -> Sequence[CaseRow]:
    """As a source describes them: the first description of each case, then the later ones where they begin."""
    first = select(literal(seq), cases.c.key, cases.c.digest, cases.c.category, cases.c.record)
    later = (
        select(
            version_starts.c.seq + seq,
            case_versions.c.key,
            case_versions.c.version,
            literal(""),
            case_versions.c.record,
        )
        .join(
            version_starts,
            and_(*(case_versions.c[name] == version_starts.c[name] for name in ("run_pk", "key", "version"))),
        )
        .where(case_versions.c.run_pk == pk)
        .order_by(version_starts.c.seq)
    )
    rows = [*connection.execute(first.where(cases.c.run_pk == pk)), *connection.execute(later)]
    return [tuple(row) for row in rows]


def _next(connection: Connection, table: Table, column: str, pk: int) -> int:
    query = select(func.max(table.c[column])).where(table.c.run_pk == pk)
    last = connection.execute(query).scalar()
    return 0 if last is None else last + 1


def _copy(connection: Connection, table: Table, stored: int, new: int, shifts: dict[str, int], *where: Any) -> None:
    values = [
        literal(new) if column.name == "run_pk" else column + shifts[column.name] if column.name in shifts else column
        for column in table.columns
    ]
    rows = select(*values).where(table.c.run_pk == stored, *where)
    connection.execute(insert(table).from_select([column.name for column in table.columns], rows))


def joined(stored: Run, part: Run, cases_of_both: int) -> Run:
    """One run from its parts. What the harness counted of one part alone is left out."""
    planned = _sum(stored.expected_cases, part.expected_cases)
    if stored.expected_cases == part.expected_cases and (stored.expected_cases or 0) >= cases_of_both:
        planned = stored.expected_cases  # each part names the whole
    places = dict.fromkeys((*(stored.parts_at or (place_of(stored),)), place_of(part)))
    return msgspec.structs.replace(
        stored,
        expected_cases=planned,
        measured_attempts=_sum(stored.measured_attempts, part.measured_attempts),
        measured_passes=_sum(stored.measured_passes, part.measured_passes),
        reported=(),
        started_at=min(filter(None, (stored.started_at, part.started_at)), default=None),
        finished_at=max(filter(None, (stored.finished_at, part.finished_at)), default=None),
        conflicts=tuple(dict.fromkeys((*stored.conflicts, *part.conflicts))),
        context=(*stored.context, *(file for file in part.context if file not in stored.context)),
        parts_at=tuple(places),
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def folder_apart(stored: Run, run: Run) -> str:
    """What distinguishes the place of a log from that of another run with its id: `exp2` of `/d/exp1` and `/d/exp2`."""
    theirs, ours = list(Path(place_of(stored)).parts), list(Path(place_of(run)).parts)
    whole = list(ours)
    while theirs and ours and theirs[0] == ours[0]:
        del theirs[0], ours[0]
    while theirs and ours and theirs[-1] == ours[-1]:
        del theirs[-1], ours[-1]
    return "/".join(ours) or "/".join(whole[-2:])
