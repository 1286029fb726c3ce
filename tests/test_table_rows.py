"""Rows that are checked in one test: every row is checked, and each one that fails is named."""

import inspect

import pytest
from tests.table_rows import Row, _go_through, _is_plain, _rows


@pytest.mark.parametrize(("number", "word"), [(1, "one"), (2, "two"), pytest.param(3, "three", id="the third")])
def numbered(number, word):
    assert len(word) == 3, f"{word} has {len(word)} letters"


def rows_of(test):
    (mark,) = test.pytestmark
    return _rows(mark)


def test_each_row_has_its_values_and_the_name_that_it_was_given():
    assert rows_of(numbered) == [
        Row("", {"number": 1, "word": "one"}),
        Row("", {"number": 2, "word": "two"}),
        Row("the third", {"number": 3, "word": "three"}),
    ]


def test_a_row_that_fails_is_named():
    together = _go_through(numbered, [rows_of(numbered)], [])

    with pytest.raises(AssertionError, match="three has 5 letters") as caught:
        together()
    assert caught.value.__notes__ == ["row: the third"]


def test_every_row_that_fails_is_named():
    together = _go_through(numbered, [[Row("", {"number": n, "word": "x" * n}) for n in (4, 3, 5)]], [])

    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows fail") as caught:
        together()
    assert [one.__notes__ for one in caught.value.exceptions] == [
        ["row: number=4, word='xxxx'"],
        ["row: number=5, word='xxxxx'"],
    ]


def test_tables_are_multiplied():
    seen = []

    @pytest.mark.parametrize("a", [1, 2])
    @pytest.mark.parametrize("b", "xy")
    def pair(a, b):
        seen.append((a, b))

    _go_through(pair, [_rows(mark) for mark in pair.pytestmark], [])()

    assert sorted(seen) == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_a_skipped_row_does_not_skip_the_others():
    seen = []

    @pytest.mark.parametrize("number", [1, 2])
    def odd(number):
        if number == 1:
            pytest.skip("the first")
        seen.append(number)

    _go_through(odd, [rows_of(odd)], [])()

    assert seen == [2]


def test_where_every_row_is_skipped_so_is_the_test():
    @pytest.mark.parametrize("number", [1, 2])
    def none(number):
        pytest.skip("nothing to check")

    with pytest.raises(pytest.skip.Exception, match="nothing to check"):
        _go_through(none, [rows_of(none)], [])()


def test_shared_fixtures_and_other_marks_stay():
    @pytest.mark.req("B-01")
    @pytest.mark.parametrize("number", [1])
    def marked(number, fixtures):
        assert fixtures == number

    together = _go_through(marked, [[Row("", {"number": 1})]], ["fixtures"])

    together(fixtures=1)
    assert list(inspect.signature(together).parameters) == ["fixtures"]
    assert [mark.name for mark in together.pytestmark] == ["req"]


@pytest.mark.parametrize(
    "mark",
    [
        pytest.mark.parametrize("a", [pytest.param(1, marks=pytest.mark.req("B-01"))]).mark,
        pytest.mark.parametrize("a", [1], indirect=True).mark,
        pytest.mark.parametrize("a", (each for each in [1])).mark,
        pytest.mark.parametrize("a", []).mark,
    ],
    ids=["marked row", "indirect", "generator", "no rows"],
)
def test_rows_that_need_more_stay_apart(mark):
    assert not _is_plain(mark)
