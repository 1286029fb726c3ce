"""Failures by filters, a page at a time, with counts: the queries of the index, and what its rows are made from."""

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Select, case, func, select

from errata.model import Attribution, FailureKey
from errata.model.codec import unpack
from errata.model.identity import attempt_id, fingerprint
from errata.model.listing import NOT_GIVEN, EvidenceLine, Facets, FailureFilters, FailureRow, Grouping, Order, RowGroup
from errata.store.attempts import FETCH
from errata.store.database import Store
from errata.store.elsewhere import chunks
from errata.store.index_file import CHUNK, index_of, writing_index
from errata.store.schema import attempts, attributions, bucket_events, bucket_members, cases, checks, runs, verdicts

_COLUMNS = ", ".join(FailureRow._fields)
_MARKS = ", ".join("?" * (len(FailureRow._fields) + 1))
_GROUPED_BY: dict[Grouping, str] = {
    "bucket": "bucket",
    "owner": "owner",
    "check": "check_name",
    "category": "category",
    "none": "''",
}
_SORT_KEYS: dict[Order, str] = {
    "log": "seq",
    "case": "case_key",
    "-tokens": "-COALESCE(tokens, -1)",
    "-duration": "-COALESCE(duration, -1)",
}
Cursor = tuple[Any, int]
"""The sort key and the number of the last row that was shown."""


# what the rows are made from


def marks_of(store: Store, run_ids: Collection[str] | None = None) -> dict[str, tuple[str, str]]:
    """Run → the state of its facts and triage, and the state of everything that its list shows."""
    with store.reading() as connection:
        states = select(runs.c.run_id, runs.c.pk, runs.c.digest, runs.c.triaged, runs.c.bucketed)
        states = states.where(runs.c.state == "current")
        reviews = select(verdicts.c.run_id, func.count().label("often"), func.max(verdicts.c.at).label("newest"))
        reviews = reviews.group_by(verdicts.c.run_id)
        if run_ids is not None:
            states, reviews = states.where(runs.c.run_id.in_(run_ids)), reviews.where(verdicts.c.run_id.in_(run_ids))
        reviewed = {row.run_id: f"{row.often}:{row.newest}" for row in connection.execute(reviews)}
        undone = func.sum(case((bucket_events.c.undone, 1), else_=0))
        edits = connection.execute(select(func.max(bucket_events.c.number), undone)).one()
        marks = {}
        for row in connection.execute(states):
            facts = f"{row.pk}:{row.digest[:16]}:{row.triaged}"
            opinions = f"{reviewed.get(row.run_id, '')}:{row.bucketed}:{edits[0]}:{edits[1]}"
            marks[row.run_id] = facts, f"{facts}|{opinions}"
        return marks


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
    """A failure key as addresses have it."""
    return fingerprint(key, size=6)


def buckets_by_attempt(store: Store, run_id: str) -> dict[str, str]:
    """Attempt → the id of its bucket."""
    query = select(bucket_members.c.attempt_id, bucket_members.c.bucket).where(bucket_members.c.run_id == run_id)
    with store.reading() as connection:
        return {row.attempt_id: row.bucket for row in connection.execute(query)}


# writing


