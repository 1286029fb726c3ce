"""Failures by filters, a page at a time, with counts: the queries of the index, and what its rows are made from."""

import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Select, select

from errata.model import Attribution, FailureKey
from errata.model.codec import unpack
from errata.model.filters import FailureFilters
from errata.model.identity import attempt_id, fingerprint
from errata.model.listing import NOT_GIVEN, EvidenceLine, Facets, FailureRow, Grouping, Order, RowGroup
from errata.store.attempts import FETCH
from errata.store.database import Store
from errata.store.engine import chunks
from errata.store.index_file import CHUNK, index_of, mark_rows, match_words, writing_index
from errata.store.schema import attempts, attributions, cases, checks

_REVIEWED = frozenset(("reviewed", "final", "disputed"))


class Kind(NamedTuple):
    bucket: str
    owner: str
    check_name: str
    review: str
    category: str
    past: str
    signals: str
    size: int


_SHARED = Kind._fields[:-1]
_KIND_COLUMNS = ", ".join(_SHARED)
_GROUPED_BY: dict[Grouping, str] = {"bucket": "bucket", "owner": "owner", "check": "check_name", "category": "category"}
_FACETS = {"owner": "owners", "check": "check", "review": "review", "category": "category", "past": "past"}


# writing, within a transaction


def count_kinds(connection: sqlite3.Connection, run_id: str) -> None:
    connection.execute("DELETE FROM kinds WHERE run_id = ?", (run_id,))
    connection.execute(
        f"INSERT INTO kinds SELECT run_id, {_KIND_COLUMNS}, COUNT(*) FROM failures WHERE run_id = ?"  # noqa: S608
        f" GROUP BY {_KIND_COLUMNS}",
        (run_id,),
    )


# reading


def kept_kinds(connection: sqlite3.Connection, run_id: str) -> list[Kind]:
    query = f"SELECT {_KIND_COLUMNS}, count FROM kinds WHERE run_id = ?"  # noqa: S608
    return [Kind(*row) for row in connection.execute(query, (run_id,))]


def counted_kinds(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Kind]:
    query = f"SELECT {_KIND_COLUMNS}, COUNT(*) FROM failures WHERE {where} GROUP BY {_KIND_COLUMNS}"  # noqa: S608
    return [Kind(*row) for row in connection.execute(query, values)]


def facets_in(kinds: Iterable[Kind], filters: FailureFilters) -> Facets:
    """Counts of every value; each facet without its own filter, so that another value can be chosen."""
    counted: dict[str, Counter[str]] = {name: Counter() for name in (*_FACETS, "signal")}
    total = 0
    for kind in kinds:
        unfit = list(_unfit(kind, filters))
        if not unfit:
            total += kind.size
        elif len(unfit) > 1 or unfit[0] not in counted:
            continue
        for name in unfit or counted:
            if name == "signal":
                for signal in kind.signals.split():
                    counted[name][signal] += kind.size
            else:
                counted[name][_value(kind, name)] += kind.size
    ordered = {
        name: dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))) for name, counts in counted.items()
    }
    return Facets(total=total, **ordered)


def groups_in(kinds: Iterable[Kind], filters: FailureFilters, grouping: Grouping) -> list[RowGroup]:
    column = _GROUPED_BY[grouping]
    owners: dict[str, Counter[str]] = {}
    reviewed: Counter[str] = Counter()
    for kind in kinds:
        if any(_unfit(kind, filters)):
            continue
        name = getattr(kind, column)
        owners.setdefault(name, Counter())[kind.owner] += kind.size
        reviewed[name] += kind.size if kind.review in _REVIEWED else 0
    groups = (RowGroup(name, counts.total(), reviewed[name], _owner_of_most(counts)) for name, counts in owners.items())
    return sorted(groups, key=lambda group: (-group.size, group.name))


def _owner_of_most(owners: Counter[str]) -> str:
    """Collateral only where there is nothing else: it follows from another failure."""
    return min(owners, key=lambda owner: (owner == "collateral", -owners[owner], owner))


def _value(kind: Kind, facet: str) -> str:
    return kind.check_name if facet == "check" else str(getattr(kind, facet))


