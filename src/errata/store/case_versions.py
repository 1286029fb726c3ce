"""Cases that a log describes more than once, with other facts: each attempt keeps those that it was made under.

`cases` has the first description of a case. A later one that differs is a version, and holds for the attempts that
follow it in the log, until the next description of that case. Nearly all runs have none.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, exists, func, select, update

from errata.model import Case
from errata.model.case_versions import (
    NO_FACTS,
    NO_WRAPPER,
    Wrapper,
    completed,
    is_same_description,
    tasks_of,
    wrapper_of,
)
from errata.model.codec import pack, unpack
from errata.store import engine
from errata.store.database import Store
from errata.store.schema import case_versions, cases, version_starts

CHUNK = 500
MOST_COMPARED = 64
"""Of more versions than this, none is completed from the others: the name does not name a case."""

CaseRow = tuple[int, str, str, str, bytes]
"""The number of the attempt that follows, the case's key, digest and category, and the record."""


def write_cases(connection: Connection, pk: int, rows: Sequence[CaseRow]) -> None:
    if engine.bulk_insert(connection, cases, [row[1:] for row in rows], run_pk=pk) < len(rows):
        for at in range(0, len(rows), CHUNK):
            _write_versions(connection, pk, rows[at : at + CHUNK])


def _write_versions(connection: Connection, pk: int, rows: Sequence[CaseRow]) -> None:
    keys = list({engine.fitting(row[1]) for row in rows})
    query = select(cases.c.key, cases.c.digest).where(cases.c.run_pk == pk, cases.c.key.in_(keys))
    first = {row.key: row.digest for row in connection.execute(query)}
    started = select(version_starts.c.key).where(version_starts.c.run_pk == pk, version_starts.c.key.in_(keys))
    several = set(connection.execute(started).scalars())
    versions: list[tuple[Any, ...]] = []
    starts: list[tuple[Any, ...]] = []
    for seq, key, digest, _, record in rows:
        if digest != first[engine.fitting(key)]:
            versions.append((key, digest or NO_FACTS, record))
        elif key not in several:
            continue
        several.add(key)
        starts.append((key, seq, digest or NO_FACTS))
    engine.bulk_insert(connection, case_versions, versions, run_pk=pk)
    engine.bulk_insert(connection, version_starts, starts, run_pk=pk)


def complete_versions(connection: Connection, pk: int) -> None:
    """Add to each description what the others agree on; one that then equals the first is no longer a version."""
    keys = select(case_versions.c.key).where(case_versions.c.run_pk == pk).distinct().order_by(case_versions.c.key)
    for key in connection.execute(keys).scalars().all():
        _complete(connection, pk, key)
    left = exists().where(case_versions.c.run_pk == pk, case_versions.c.key == version_starts.c.key)
    connection.execute(delete(version_starts).where(version_starts.c.run_pk == pk, ~left))


def _complete(connection: Connection, pk: int, key: str) -> None:
    columns = (case_versions.c.version, case_versions.c.record)
    query = select(*columns).where(case_versions.c.run_pk == pk, case_versions.c.key == key)
    versions = connection.execute(query.limit(MOST_COMPARED + 1)).all()
    if len(versions) > MOST_COMPARED:
        return
    this_case = (cases.c.run_pk == pk) & (cases.c.key == key)
    own = connection.execute(select(cases.c.record).where(this_case)).scalar_one()
    first, *others = completed([unpack(record, Case) for record in (own, *(row.record for row in versions))])
    if pack(first) != own:
        connection.execute(update(cases).where(this_case).values(digest=first.digest, record=pack(first)))
    for row, case in zip(versions, others, strict=True):
        this_version = (case_versions.c.run_pk == pk) & (case_versions.c.key == key)
        this_version &= case_versions.c.version == row.version
        if is_same_description(case, first):
            connection.execute(delete(case_versions).where(this_version))
        elif (record := pack(case)) != row.record:
            connection.execute(update(case_versions).where(this_version).values(record=record))


_ANY_VERSION = select(case_versions.c.key).where(case_versions.c.run_pk == bindparam("run")).limit(1)
_KEYS_WITH_VERSIONS = (
    select(case_versions.c.run_pk, case_versions.c.key)
    .distinct()
    .where(case_versions.c.run_pk.in_(bindparam("runs", expanding=True)))
)


def has_any(connection: Connection, query: Select[Any], pk: int) -> bool:
    """Whether a run has such rows; asked once for as long as nothing is written."""
    known = engine.read_since_last_change(connection)
    if (query, pk) not in known:
        known[query, pk] = connection.execute(query, {"run": pk}).first() is not None
    return bool(known[query, pk])


class VersionLookup:
    def __init__(self, connection: Connection, pk: int) -> None:
        self._connection, self._pk = connection, pk
        self.has_any = has_any(connection, _ANY_VERSION, pk)

    def at(self, key: str, seq: int) -> str:
        """Empty for the first description of the case."""
        starts = version_starts.c
        query = select(starts.version).where(starts.run_pk == self._pk, starts.key == key, starts.seq <= seq)
        version = self._connection.execute(query.order_by(starts.seq.desc()).limit(1)).scalar()
        if version is None or version_record(self._connection, self._pk, key, version) is None:
            return ""
        return str(version)


def version_record(connection: Connection, pk: int, key: str, version: str) -> bytes | None:
    columns = case_versions.c
    query = select(columns.record).where(columns.run_pk == pk, columns.key == key, columns.version == version)
    return connection.execute(query).scalar()


def versions_of(store: Store, pk: int) -> Iterator[tuple[str, Case]]:
    columns = case_versions.c
    query = select(columns.version, columns.record).where(columns.run_pk == pk).order_by(columns.key, columns.version)
    with store.reading() as connection:
        for row in connection.execute(query.execution_options(yield_per=CHUNK)):
            yield row.version, unpack(row.record, Case)


def keys_with_versions(store: Store, pks: Sequence[int]) -> set[tuple[int, str]]:
    with store.reading() as connection:
        rows = connection.execute(_KEYS_WITH_VERSIONS, {"runs": list(pks)})
        return {(row.run_pk, row.key) for row in rows}


Tasks = Mapping[str, Mapping[int, str]]
"""Case → run → task, of the cases whose descriptions contradict each other. Elsewhere a case is one task."""


@lru_cache(maxsize=64)
def tasks_apart(store: Store, pks: tuple[int, ...]) -> Tasks:
    """For all that compares cases across runs; a number never changes its facts."""
    own = (cases.c.run_pk.in_(pks), cases.c.digest != "")
    edited = select(cases.c.key).where(*own).group_by(cases.c.key)
    with store.reading() as connection:
        keys = set(connection.execute(edited.having(func.min(cases.c.digest) < func.max(cases.c.digest))).scalars())
        keys |= {key for _, key in keys_with_versions(store, pks)}
        described: dict[str, dict[int, list[Case]]] = {key: {} for key in keys}
        known: dict[tuple[str, str], Case] = {}
        for some in engine.chunks(sorted(keys)):
            for row in connection.execute(select(cases).where(*own, cases.c.key.in_(some))):
                case = known.get((row.key, row.digest)) or unpack(row.record, Case)
                described[row.key][row.run_pk] = [known.setdefault((row.key, row.digest), case)]
            query = select(case_versions).where(case_versions.c.run_pk.in_(pks), case_versions.c.key.in_(some))
            for row in connection.execute(query):
                described[row.key].setdefault(row.run_pk, []).append(unpack(row.record, Case))
    often: Counter[Wrapper | None] = Counter()
    for by_run in described.values():
        distinct = {case.digest: case for some_cases in by_run.values() for case in some_cases}.values()
        often.update({wrapper_of(*pair) for pair in combinations(distinct, 2)} - {None})
    wrappers = NO_WRAPPER.union(wrapper for wrapper, times in often.items() if times > 1)
    tasks = {key: tasks_of(by_run, wrappers) for key, by_run in described.items()}
    return {key: apart for key, apart in tasks.items() if apart}


def task_of(tasks: Tasks, key: str, pk: int) -> str:
    return tasks[key].get(pk, "") if key in tasks else ""
