"""Pages by key: whatever the order and the size of a page, every row comes once."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model.filters import FailureFilters
from errata.model.listing import FailureRow
from errata.store.database import open_store
from errata.store.failure_list import (
    count_rows,
    cursor_of,
    facets_of,
    forget_other_runs,
    groups_of,
    keep_rows,
    listed_rows,
    rank_of,
)

RUN = "0" * 16


def a_row(seq, *, owner="model", check="", tokens=None, duration=None, case="c"):
    return FailureRow(
        seq,
        f"{RUN}:{case}{seq}#1",
        f"{case}{seq}",
        owner,
        "likely",
        check,
        "",
        "",
        "open",
        "",
        "",
        tokens,
        duration,
        " a b ",
    )


rows = st.lists(
    st.tuples(
        st.sampled_from(("model", "grader", "task")),
        st.sampled_from(("", "tests", "build")),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from((0.0, 1.5, 2.5)),
    ),
    max_size=40,
)


@pytest.fixture(scope="module")
def index():
    with tempfile.TemporaryDirectory() as folder:
        yield open_store(Path(folder) / "s.db")


def filled(store, made):
    kept = [a_row(at, owner=one[0], check=one[1], tokens=one[2], duration=one[3]) for at, one in enumerate(made)]
    keep_rows(store, RUN, kept, "mark")
    return kept


@given(rows, st.sampled_from(("log", "case", "-tokens", "-duration")), st.integers(1, 7))
def test_pages_hold_every_row_once_in_order(index, made, order, size):
    kept = filled(index, made)
    seen, after = [], None
    while page := listed_rows(index, RUN, FailureFilters(), order, after=after, limit=size):
        seen += page
        after = cursor_of(page[-1], order)

    assert sorted(row.seq for row in seen) == [row.seq for row in kept]
    assert seen == sorted(seen, key=lambda row: cursor_of(row, order))


@given(rows)
def test_facets_and_groups_count_what_the_filters_list(index, made):
    kept = filled(index, made)
    facets = facets_of(index, RUN, FailureFilters())

    assert facets.total == len(kept)
    assert facets.signal == ({"a": len(kept), "b": len(kept)} if kept else {})
    for owner, count in facets.owner.items():
        assert count_rows(index, RUN, FailureFilters(owners=(owner,))) == count
    groups = groups_of(index, RUN, FailureFilters(), "check", limit=50)
    assert sum(group.size for group in groups) == len(kept)
    assert [group.size for group in groups] == sorted((group.size for group in groups), reverse=True)
    for group in groups:
        assert count_rows(index, RUN, FailureFilters(check=group.name or "-")) == group.size


def test_a_row_knows_its_rank_and_its_neighbours(index):
    filled(index, [("model", "", None, None), ("task", "", None, None), ("model", "", None, None)])
    at, of, previous, following = rank_of(index, RUN, FailureFilters(owners=("model",)), 2)

    assert (at, of) == (2, 2)
    assert previous is not None
    assert previous.seq == 0
    assert following is None


def test_rows_of_a_run_that_is_gone_are_forgotten(index):
    filled(index, [("model", "", None, None)])

    assert forget_other_runs(index, set()) == [RUN]
    assert count_rows(index, RUN, FailureFilters()) == 0
