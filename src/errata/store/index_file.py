"""A file beside the store with what the server needs for lists and searches. It can be deleted at any time.

Everything in it comes from the store. It is a file of its own so that building it never holds the lock of the store,
and so that a store is not larger for users who never start the server.
"""

import sqlite3
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import case, func, select

from errata.settings.store_location import local_file
from errata.store.database import Store
from errata.store.schema import bucket_events, runs, verdicts
from errata.store.sqlite import BUSY_SECONDS

VERSION = 9
"""Counts up with every change of the tables or of what is kept in them: a file of another version is emptied."""
_TABLES = (
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL UNIQUE, rows_mark TEXT NOT NULL DEFAULT '',
        digest_mark TEXT NOT NULL DEFAULT '', texts_mark TEXT NOT NULL DEFAULT '', digest BLOB)""",
    """CREATE TABLE failures (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL, attempt TEXT NOT NULL, case_key TEXT NOT NULL,
        owner TEXT NOT NULL, confidence TEXT NOT NULL, check_name TEXT NOT NULL, category TEXT NOT NULL,
        key TEXT NOT NULL, review TEXT NOT NULL, bucket TEXT NOT NULL, past TEXT NOT NULL,
        tokens INTEGER, duration REAL, signals TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)) WITHOUT ROWID""",
    "CREATE INDEX failures_by_bucket ON failures (run_id, bucket, owner, review)",
    "CREATE INDEX failures_by_owner ON failures (run_id, owner, review)",
    "CREATE INDEX failures_by_check ON failures (run_id, check_name, owner, review)",
    "CREATE INDEX failures_by_category ON failures (run_id, category, owner, review)",
    "CREATE INDEX failures_by_case ON failures (case_key, run_id)",
    "CREATE INDEX failures_by_attempt ON failures (attempt)",
    """CREATE TABLE kinds (
        run_id TEXT NOT NULL, bucket TEXT NOT NULL, owner TEXT NOT NULL, check_name TEXT NOT NULL, review TEXT NOT NULL,
        category TEXT NOT NULL, past TEXT NOT NULL, signals TEXT NOT NULL, count INTEGER NOT NULL,
        PRIMARY KEY (run_id, bucket, owner, check_name, review, category, past, signals)) WITHOUT ROWID""",
    """CREATE TABLE lines (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL, quote TEXT NOT NULL, place TEXT NOT NULL, anchor TEXT NOT NULL,
        checks TEXT NOT NULL, PRIMARY KEY (run_id, seq)) WITHOUT ROWID""",
    """CREATE VIRTUAL TABLE texts USING fts5 (
        body, kind UNINDEXED, run_id UNINDEXED, case_key UNINDEXED, attempt UNINDEXED, place UNINDEXED,
        anchor UNINDEXED,
        tokenize = "unicode61 tokenchars '_'")""",
)
_opened: "weakref.WeakKeyDictionary[Store, sqlite3.Connection]" = weakref.WeakKeyDictionary()


def index_path(store: Store) -> Path:
    """Beside the store; of one that can only be read, beside its private copy; of a database in the user's cache."""
    own = store.own_file or local_file(store.path)
    return own.with_name(f"{own.stem}.index{own.suffix}")


def index_of(store: Store) -> sqlite3.Connection:
    if store not in _opened:
        _opened[store] = _connect(index_path(store))
    return _opened[store]


def close_index(store: Store) -> None:
    if (connection := _opened.pop(store, None)) is not None:
        connection.close()


CHUNK = 5_000
"""Rows of a transaction: pages that keep what they looked up do not wait longer."""


@contextmanager
def writing_index(store: Store) -> Iterator[sqlite3.Connection]:
    connection = index_of(store)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return _prepared(path)
    except sqlite3.DatabaseError:  # damaged, or a folder that can't be written: it is only a cache
        return _prepared(Path(tempfile.mkdtemp(prefix="errata-index-")) / path.name)


