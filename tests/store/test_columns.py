"""Rows kept column by column are the same rows."""

from contextlib import closing

import pytest
from store_fixtures import outside

from errata.store import engine
from errata.store.columns import Columns
from errata.store.schema import attempts

ROWS = [(0, "a", True, None, 1), (1, "b", True, None, 1.0), (2, "c", True, None, True)]


def an_attempt(seq: int, case: str, **changes: object) -> tuple[object, ...]:
    values = {"seq": seq, "case_key": case, "number": 1, "path": "", "counted": True, "failure": seq % 2 == 0} | {
        "execution": "completed", "measurement": "scored", "outcome": "it's", "record_block": 1, "record_at": seq,
    } | changes  # fmt: skip
    return tuple(values.get(column.name) for column in list(attempts.columns)[1:])


def test_columns_give_back_their_rows():
    columns = Columns.of(ROWS)

    assert list(columns) == ROWS
    assert len(columns) == 3
    assert columns.columns == [[0, 1, 2], ["a", "b", "c"], True, None, [1, 1.0, True]]
    assert columns.part(1, 2) == [[1], ["b"], True, None, [1.0]]


def test_joined_parts_keep_one_value_where_all_agree():
    joined = Columns.joined([Columns.of(ROWS[:1]), Columns(), Columns.of(ROWS[1:])])

    assert list(joined) == ROWS
    assert joined == Columns.of(ROWS)
    assert joined.columns[2:4] == [True, None]


def test_combinations_are_counted_in_the_order_of_their_first_row():
    columns = Columns.of([("x", 1, "fail"), ("x", 2, "pass"), ("x", 1, "fail")])

    assert list(columns.counts(2, 0, 1).items()) == [(("fail", "x", 1), 2), (("pass", "x", 2), 1)]
    assert columns.counts(0) == {("x",): 3}


@pytest.mark.parametrize("odd", [{}, {"tokens": 10**30}, {"outcome": "no\ud800"}], ids=["usual", "large", "surrogate"])
def test_columns_are_written_as_their_rows_are(store, odd):
    rows = [an_attempt(0, "one"), an_attempt(1, "two"), an_attempt(2, "three", **odd), an_attempt(3, "four")]

    with store.writing() as connection:
        assert engine.bulk_insert(connection, attempts, Columns.of(rows), run_pk=7) == 4
        assert engine.bulk_insert(connection, attempts, rows, run_pk=8) == 4

    with closing(outside(store.path)) as database:
        of_columns, of_rows = (
            database.execute(f"SELECT * FROM attempts WHERE run_pk = {pk} ORDER BY seq").fetchall() for pk in (7, 8)
        )
    assert [row[1:] for row in of_columns] == [row[1:] for row in of_rows]
    assert [row[2] for row in of_rows] == ["one", "two", "three", "four"]
    assert of_rows[0][11] == "it's"
