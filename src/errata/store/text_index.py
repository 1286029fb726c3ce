"""The full-text index: errors, answers, reasons, verdicts, names of cases and runs, each with its place."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from errata.store.database import Store
from errata.store.failure_counts import match_words
from errata.store.index_file import CHUNK, index_of, writing_index

START, END = "\x02", "\x03"
"""Around a hit. No text in the index holds them: it is cleaned before."""
AROUND = 24
"""Words of a snippet."""


class IndexedText(NamedTuple):
    body: str
    kind: str
    """run, case, quote or verdict."""
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
    row = index_of(store).execute("SELECT texts_mark FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return str(row[0]) if row else ""


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
    """Runs whose texts are in the index."""
    return int(index_of(store).execute("SELECT COUNT(*) FROM runs WHERE texts_mark != ''").fetchone()[0])
