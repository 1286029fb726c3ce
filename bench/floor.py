"""The floor: what the same job costs with no errata in it.

`bare_import`: orjson parses every line of the log, and its values go into one SQLite table by `executemany`, a row for
a row and a column for a value, with the same journal mode and one index. No records, no ids, no checks, no hash, no
compression, no second look.

`prepared_rows`: orjson parses every line and throws it away; then the very rows that errata wrote (attempts, checks and
compressed blocks) are written once more. Nothing is made from what was parsed, so no program can be this fast.
"""

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

CHUNK = 5_000
TABLES = ("attempts", "checks", "blocks", "runs", "cases")

Columns = Callable[[dict[str, Any]], tuple[Any, ...]]

DIMENSIONS = (
    "turn_taking",
    "tool_use_correct",
    "instruction_following",
    "kb_grounding",
    "ambiguity_handling",
    "state_tracking",
)
TOKENS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def judged_turn(row: dict[str, Any]) -> tuple[Any, ...]:
    tokens, scores = row["tokens"] or {}, row["scores"]
    return (
        row["turn"], row["ts"], row["model_name"], row["user_text"], row["assistant_text"],
        orjson.dumps(row["tool_calls"]), orjson.dumps(row["tool_results"]), *[tokens.get(name) for name in TOKENS],
        row["ttfb_ms"], row["latency_ms"], row["reconnection_count"], *[scores.get(name) for name in DIMENSIONS],
        row["judge_reasoning"],
    )  # fmt: skip


def small_row(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["id"], row["answer"], row["gold"], row["ok"])


def bare_import(log: Path, columns: Columns) -> float:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        bare = _open(Path(folder) / "bare.db")
        rows = _parsed(log, columns)
        first = next(rows)
        names = ",".join(f"c{at}" for at in range(len(first)))
        bare.execute(f"CREATE TABLE rows ({names})")
        bare.execute("CREATE INDEX rows_by_case ON rows (c0)")
        statement = f"INSERT INTO rows VALUES ({','.join('?' * len(first))})"
        bare.execute(statement, first)
        while chunk := list(islice(rows, CHUNK)):
            bare.execute("BEGIN IMMEDIATE")
            bare.executemany(statement, chunk)
            bare.execute("COMMIT")
        bare.close()
    return time.perf_counter() - started


def prepared_rows(log: Path, store: Path) -> float:
    """`store` is a store of errata into which only this log was imported."""
    spent = parse_seconds(log)
    source = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    with tempfile.TemporaryDirectory(dir=store.parent) as folder:
        bare = _open(Path(folder) / "bare.db")
        for (statement,) in source.execute(
            "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC"
        ):
            bare.execute(statement)
        for table in TABLES:
            cursor = source.execute(f"SELECT * FROM {table}")
            marks = ",".join("?" * len(cursor.description))
            while rows := cursor.fetchmany(CHUNK):
                started = time.perf_counter()
                bare.execute("BEGIN IMMEDIATE")
                bare.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
                bare.execute("COMMIT")
                spent += time.perf_counter() - started
        bare.close()
    source.close()
    return spent


def parse_seconds(log: Path) -> float:
    started = time.perf_counter()
    with log.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.perf_counter() - started


def _parsed(log: Path, columns: Columns) -> Iterator[tuple[Any, ...]]:
    with log.open("rb") as file:
        for line in file:
            yield columns(orjson.loads(line))


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA page_size = 16384")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection
