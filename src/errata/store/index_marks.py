"""The state of a run, and the states that its rows, digest and texts in the index were written for."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import case, func, select

from errata.store.database import Store
from errata.store.index_file import index_of, writing_index
from errata.store.schema import bucket_events, runs, verdicts


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
    """The state of what does not depend on buckets: scores, owners, texts."""
    return mark.rpartition("|")[0]


def buckets_in(mark: str) -> str:
    """The state of buckets alone."""
    return mark.rpartition("|")[2]


def index_marks(store: Store, run_id: str) -> tuple[str, str, str]:
    """The states that the rows, the digest and the texts of a run were written for; empty where there are none."""
    query = "SELECT rows_mark, digest_mark, texts_mark FROM runs WHERE run_id = ?"
    row = index_of(store).execute(query, (run_id,)).fetchone()
    return (str(row[0]), str(row[1]), str(row[2])) if row else ("", "", "")


def rows_mark(store: Store, run_id: str) -> str:
    """The state that the rows of a run were written for; empty where there are none."""
    row = index_of(store).execute("SELECT rows_mark FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return str(row[0]) if row else ""


def mark_rows(connection: Any, run_id: str, mark: str) -> None:
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
