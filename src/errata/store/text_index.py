"""The full-text index: errors, answers, reasons, verdicts, names of cases and runs, each with its place."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from errata.store.database import Store
from errata.store.failure_list import match_words
from errata.store.index_file import index_of, writing_index

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


class FoundText(NamedTuple):
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
    """In the place of those of an older state."""
    with writing_index(store) as connection:
        connection.execute("INSERT INTO runs (run_id) VALUES (?) ON CONFLICT DO NOTHING", (run_id,))
        old = connection.execute("SELECT first_text, last_text FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if old[0] is not None:
            connection.execute("DELETE FROM texts WHERE rowid BETWEEN ? AND ?", old)
        first = (connection.execute("SELECT MAX(rowid) FROM texts").fetchone()[0] or 0) + 1
        connection.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)", texts)
        last = connection.execute("SELECT MAX(rowid) FROM texts").fetchone()[0] or 0
        connection.execute(
            "UPDATE runs SET texts_mark = ?, first_text = ?, last_text = ? WHERE run_id = ?",
            (mark, first, max(last, first - 1), run_id),
        )


def find_texts(
    store: Store, text: str, *, kinds: Sequence[str], limit: int, run_ids: Sequence[str] | None = None
) -> list[FoundText]:
    """The best first; empty where a word is not in any text."""
    chosen = f" AND run_id IN ({', '.join('?' * len(run_ids))})" if run_ids is not None else ""
    query = (
        "SELECT kind, run_id, case_key, attempt, place, anchor, snippet(texts, 0, ?, ?, '…', ?) FROM texts"  # noqa: S608
        f" WHERE texts MATCH ? AND kind IN ({', '.join('?' * len(kinds))}){chosen} ORDER BY rank LIMIT ?"
    )
    values = [START, END, AROUND, match_words(text), *kinds, *(run_ids or ()), limit]
    try:
        return [FoundText(*row) for row in index_of(store).execute(query, values)]
    except sqlite3.OperationalError:  # words that the index can't take, such as a lone mark
        return []


def count_indexed(store: Store) -> int:
    """Runs whose texts are in the index."""
    return int(index_of(store).execute("SELECT COUNT(*) FROM runs WHERE texts_mark != ''").fetchone()[0])
