"""A whole store copied: every row arrives, the proof notices any difference, and half a copy is not a store."""

import gzip
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_fixtures import outside, put_run

from errata.store import copying
from errata.store.copying import RowDigest, copy_into_file, copy_rows, differing, is_empty, part_of
from errata.store.database import Store, open_store
from errata.store.schema import attempts, cases, metadata, runs

OLD = sorted((Path(__file__).parents[1] / "fixtures" / "old").glob("*/store.db.gz"))[-1]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with runs, verdicts, buckets and actions; not to be changed."""
    path = tmp_path_factory.mktemp("full") / "errata.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    open_store(path)
    return path


def digests(store: Store) -> dict[str, str]:
    with store.reading() as connection:
        return {table.name: copy_rows(connection, None, table).text for table in metadata.sorted_tables}


def test_a_copy_has_every_row_of_every_table(full, tmp_path):
    proof = copy_into_file(open_store(full), tmp_path / "copy.db")

    assert {table.table for table in proof} == {table.name for table in metadata.sorted_tables}
    assert sum(table.rows for table in proof) > 500
    assert not differing(proof)
    assert digests(open_store(tmp_path / "copy.db")) == digests(open_store(full))


def test_a_copy_keeps_the_order_of_cases(full, tmp_path):
    copy_into_file(open_store(full), tmp_path / "copy.db")

    orders = []
    for path in (full, tmp_path / "copy.db"):
        with closing(outside(open_store(path).path)) as database:
            orders.append(database.execute("SELECT run_pk, key FROM cases ORDER BY rowid").fetchall())
    assert orders[0] == orders[1]


def test_numbers_of_a_copy_go_on_where_those_of_its_source_end(store, tmp_path):
    first = put_run(store, "run-1")
    copy_into_file(store, tmp_path / "copy.db")

    second = put_run(open_store(tmp_path / "copy.db"), "run-2")

    assert second.pk > first.pk


def test_a_copy_that_differs_is_discarded(store, tmp_path, monkeypatch):
    put_run(store)
    whole = copying.copy_rows

    def loses_a_row(reader, writer, table, on_rows):
        digest = whole(reader, writer, table, on_rows)
        if table is attempts and writer is not None:
            writer.execute(attempts.delete().where(attempts.c.seq == 1))
        return digest

    monkeypatch.setattr(copying, "copy_rows", loses_a_row)

    proof = copy_into_file(store, tmp_path / "copy.db")

    assert [(one.table, one.rows, one.rows_copied) for one in differing(proof)] == [("attempts", 2, 1)]
    assert [path.name for path in tmp_path.glob("*copy*")] == []


def test_an_interrupted_copy_is_not_a_store_and_the_next_one_completes(store, tmp_path, monkeypatch):
    put_run(store)

    def interrupted(table, _rows):
        if table == runs.name:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_into_file(store, tmp_path / "copy.db", interrupted)
    assert not (tmp_path / "copy.db").exists()
    part_of(tmp_path / "copy.db").write_bytes(b"left by a process that was killed")

    assert not differing(copy_into_file(store, tmp_path / "copy.db"))
    assert [path.name for path in tmp_path.glob("*copy*")] == ["copy.db"]


def test_a_copy_is_readable_by_its_owner_only(store, tmp_path):
    copy_into_file(store, tmp_path / "copy.db")

    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0


def test_a_new_store_is_empty(store):
    assert is_empty(store)
    put_run(store)
    assert not is_empty(store)


ROWS = st.lists(st.tuples(st.integers(0, 9), st.text(), st.text(), st.text(), st.binary()), max_size=8)


@given(ROWS, st.randoms())
def test_a_digest_does_not_depend_on_the_order_of_rows(rows, chance):
    forth, back = RowDigest(cases), RowDigest(cases)
    forth.add(rows)
    chance.shuffle(rows)
    back.add(rows)

    assert forth.text == back.text


@given(ROWS.filter(bool))
def test_a_row_that_is_missing_or_double_changes_the_digest(rows):
    whole, missing, double = RowDigest(cases), RowDigest(cases), RowDigest(cases)
    whole.add(rows)
    missing.add(rows[1:])
    double.add([*rows, rows[0]])

    assert len({whole.text, missing.text, double.text}) == 3


def test_a_digest_does_not_depend_on_the_types_of_an_engine():
    """Engines give booleans as numbers, bytes as views, and keys of JSON in another order."""
    columns = [column.name for column in runs.columns]
    one = dict.fromkeys(columns, "x") | {"pk": 1, "revision": 1, "counts": {"a": 1, "b": 2}, "record": b"r"}
    other = one | {"pk": True, "counts": {"b": 2, "a": 1}, "record": memoryview(b"r")}
    first, second = RowDigest(runs), RowDigest(runs)
    first.add([tuple(one.values())])
    second.add([tuple(other.values())])

    assert first.text == second.text
