"""What was made from a run is kept until what it was made from changes."""

from store_fixtures import put_run, sql

from errata.store.runs import keep_summary, kept_summary, run_by_id


def a_run_in(store):
    return run_by_id(store, put_run(store).id)


def test_a_summary_comes_back_as_long_as_it_was_made_from_the_same(store):
    pk = a_run_in(store).pk
    keep_summary(store, pk, "scores", "v1", b"what was found")

    assert kept_summary(store, pk, "scores", "v1") == b"what was found"
    assert kept_summary(store, pk, "scores", "v2") is None
    assert kept_summary(store, pk, "another kind", "v1") is None
    assert kept_summary(store, pk + 1, "scores", "v1") is None


def test_a_damaged_one_is_none(store):
    pk = a_run_in(store).pk
    keep_summary(store, pk, "scores", "v1", b"what was found")
    sql(store.path, "update summaries set data = substr(data, 1, 5)")

    assert kept_summary(store, pk, "scores", "v1") is None