def _prepared(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -16000")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '[a-z]*' AND name NOT GLOB '*_*'"
        for (name,) in connection.execute(named).fetchall():
            connection.execute(f"DROP TABLE {name}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    return connection


# --- the state of a run, and the states that its rows, digest and texts in the index were written for


def marks_of(store: Store, run_ids: Collection[str] | None = None) -> dict[str, tuple[str, str]]:
    """Run → the state of its facts and triage, and the state of everything that its list shows.

    The second one has three parts: facts and triage, verdicts, buckets.
    """
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
            grouped = f"{row.bucketed}:{edits[0]}:{edits[1]}"
            marks[row.run_id] = facts, f"{facts}|{reviewed.get(row.run_id, '')}|{grouped}"
        return marks


def without_buckets(mark: str) -> str:
    return mark.rpartition("|")[0]


def buckets_in(mark: str) -> str:
    return mark.rpartition("|")[2]


def index_marks(store: Store, run_id: str) -> tuple[str, str, str]:
    """The states that the rows, the digest and the texts of a run were written for; empty where there are none."""
    query = "SELECT rows_mark, digest_mark, texts_mark FROM runs WHERE run_id = ?"
    row = index_of(store).execute(query, (run_id,)).fetchone()
    return (str(row[0]), str(row[1]), str(row[2])) if row else ("", "", "")


def rows_mark(store: Store, run_id: str) -> str:
    return index_marks(store, run_id)[0]


def mark_rows(connection: Any, run_id: str, mark: str) -> None:
    connection.execute(
        "INSERT INTO runs (run_id, rows_mark) VALUES (?, ?)"
        " ON CONFLICT (run_id) DO UPDATE SET rows_mark = excluded.rows_mark",
        (run_id, mark),
    )


def kept_digests(store: Store) -> dict[str, tuple[str, bytes]]:
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


# --- the full-text index: errors, answers, reasons, verdicts, names of cases and runs, each with its place


START, END = "\x02", "\x03"
"""Around a hit. No text in the index holds them: it is cleaned before."""
AROUND = 24


class IndexedText(NamedTuple):
    body: str
    kind: str
    run_id: str
    case_key: str = ""
    attempt: str = ""
    place: str = ""
    anchor: str = ""


class TextHit(NamedTuple):
    kind: str
    run_id: str
    case_key: str
    attempt: str
    place: str
    anchor: str
    snippet: str


def texts_mark(store: Store, run_id: str) -> str:
    return index_marks(store, run_id)[2]


def keep_texts(store: Store, run_id: str, texts: Iterable[IndexedText], mark: str) -> None:
    """In the place of those of an older state. The number of a text holds the number of its run."""
    with writing_index(store) as connection:
        connection.execute("INSERT INTO runs (run_id) VALUES (?) ON CONFLICT DO NOTHING", (run_id,))
        connection.execute("UPDATE runs SET texts_mark = '' WHERE run_id = ?", (run_id,))
        number = connection.execute("SELECT number FROM runs WHERE run_id = ?", (run_id,)).fetchone()[0]
        start = number << 32
        connection.execute("DELETE FROM texts WHERE rowid BETWEEN ? AND ?", (start, start + (1 << 32) - 1))
    numbered = enumerate(texts, start)
    columns = ", ".join(("rowid", *IndexedText._fields))
    statement = f"INSERT OR REPLACE INTO texts ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
    while chunk := list(islice(numbered, CHUNK)):
        with writing_index(store) as connection:
            connection.executemany(statement, ((at, *text) for at, text in chunk))
    with writing_index(store) as connection:
        connection.execute("UPDATE runs SET texts_mark = ? WHERE run_id = ?", (mark, run_id))


def find_texts(
    store: Store, text: str, *, kinds: Sequence[str], limit: int, run_ids: Sequence[str] | None = None
) -> list[TextHit]:
    """The best first; empty where a word is not in any text."""
    chosen = f" AND run_id IN ({', '.join('?' * len(run_ids))})" if run_ids is not None else ""
    query = (
        "SELECT kind, run_id, case_key, attempt, place, anchor, snippet(texts, 0, ?, ?, '…', ?) FROM texts"  # noqa: S608
        f" WHERE texts MATCH ? AND kind IN ({', '.join('?' * len(kinds))}){chosen} ORDER BY rank LIMIT ?"
    )
    values = [START, END, AROUND, match_words(text), *kinds, *(run_ids or ()), limit]
    try:
        return [TextHit(*row) for row in index_of(store).execute(query, values)]
    except sqlite3.OperationalError:  # words that the index can't take, such as a lone mark
        return []


def count_indexed(store: Store) -> int:
    return int(index_of(store).execute("SELECT COUNT(*) FROM runs WHERE texts_mark != ''").fetchone()[0])


def match_words(text: str) -> str:
    """Every word of a text as a phrase of the full-text index; the last one may be the beginning of a word."""
    plain = "".join(letter if letter.isprintable() and letter != '"' else " " for letter in text)
    words = [f'"{word}"' for word in plain.split()]
    return f"{' '.join(words)}*" if words else '""'
