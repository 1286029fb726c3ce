"""The floor: what the same job costs with no errata in it.

orjson parses every line and throws the value away; then the very rows that errata wrote for the same log (attempts,
checks, compressed blocks) go into the same bare tables by `executemany`. No records, no ids, no checks, no hash,
no compression.
"""

import sqlite3
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import orjson

CHUNK = 5_000
TABLES = ("attempts", "checks", "blocks", "runs", "cases")


class Floor(NamedTuple):
    parse: float
    insert: float

    @property
    def seconds(self) -> float:
        return self.parse + self.insert


def measure(log: Path, store: Path) -> Floor:
    """`store` is a store of errata into which only this log was imported."""
    return Floor(parse_seconds(log), _insert_seconds(store))


def parse_seconds(log: Path) -> float:
    started = time.perf_counter()
    with log.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.perf_counter() - started


def _insert_seconds(store: Path) -> float:
    spent = 0.0
    source = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    with tempfile.TemporaryDirectory(dir=store.parent) as folder:
        bare = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = NORMAL")
        for (statement,) in source.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type DESC"):
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