def _unfit(kind: Kind, filters: FailureFilters) -> Iterator[str]:
    if filters.owners and kind.owner not in filters.owners:
        yield "owner"
    for name in ("check", "review", "category", "past", "bucket"):
        wanted = getattr(filters, name)
        if wanted and _value(kind, name) != ("" if wanted == NOT_GIVEN else wanted):
            yield name
    if filters.signal and f" {filters.signal} " not in kind.signals:
        yield "signal"


# --- filters of the failure list as conditions of its queries, and the text that a filter searches for


def conditions_of(store: Store, run_id: str, filters: FailureFilters) -> tuple[str, list[Any]]:
    parts, values = ["run_id = ?"], [run_id]
    if filters.owners:
        parts.append(f"owner IN ({', '.join('?' * len(filters.owners))})")
        values += filters.owners
    equal = (
        ("check_name", filters.check),
        ("review", filters.review),
        ("category", filters.category),
        ("bucket", filters.bucket),
        ("key", filters.key),
        ("past", filters.past),
    )
    for column, value in equal:
        if value:
            parts.append(f"{column} = ?")
            values.append("" if value == NOT_GIVEN else value)
    if filters.signal:
        parts.append("INSTR(signals, ?) > 0")
        values.append(f" {filters.signal} ")
    if filters.text:
        _match(store, run_id, filters.text)
        parts.append("seq IN (SELECT seq FROM temp.matched)")
    return " AND ".join(parts), values


