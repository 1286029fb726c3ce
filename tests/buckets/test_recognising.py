"""The same bucket in later runs."""

import msgspec
import pytest
from a_failing import a_failing, an_error, bucket_with, members, read_as

from errata.buckets.suggest import suggest
from errata.model import Bucket

MISSING = "bash: line 7: uvx: command not found"


def known(*failures, **changes) -> Bucket:
    """As it was suggested for an earlier run, whose members are not at hand any more."""
    (bucket,) = suggest(failures).buckets
    return msgspec.structs.replace(bucket, **changes)


def test_a_bucket_is_recognised_by_its_key_and_keeps_id_slug_and_title():
    before = known(an_error("old", MISSING), title="the verifier has no uvx", slug="no-uvx")

    found = suggest([an_error("new", MISSING)], [before])
    (after,) = found.buckets

    assert (after.id, after.slug, after.title) == (before.id, "no-uvx", "the verifier has no uvx")
    assert members(after, found) == {"new"}


def test_a_bucket_is_recognised_by_words_where_no_key_is_known():
    before = known(an_error("old", "the model answered with prose and no parseable files"))

    found = suggest([an_error("new", "no parseable files in the answer, which is prose of the model")], [before])
    (after,) = found.buckets

    assert after.id == before.id


def test_a_failure_of_another_owner_is_not_recognised_by_words():
    before = known(an_error("old", "the model answered with prose and no parseable files"))

    found = suggest([an_error("new", "prose and no parseable files at all", owner="grader")], [before])

    assert bucket_with("new", found).id != before.id


def test_a_bucket_is_recognised_by_a_verdict_that_names_it():
    before = known(an_error("old", MISSING), slug="no-uvx")

    found = suggest([read_as(an_error("new", "something else entirely"), "no_uvx")], [before])

    assert bucket_with("new", found).id == before.id


def test_a_renamed_bucket_is_found_by_the_slug_that_readers_gave_it():
    before = known(read_as(an_error("old", MISSING), "no-uvx", owner="environment"))
    renamed = msgspec.structs.replace(before, slug="verifier-lacks-uvx", title="The verifier lacks uvx")

    found = suggest([read_as(an_error("new", "another text"), "no-uvx", owner="environment")], [renamed])
    (after,) = found.buckets

    assert (after.slug, after.status) == ("verifier-lacks-uvx", "final")


def test_readers_who_all_agree_make_a_provisional_bucket_their_own():
    cluster = {"cluster": "partial_multi_tool_execution"}
    before = known(a_failing("old", "two steps, one done", **cluster))
    failures = [
        read_as(a_failing("1", "only one booking was cancelled", **cluster), "does-half", "Does one of two steps."),
        a_failing("2", "one of the two was left", **cluster),
    ]

    found = suggest(failures, [before])
    (after,) = found.buckets

    assert (after.id, after.status, members(after, found)) == (before.id, "reviewed", {"1", "2"})


def test_readers_who_disagree_leave_a_provisional_bucket_to_what_nobody_has_read():
    cluster = {"cluster": "partial_multi_tool_execution"}
    before = known(a_failing("old", "two steps, one done", **cluster))
    failures = [
        read_as(a_failing("1", "a", **cluster), "does-half", "Does one of the two steps."),
        read_as(a_failing("2", "b", **cluster), "wrong-order", "Reverses what was asked for."),
        a_failing("3", "c", **cluster),
    ]

    found = suggest(failures, [before])

    assert bucket_with("3", found).id == before.id
    assert members(bucket_with("1", found), found) == {"1"}
    assert members(bucket_with("2", found), found) == {"2"}


def test_a_member_stays_where_a_person_put_it_whatever_it_looks_like():
    one = known(an_error("a", MISSING))
    other = known(an_error("b", "no space left on the device"))

    found = suggest([an_error("moved", MISSING)], [one, other], {"moved": other.id})

    assert members(bucket_with("moved", found), found) == {"moved"}
    assert bucket_with("moved", found).id == other.id


def test_a_known_bucket_comes_back_even_where_nothing_is_found_for_it():
    before = known(an_error("old", MISSING))

    assert suggest([], [before]).buckets == [before]


@pytest.mark.parametrize("again", [1, 2])
def test_suggesting_again_changes_nothing(again):
    failures = [
        an_error(str(at), text) for at, text in enumerate([MISSING, MISSING, "no space left", "memory ran out"])
    ]
    first = suggest(failures).buckets
    found = first
    for _ in range(again):
        found = suggest(failures, found).buckets

    assert sorted(found, key=lambda one: one.id) == sorted(first, key=lambda one: one.id)
