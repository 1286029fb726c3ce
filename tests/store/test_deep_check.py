"""Real damage in every table: bytes, letters and numbers changed behind errata's back are found and named."""

import gzip
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update
from store_fixtures import put, put_run, sql
from tests.length import LONG

from errata.model import Artefact, Check
from errata.store.database import open_store
from errata.store.schema import FACTS, blobs, metadata, runs
from errata.testing import a_run, an_attempt
from errata.verbs.doctor import DeepCheck, check_deeply

OLD = sorted((Path(__file__).parents[1] / "fixtures" / "old").glob("*/store.db.gz"))[-1]
WITHOUT_CHECK = {
    "runs": {"revision", "origin", "imported_at", "importer", "triaged", "bucketed"},
    "attributions": {"breaks", "record"},
    "findings": {"run_pk", "number", "name", "severity", "record"},
    "summaries": {"run_pk", "kind", "version"},
    "unreadables": {"number"},
}
"""Columns that nothing else repeats: times, places, marks that make derived rows be computed again. The texts of
derived records have no checksum."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With runs, verdicts, buckets and actions."""
    path = tmp_path_factory.mktemp("sound") / "errata.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    open_store(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


HEADER = 8
"""Bytes of a Zstandard frame where a changed bit may mean nothing."""


def flipped(value: object, chance: random.Random) -> object:
    match value:
        case bytes():
            at = chance.randrange(min(HEADER, len(value) - 1), len(value))
            return value[:at] + bytes([value[at] ^ (1 << chance.randrange(8))]) + value[at + 1 :]
        case str():
            at = chance.randrange(len(value)) if value else 0
            return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :] if value else "x"
        case int():
            return value ^ 1
        case float():
            return value + 1
    raise AssertionError(value)


def damage(path: Path, table: str, column: str, chance: random.Random) -> bool:
    """Change one value; false where the table has none, or the database refuses it."""
    keys = [key.name for key in metadata.tables[table].primary_key.columns]
    with closing(sqlite3.connect(path)) as database, database:
        names = ", ".join(f'"{name}"' for name in (*keys, column))
        rows = database.execute(f'SELECT {names} FROM {table} WHERE "{column}" IS NOT NULL').fetchall()
        if not rows:
            return False
        *key, value = chance.choice(rows)
        where = " AND ".join(f'"{name}" = ?' for name in keys)
        try:
            database.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', (flipped(value, chance), *key))
        except sqlite3.IntegrityError:
            return False
    return True


def checked(path: Path) -> DeepCheck:
    store = open_store(path)
    with store.kept_open():
        return check_deeply(store)


def test_a_sound_store_has_no_problems_and_every_digest_is_confirmed(sound):
    assert checked(sound) == DeepCheck((), 7, 0)


@pytest.mark.parametrize("table", [table.name for table in (runs, *FACTS, metadata.tables["blobs"])])
def test_a_changed_value_of_any_column_of_a_fact_is_found(sound, table, tmp_path):
    path, chance = tmp_path / "errata.db", random.Random(table)
    columns = [column.name for column in metadata.tables[table].columns]
    checked_columns = [name for name in columns if name not in WITHOUT_CHECK.get(table, ())]
    missed = []
    for column in checked_columns if LONG else chance.sample(checked_columns, min(3, len(checked_columns))):
        shutil.copyfile(sound, path)
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        if damage(path, table, column, chance) and not checked(path).problems:
            missed.append(column)

    assert missed == []


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("verdicts", "attempt_id"),
        ("verdicts", "run_id"),
        ("verdicts", "label"),
        ("verdicts", "reviewer"),
        ("calls", "state"),
        ("buckets", "slug"),
        ("bucket_members", "bucket"),
        ("bucket_events", "record"),
        ("actions", "date"),
        ("known_gaps", "suite"),
        ("refusals", "answer"),
        ("exclusions", "run_id"),
    ],
)
def test_a_changed_opinion_is_found(sound, table, column, tmp_path):
    shutil.copyfile(sound, tmp_path / "errata.db")
    assert damage(tmp_path / "errata.db", table, column, random.Random(3))

    assert table in {problem.table for problem in checked(tmp_path / "errata.db").problems}


def test_damaged_attempts_are_listed_by_their_ids(store):
    done = put_run(store, cases=("a", "b", "c"))
    sql(store.path, "UPDATE attempts SET outcome = 'pass' WHERE seq = 1")

    (problem,) = checked(store.path).problems

    assert problem.kind == "facts_damaged"
    assert problem.attempts == (f"{done.id}:suite/b#1",)
    assert "`attempts.outcome` contradicts the attempt's record" in problem.message


def test_every_attempt_of_a_lost_block_is_listed(store):
    put_run(store, cases=("a", "b", "c"))
    sql(store.path, "DELETE FROM blocks")

    (problem,) = checked(store.path).problems

    assert len(problem.attempts) == 3
    assert "is missing" in problem.message


def test_a_deleted_row_is_found(store):
    put_run(store, cases=("a", "b", "c"))
    sql(store.path, "DELETE FROM attempts WHERE seq = 2")

    assert [problem.kind for problem in checked(store.path).problems] == ["facts_damaged"]


def test_the_attempts_that_use_a_damaged_file_are_listed(store):
    run = a_run(native_id="run-1")
    files = (Artefact(role="grader", path="g.py", text="assert answer == 42"),)
    attempt = an_attempt(run=run.id, artefacts=files, checks=(Check(name="c", status="fail"),))
    put(store, run, attempt, an_attempt(run=run.id, case="suite/other"))
    with store.writing() as connection:
        connection.execute(update(blobs).values(data=bytes(20)))

    (problem,) = [one for one in checked(store.path).problems if one.kind == "facts_damaged"]

    assert problem.attempts == (attempt.id,)