def _match(store: Store, run_id: str, text: str) -> None:
    """Collect the failures of a run that hold a text, or whose case does, once for all queries of a page."""
    connection = index_of(store)
    marks = connection.execute("SELECT number, rows_mark, texts_mark FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    key = (run_id, text, marks)
    if _matched.get(store) == key:
        return
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS matched (seq INTEGER PRIMARY KEY)")
    connection.execute("DELETE FROM temp.matched")
    like = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    connection.execute(
        "INSERT INTO temp.matched SELECT seq FROM failures WHERE run_id = ? AND case_key LIKE ? ESCAPE '\\'",
        (run_id, f"%{like}%"),
    )
    if marks is not None:
        start = marks[0] << 32
        connection.execute(
            "INSERT OR IGNORE INTO temp.matched SELECT seq FROM failures WHERE run_id = ? AND attempt IN"
            " (SELECT attempt FROM texts WHERE texts MATCH ? AND rowid BETWEEN ? AND ?)",
            (run_id, match_words(text), start, start + (1 << 32) - 1),
        )
    _matched[store] = key


_matched: "weakref.WeakKeyDictionary[Store, tuple[str, str, Any]]" = weakref.WeakKeyDictionary()


_COLUMNS = ", ".join(FailureRow._fields)
_MARKS = ", ".join("?" * (len(FailureRow._fields) + 1))
_SORT_KEYS: dict[Order, str] = {
    "log": "seq",
    "case": "case_key",
    "-tokens": "-COALESCE(tokens, -1)",
    "-duration": "-COALESCE(duration, -1)",
}
Cursor = tuple[Any, int]


# what the rows are made from


def triaged_rows(
    store: Store, pk: int, run_id: str, is_likeness: Callable[[FailureKey], bool], *, limit: int | None = None
) -> Iterator[FailureRow]:
    """Every failure in the order of the log, as triage sees it; without bucket and review.

    `is_likeness`: whether failures with this key have something in common.
    """
    with store.reading() as connection:
        place = select(checks.c.name).where(checks.c.run_pk == pk, checks.c.seq == attempts.c.seq)
        first = place.where(checks.c.status == "fail").order_by(checks.c.place).limit(1).scalar_subquery()
        described = (cases.c.run_pk == attempts.c.run_pk) & (cases.c.key == attempts.c.case_key)
        same = (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq)
        own = (attempts.c.seq, attempts.c.case_key, attempts.c.session, attempts.c.number, attempts.c.path)
        facts = (attempts.c.tokens, attempts.c.duration, cases.c.category, first.label("check_name"))
        failed: Select[Any] = select(*own, *facts, attributions.c.record)
        failed = failed.select_from(attempts.outerjoin(attributions, same).outerjoin(cases, described))
        failed = failed.where(attempts.c.run_pk == pk, attempts.c.failure).order_by(attempts.c.seq).limit(limit)
        for row in connection.execute(failed.execution_options(yield_per=FETCH)):
            made = attempt_id(run_id, row.case_key, session=row.session, index=row.number, path=row.path)
            attribution = unpack(row.record, Attribution) if row.record is not None else None
            yield FailureRow(
                seq=row.seq,
                attempt=made,
                case_key=row.case_key,
                owner=attribution.owner if attribution else "unknown",
                confidence=attribution.confidence if attribution else "",
                check_name=row.check_name or "",
                category=row.category or "",
                key=key_mark(attribution.failure_key.exact)
                if attribution and is_likeness(attribution.failure_key)
                else "",
                review="open",
                bucket="",
                past="",
                tokens=row.tokens,
                duration=row.duration,
                signals=_padded(dict.fromkeys(one.name for one in attribution.signals)) if attribution else "",
            )


def _padded(names: Iterable[str]) -> str:
    joined = " ".join(names)
    return f" {joined} " if joined else ""


def key_mark(key: str) -> str:
    return fingerprint(key, size=6)


# writing


def keep_rows(store: Store, run_id: str, rows: Iterable[FailureRow], mark: str) -> None:
    """In the place of the rows of an older state; who reads meanwhile sees that they are not complete."""
    with writing_index(store) as connection:
        mark_rows(connection, run_id, "")
        for table in ("failures", "lines", "kinds"):
            connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608
    statement = f"INSERT OR REPLACE INTO failures (run_id, {_COLUMNS}) VALUES ({_MARKS})"  # noqa: S608
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        with writing_index(store) as connection:
            connection.executemany(statement, ((run_id, *row) for row in chunk))
    with writing_index(store) as connection:
        count_kinds(connection, run_id)
        mark_rows(connection, run_id, mark)


def known_lines(store: Store, run_id: str, seqs: Sequence[int]) -> dict[int, EvidenceLine]:
    matching = {}
    for some in chunks(seqs):
        marks = ", ".join("?" * len(some))
        query = f"SELECT seq, quote, place, anchor, checks FROM lines WHERE run_id = ? AND seq IN ({marks})"  # noqa: S608
        for seq, *line in index_of(store).execute(query, [run_id, *some]):
            matching[seq] = EvidenceLine(*line)
    return matching


def keep_lines(store: Store, run_id: str, lines: Mapping[int, EvidenceLine], mark: str) -> None:
    """Unless the run has changed since they were looked up."""
    with writing_index(store) as connection:
        row = connection.execute("SELECT rows_mark FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row and row[0].partition("|")[0] == mark.partition("|")[0]:
            connection.executemany(
                "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                ((run_id, seq, *line) for seq, line in lines.items()),
            )


def update_opinions(store: Store, run_id: str, changed: Iterable[FailureRow], mark: str) -> None:
    with writing_index(store) as connection:
        connection.executemany(
            "UPDATE failures SET owner = ?, review = ?, bucket = ? WHERE run_id = ? AND seq = ?",
            ((row.owner, row.review, row.bucket, run_id, row.seq) for row in changed),
        )
        count_kinds(connection, run_id)
        mark_rows(connection, run_id, mark)


def forget_other_runs(store: Store, known: Collection[str]) -> list[str]:
    connection = index_of(store)
    gone = [run_id for (run_id,) in connection.execute("SELECT run_id FROM runs") if run_id not in known]
    for run_id in gone:
        with writing_index(store):
            for table in ("failures", "lines", "kinds"):
                connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608
            connection.execute(
                "DELETE FROM texts WHERE rowid BETWEEN (SELECT number << 32 FROM runs WHERE run_id = ?)"
                " AND (SELECT ((number + 1) << 32) - 1 FROM runs WHERE run_id = ?)",
                (run_id, run_id),
            )
            connection.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
    return gone


# reading


def all_rows(store: Store, run_id: str) -> Iterator[FailureRow]:
    query = f"SELECT {_COLUMNS} FROM failures WHERE run_id = ? ORDER BY seq"  # noqa: S608
    return (FailureRow(*row) for row in index_of(store).execute(query, (run_id,)))


def unreviewed_in(store: Store) -> dict[str, int]:
    query = (
        "SELECT runs.run_id, COALESCE(SUM(kinds.count) FILTER (WHERE kinds.review = 'open'), 0) FROM runs"
        " LEFT JOIN kinds USING (run_id) WHERE runs.rows_mark != '' GROUP BY runs.run_id"
    )
    return dict(index_of(store).execute(query).fetchall())


def reviewed_rows(store: Store, run_id: str, attempts: Sequence[str]) -> list[FailureRow]:
    """Those that were reviewed when the rows were written, and those of these attempts."""
    query = f"SELECT {_COLUMNS} FROM failures WHERE run_id = ? AND review != 'open'"  # noqa: S608
    rows = {row[0]: FailureRow(*row) for row in index_of(store).execute(query, (run_id,))}
    return list((rows | {row.seq: row for _, row in rows_by_attempt(store, attempts).values()}).values())


def listed_rows(
    store: Store, run_id: str, filters: FailureFilters, order: Order, *, after: Cursor | None = None, limit: int = 100
) -> list[FailureRow]:
    """The next rows behind a cursor; a row is found by its key, never by its rank."""
    where, values = conditions_of(store, run_id, filters)
    key = _SORT_KEYS[order]
    if after is not None and order == "log":
        where, values = f"{where} AND seq > ?", [*values, after[1]]
    elif after is not None:
        where, values = f"{where} AND ({key}, seq) > (?, ?)", [*values, *after]
    query = f"SELECT {_COLUMNS} FROM failures WHERE {where} ORDER BY {key}, seq LIMIT ?"  # noqa: S608
    return [FailureRow(*row) for row in index_of(store).execute(query, [*values, limit])]


def cursor_of(row: FailureRow, order: Order) -> Cursor:
    match order:
        case "case":
            return row.case_key, row.seq
        case "-tokens":
            return -(row.tokens if row.tokens is not None else -1), row.seq
        case "-duration":
            return -(row.duration if row.duration is not None else -1), row.seq
        case _:
            return row.seq, row.seq


def count_rows(store: Store, run_id: str, filters: FailureFilters) -> int:
    where, values = conditions_of(store, run_id, filters)
    query = f"SELECT COUNT(*) FROM failures WHERE {where}"  # noqa: S608
    return int(index_of(store).execute(query, values).fetchone()[0])


def rank_of(
    store: Store, run_id: str, filters: FailureFilters, seq: int
) -> tuple[int, int, FailureRow | None, FailureRow | None]:
    """The place of a failure among those that fit, in the order of the log; how many fit; and its two neighbours."""
    where, values = conditions_of(store, run_id, filters)
    connection = index_of(store)
    total = count_rows(store, run_id, filters)
    before = connection.execute(
        f"SELECT COUNT(*) FROM failures WHERE {where} AND seq < ?",  # noqa: S608
        [*values, seq],
    ).fetchone()[0]
    around = [
        connection.execute(
            f"SELECT {_COLUMNS} FROM failures WHERE {where} AND seq {sign} ? ORDER BY seq {way} LIMIT 1",  # noqa: S608
            [*values, seq],
        ).fetchone()
        for sign, way in (("<", "DESC"), (">", "ASC"))
    ]
    previous, following = (FailureRow(*row) if row else None for row in around)
    return before + 1, total, previous, following


def facets_of(store: Store, run_id: str, filters: FailureFilters) -> Facets:
    return facets_in(_kinds(store, run_id, filters), filters)


def groups_of(
    store: Store,
    run_id: str,
    filters: FailureFilters,
    grouping: Grouping,
    *,
    after: tuple[int, str] | None = None,
    limit: int,
) -> list[RowGroup]:
    """The largest first; behind a group of this size and name."""
    groups = groups_in(_kinds(store, run_id, filters), filters, grouping)
    if after is not None:
        groups = [group for group in groups if (-group.size, group.name) > (-after[0], after[1])]
    return groups[:limit]


def _kinds(store: Store, run_id: str, filters: FailureFilters) -> list[Kind]:
    """Kept, unless failures are chosen by a key or a text: these are counted."""
    if not filters.key and not filters.text:
        return kept_kinds(index_of(store), run_id)
    where, values = conditions_of(store, run_id, FailureFilters(key=filters.key, text=filters.text))
    return counted_kinds(index_of(store), where, values)


def rows_by_attempt(store: Store, attempt_ids: Sequence[str]) -> dict[str, tuple[str, FailureRow]]:
    matching = {}
    for some in chunks(attempt_ids):
        marks = ", ".join("?" * len(some))
        query = f"SELECT run_id, {_COLUMNS} FROM failures WHERE attempt IN ({marks})"  # noqa: S608
        for run_id, *row in index_of(store).execute(query, list(some)):
            matching[row[1]] = run_id, FailureRow(*row)
    return matching
