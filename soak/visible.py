"""What users can see in a folder, part by part: every run, its owners, verdicts and causes, the schema, every file.

A part is written in one step, so after a kill it is as before or as after the command, and nothing in between.
"""

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

Parts = dict[str, str]
"""Part → digest of its content."""

STORE = Path(".errata", "errata.db")
IN_WORK = ".part"
"""How the name of an unfinished file ends. It begins with a dot, too, so nobody takes it for a report."""
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a store."""
FACTS = (
    "cases",
    "case_versions",
    "version_starts",
    "attempts",
    "checks",
    "blocks",
    "blob_uses",
    "unreadables",
    "thinned",
)
MEMBERS = "SELECT m.attempt_id, b.slug, m.role, m.owner FROM bucket_members m LEFT JOIN buckets b ON b.id = m.bucket"
TIMES = {"at", "imported_at", "importer", "pk", "run_pk", "origin"}
"""Columns that differ between two imports of the same log."""


def visible_in(folder: Path) -> Parts:
    """`AssertionError` if a store is damaged, or rows belong to nothing."""
    parts: Parts = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_file() or STORE.parts[0] in name.parts or IN_WORK in path.name:
            continue
        if path.suffix == STORE.suffix:
            parts |= {f"{part} in {name}": digest for part, digest in visible_in_store(path).items()}
        elif not path.name.endswith(BESIDE):
            parts[f"file {name}"] = _digest([path.read_bytes()])
    return parts | (visible_in_store(folder / STORE) if (folder / STORE).exists() else {})


def visible_in_store(path: Path) -> Parts:
    with closing(sqlite3.connect(path, timeout=60)) as database:
        problems = database.execute("PRAGMA integrity_check").fetchone()[0]
        assert problems == "ok", f"the store `{path.name}` is damaged: {problems}"
        return _in_store(database)


def left_behind(folder: Path) -> list[str]:
    """What dead processes left after the repeated command: rows of no run, calls without an end, unfinished files."""
    left = [path.name for path in folder.rglob(f"*{IN_WORK}*")]
    if not (folder / STORE).exists():
        return left
    with closing(sqlite3.connect(folder / STORE)) as database:
        current = "SELECT pk FROM runs WHERE state = 'current'"
        for table in (*FACTS, "attributions", "summaries"):
            (rows,) = database.execute(f"SELECT count(*) FROM {table} WHERE run_pk NOT IN ({current})").fetchone()
            left += [f"{rows} rows in `{table}`"] if rows else []
        (open_calls,) = database.execute("SELECT count(*) FROM calls WHERE state = 'intended'").fetchone()
        again = "SELECT cache_key FROM calls WHERE state = 'answered' GROUP BY cache_key HAVING count(*) > 1"
        assert not database.execute(again).fetchall(), "a question was answered and paid twice"
        return left + ([f"{open_calls} calls without an end"] if open_calls else [])


def _in_store(database: sqlite3.Connection) -> Parts:
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "alembic_version" not in names:
        return {}
    schema = database.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")
    version = database.execute("SELECT version_num FROM alembic_version")
    parts = {"schema": _digest([*version, *schema])}
    for pk, run_id, triaged in database.execute("SELECT pk, run_id, triaged FROM runs WHERE state = 'current'"):
        assert f"run {run_id}" not in parts, "a run is there twice"
        head = _rows(database, "runs", f"pk = {pk}", without={"triaged", "bucketed"})
        facts = [row for table in FACTS if table in names for row in (table, *_rows(database, table, f"run_pk = {pk}"))]
        parts[f"run {run_id}"] = _digest([*head, *facts])
        owners = _rows(database, "attributions", f"run_pk = {pk}")
        assert triaged or not owners, "owners without the mark of their rules"
        if triaged:
            parts[f"owners of {run_id}"] = _digest(owners)
    for attempt, reviewer, *verdict in database.execute(
        "SELECT attempt_id, reviewer, label, owner, inherited FROM verdicts ORDER BY at"
    ):
        parts[f"verdict of {reviewer} on {attempt}"] = _digest([verdict])
    causes: dict[str, list[Any]] = defaultdict(list)
    for attempt, *place in database.execute(f"{MEMBERS} ORDER BY m.attempt_id"):
        assert place[0], "a failure is in a cause that does not exist"
        causes[attempt.partition(":")[0]].append((attempt, *place))
    return parts | {f"causes of {run}": _digest(rows) for run, rows in causes.items()}


def _rows(database: sqlite3.Connection, table: str, where: str, without: Iterable[str] = ()) -> list[tuple[Any, ...]]:
    """In a fixed order, without the columns that differ each time."""
    every = [str(row[1]) for row in database.execute(f"PRAGMA table_info({table})")]
    columns = ",".join(f'"{name}"' for name in every if name not in TIMES and name not in without)
    return sorted(database.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall(), key=repr)


def _digest(rows: Iterable[object]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(row if isinstance(row, bytes) else repr(row).encode())
    return digest.hexdigest()[:16]


def check_between(before: Parts, seen: Parts, after: Parts, *, whole: bool = False) -> None:
    """Every part is as before or as after: nothing half-visible, nothing that was committed is lost.

    Where the command does all or nothing, all parts are as before or all as after.
    """
    assert not whole or seen in (before, after), "a part of what the command makes is there"
    for name in sorted({*before, *seen, *after}):
        allowed = {before.get(name), after.get(name)}
        kind, _, run = name.partition(" of ")
        if kind == "owners" and seen.get(f"run {run}") != before.get(f"run {run}"):
            allowed.add(None)  # of a new revision they are computed when they are needed
        assert seen.get(name) in allowed, f"`{name}` is neither as before nor as after"
