"""Filters of the failure list as conditions of its queries, and the text that a filter searches for."""

import weakref
from typing import Any

from errata.model.filters import FailureFilters
from errata.model.listing import NOT_GIVEN
from errata.store.database import Store
from errata.store.index_file import index_of


def conditions_of(store: Store, run_id: str, filters: FailureFilters) -> tuple[str, list[Any]]:
    """A WHERE clause over the failures of a run, and its values."""
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