def rows_mark(store: Store, run_id: str) -> str:
    """The state that the rows of a run were written for; empty where there are none."""
    row = index_of(store).execute("SELECT rows_mark FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return str(row[0]) if row else ""


def keep_rows(store: Store, run_id: str, rows: Iterable[FailureRow], mark: str) -> None:
    """In the place of the rows of an older state; who reads meanwhile sees that they are not complete."""
    with writing_index(store) as connection:
        _mark(connection, run_id, "")
        for table in ("failures", "lines"):
            connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608
    statement = f"INSERT OR REPLACE INTO failures (run_id, {_COLUMNS}) VALUES ({_MARKS})"  # noqa: S608
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        with writing_index(store) as connection:
            connection.executemany(statement, ((run_id, *row) for row in chunk))
    with writing_index(store) as connection:
        _mark(connection, run_id, mark)


def known_lines(store: Store, run_id: str, seqs: Sequence[int]) -> dict[int, EvidenceLine]:
    """By number: the lines that were looked up before."""
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
    """Owner, review and bucket of some rows."""
    with writing_index(store) as connection:
        connection.executemany(
            "UPDATE failures SET owner = ?, review = ?, bucket = ? WHERE run_id = ? AND seq = ?",
            ((row.owner, row.review, row.bucket, run_id, row.seq) for row in changed),
        )
        _mark(connection, run_id, mark)


def _mark(connection: Any, run_id: str, mark: str) -> None:
    connection.execute(
        "INSERT INTO runs (run_id, rows_mark) VALUES (?, ?)"
        " ON CONFLICT (run_id) DO UPDATE SET rows_mark = excluded.rows_mark",
        (run_id, mark),
    )


def kept_digests(store: Store) -> dict[str, tuple[str, bytes]]:
    """Run → the state that its digest was made for, and the digest."""
    rows = index_of(store).execute("SELECT run_id, digest_mark, digest FROM runs WHERE digest IS NOT NULL")
    return {run_id: (mark, digest) for run_id, mark, digest in rows}


def kept_digest(store: Store, run_id: str) -> tuple[str, bytes] | None:
    query = "SELECT digest_mark, digest FROM runs WHERE run_id = ? AND digest IS NOT NULL"
    row = index_of(store).execute(query, (run_id,)).fetchone()
    return (row[0], row[1]) if row else None


def keep_digest(store: Store, run_id: str, mark: str, digest: bytes) -> None:
    with writing_index(store) as connection:
        connection.execute(
            "INSERT INTO runs (run_id, digest_mark, digest) VALUES (?, ?, ?) ON CONFLICT (run_id)"
            " DO UPDATE SET digest_mark = excluded.digest_mark, digest = excluded.digest",
            (run_id, mark, digest),
        )


def forget_other_runs(store: Store, known: Collection[str]) -> list[str]:
    """Remove the rows of runs that are no longer in the store; returns their ids."""
    connection = index_of(store)
    gone = [run_id for (run_id,) in connection.execute("SELECT run_id FROM runs") if run_id not in known]
    for run_id in gone:
        with writing_index(store):
            for table in ("failures", "lines"):
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


def listed_rows(
    store: Store, run_id: str, filters: FailureFilters, order: Order, *, after: Cursor | None = None, limit: int = 100
) -> list[FailureRow]:
    """The next rows behind a cursor; a row is found by its key, never by its rank."""
    where, values = _where(store, run_id, filters)
    key = _SORT_KEYS[order]
    if after is not None and order == "log":
        where, values = f"{where} AND seq > ?", [*values, after[1]]
    elif after is not None:
        where, values = f"{where} AND ({key}, seq) > (?, ?)", [*values, *after]
    query = f"SELECT {_COLUMNS} FROM failures WHERE {where} ORDER BY {key}, seq LIMIT ?"  # noqa: S608
    return [FailureRow(*row) for row in index_of(store).execute(query, [*values, limit])]


def cursor_of(row: FailureRow, order: Order) -> Cursor:
    """Where the list goes on behind this row."""
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
    where, values = _where(store, run_id, filters)
    query = f"SELECT COUNT(*) FROM failures WHERE {where}"  # noqa: S608
    return int(index_of(store).execute(query, values).fetchone()[0])


def rank_of(
    store: Store, run_id: str, filters: FailureFilters, seq: int
) -> tuple[int, int, FailureRow | None, FailureRow | None]:
    """The place of a failure among those that fit, in the order of the log; how many fit; and its two neighbours."""
    where, values = _where(store, run_id, filters)
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
    where, values = _where(store, run_id, filters)
    column = _GROUPED_BY[grouping]
    reviewed = "SUM(review IN ('reviewed', 'final', 'disputed'))"
    query = (
        f"SELECT {column} AS name, COUNT(*) AS count, {reviewed} FROM failures WHERE {where}"  # noqa: S608
        " GROUP BY name"
    )
    if after is not None:
        query, values = f"{query} HAVING (-count, name) > (?, ?)", [*values, -after[0], after[1]]
    matching = index_of(store).execute(f"{query} ORDER BY -count, name LIMIT ?", [*values, limit]).fetchall()
    return [
        RowGroup(name, size, reviewed, _owner_of_most(store, run_id, filters, column, name))
        for name, size, reviewed in matching
    ]


def _owner_of_most(store: Store, run_id: str, filters: FailureFilters, column: str, name: str) -> str:
    where, values = _where(store, run_id, filters)
    query = (
        f"SELECT owner FROM failures WHERE {where} AND {column} = ?"  # noqa: S608
        " GROUP BY owner ORDER BY owner = 'collateral', -COUNT(*) LIMIT 1"
    )
    row = index_of(store).execute(query, [*values, name]).fetchone()
    return str(row[0]) if row else "unknown"


def facets_of(store: Store, run_id: str, filters: FailureFilters) -> Facets:
    """Counts of every value; each facet without its own filter, so that another value can be chosen."""
    own = {
        "owner": ("owner", "owners", ()),
        "check": ("check_name", "check", ""),
        "review": ("review", "review", ""),
        "category": ("category", "category", ""),
        "past": ("past", "past", ""),
    }
    counted = {
        name: _counted(store, run_id, _without(filters, field, none), column)
        for name, (column, field, none) in own.items()
    }
    total = count_rows(store, run_id, filters)
    return Facets(total=total, signal=_signals(store, run_id, _without(filters, "signal", "")), **counted)


def _without(filters: FailureFilters, field: str, none: Any) -> FailureFilters:
    values = {name: getattr(filters, name) for name in filters.__struct_fields__}
    return FailureFilters(**{**values, field: none})


def _counted(store: Store, run_id: str, filters: FailureFilters, column: str) -> dict[str, int]:
    where, values = _where(store, run_id, filters)
    query = f"SELECT {column}, COUNT(*) FROM failures WHERE {where} GROUP BY {column}"  # noqa: S608
    matching = index_of(store).execute(query, values)
    return dict(sorted(((str(name), count) for name, count in matching), key=lambda pair: (-pair[1], pair[0])))


def _signals(store: Store, run_id: str, filters: FailureFilters) -> dict[str, int]:
    """Grouped by whole combinations first: there are few of them."""
    where, values = _where(store, run_id, filters)
    query = f"SELECT signals, COUNT(*) FROM failures WHERE {where} GROUP BY signals"  # noqa: S608
    often: dict[str, int] = {}
    for names, count in index_of(store).execute(query, values):
        for name in names.split():
            often[name] = often.get(name, 0) + count
    return dict(sorted(often.items(), key=lambda pair: (-pair[1], pair[0])))


def _where(store: Store, run_id: str, filters: FailureFilters) -> tuple[str, list[Any]]:
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
"""What the temporary table of a store's thread was filled for."""


def match_words(text: str) -> str:
    """Every word of a text as a phrase of the full-text index; the last one may be the beginning of a word."""
    plain = "".join(letter if letter.isprintable() and letter != '"' else " " for letter in text)
    words = [f'"{word}"' for word in plain.split()]
    return f"{' '.join(words)}*" if words else '""'


def rows_by_attempt(store: Store, attempt_ids: Sequence[str]) -> dict[str, tuple[str, FailureRow]]:
    """Attempt → its run and its row; of all runs that are in the index."""
    matching = {}
    for some in chunks(attempt_ids):
        marks = ", ".join("?" * len(some))
        query = f"SELECT run_id, {_COLUMNS} FROM failures WHERE attempt IN ({marks})"  # noqa: S608
        for run_id, *row in index_of(store).execute(query, list(some)):
            matching[row[1]] = run_id, FailureRow(*row)
    return matching
