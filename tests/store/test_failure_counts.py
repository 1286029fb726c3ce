"""Counts that are kept say the same as a count over the rows, whatever changes and whatever is filtered by."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.test_failure_list import RUN, a_row

from errata.model.filters import FailureFilters
from errata.store.database import open_store
from errata.store.failure_list import count_rows, facets_of, groups_of, keep_rows, listed_rows, update_opinions

OWNERS, CHECKS, REVIEWS, BUCKETS = ("model", "grader"), ("", "tests"), ("open", "final"), ("", "b1", "b2")
FACETS = {"owner": "owners", "check": "check", "review": "review"}

rows = st.lists(
    st.tuples(*(st.sampled_from(words) for words in (OWNERS, CHECKS, REVIEWS, BUCKETS, (" a ", " a b ", "")))),
    max_size=20,
)
opinions = st.lists(st.tuples(st.sampled_from(OWNERS), st.sampled_from(REVIEWS), st.sampled_from(BUCKETS)), max_size=20)
filters = st.builds(
    FailureFilters,
    owners=st.sampled_from(((), ("model",), ("model", "grader"))),
    check=st.sampled_from(("", "-", "tests")),
    review=st.sampled_from(("", "final")),
    bucket=st.sampled_from(("", "-", "b1")),
    signal=st.sampled_from(("", "b")),
)


@pytest.fixture(scope="module")
def index():
    with tempfile.TemporaryDirectory() as folder:
        yield open_store(Path(folder) / "s.db")


@given(rows, opinions, filters)
def test_facets_and_groups_are_those_of_the_rows_also_after_verdicts(index, made, changed, chosen):
    kept = [
        a_row(at, owner=one[0], check=one[1])._replace(review=one[2], bucket=one[3], signals=one[4])
        for at, one in enumerate(made)
    ]
    keep_rows(index, RUN, kept, "mark")
    now = [row._replace(owner=one[0], review=one[1], bucket=one[2]) for row, one in zip(kept, changed, strict=False)]
    update_opinions(index, RUN, now, "mark")
    facets = facets_of(index, RUN, chosen)

    assert facets.total == count_rows(index, RUN, chosen)
    for facet, field in FACETS.items():
        for value, count in getattr(facets, facet).items():
            only = FailureFilters(
                **{name: getattr(chosen, name) for name in chosen.__struct_fields__ if name != field},
                **{field: (value,) if field == "owners" else value or "-"},
            )
            assert count_rows(index, RUN, only) == count
    for group in groups_of(index, RUN, chosen, "bucket", limit=50):
        members = [row for row in listed_rows(index, RUN, chosen, "log") if row.bucket == group.name]
        assert group.size == len(members)
        assert group.reviewed == sum(row.review == "final" for row in members)
        often = {owner: sum(row.owner == owner for row in members) for owner in OWNERS}
        assert often[group.owner] == max(often.values())
