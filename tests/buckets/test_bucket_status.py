"""What makes a bucket reviewed or final."""

import pytest
from failures_to_group import a_failing, read_as
from hypothesis import given
from hypothesis import strategies as st

from errata.buckets.opinions import support_of, with_status
from errata.model import Bucket

SLUG = "off-by-one"


def a_bucket(**changes) -> Bucket:
    return Bucket(id="b", slug=SLUG, title="Off by one", **changes)


def stands(failures, **changes):
    by_attempt = {one.attempt: one for one in failures}
    return support_of(a_bucket(**changes), by_attempt.keys(), by_attempt)


def some(read: int, unread: int, **changes):
    """Failures of which the first were read."""
    failures = [a_failing(str(at), "text") for at in range(read + unread)]
    return [read_as(one, SLUG, **changes) if at < read else one for at, one in enumerate(failures)]


@pytest.mark.req("J-30")
def test_a_bucket_that_nobody_has_read_is_provisional():
    assert stands(some(0, 5)) == ("provisional", ())


def test_a_bucket_with_one_read_member_of_many_is_reviewed():
    assert stands(some(1, 9)) == ("reviewed", ("0",))


@pytest.mark.req("J-02", "J-31")
def test_a_bucket_is_final_when_three_were_read_and_it_is_recorded_which():
    assert stands(some(3, 97)) == ("final", ("0", "1", "2"))


@pytest.mark.req("J-31")
@pytest.mark.parametrize("size", [1, 2])
def test_a_small_bucket_is_final_only_when_all_were_read(size):
    assert stands(some(size, 0)).status == "final"
    assert stands(some(size - 1, 1)).status != "final"


def test_inherited_verdicts_carry_nothing():
    assert stands(some(5, 0, inherited_from="another")) == ("provisional", ())


def test_a_verdict_that_lacks_its_second_reader_makes_a_bucket_reviewed_and_not_final():
    assert stands(some(3, 0, needs_second=True, final=False)) == ("reviewed", ())


def test_a_verdict_that_names_another_bucket_does_not_support_this_one():
    failures = [read_as(a_failing(each, "text"), "something-else") for each in "123"]

    assert stands(failures) == ("provisional", ())


def test_after_a_merge_a_verdict_supports_what_it_named_before():
    failures = [read_as(a_failing(each, "text"), "something-else") for each in "123"]

    assert stands(failures, keys=("verdict:something-else",)).status == "final"


@pytest.mark.req("J-14", "J-31", "B-62")
def test_knock_on_failures_do_not_count():
    failures = some(3, 1)
    by_attempt = {one.attempt: one for one in failures}

    assert support_of(a_bucket(), by_attempt, by_attempt, ["1", "2"]) == ("reviewed", ("0",))
    assert support_of(a_bucket(), "01", by_attempt, ["1"]) == ("final", ("0",))
    assert support_of(a_bucket(), "12", by_attempt, ["1", "2"]) == ("reviewed", ())


def test_a_verdict_that_names_another_owner_does_not_support_it():
    failures = [read_as(a_failing(each, "text"), SLUG, owner="task") for each in "123"]

    assert stands(failures, parameters={"owner": "model"}) == ("provisional", ())
    assert stands(failures, parameters={"owner": "task"}).status == "final"


def test_members_that_are_not_at_hand_carry_what_they_carried():
    bucket = a_bucket(supported_by=("gone",))

    assert support_of(bucket, ["gone", "here"], {"here": a_failing("here", "text")}) == ("reviewed", ("gone",))


def test_a_bucket_that_lost_its_support_falls_back():
    failures = some(3, 0)
    changed = [*failures[:1], *(read_as(a_failing(one.attempt, "text"), "another") for one in failures[1:])]

    assert stands(failures).status == "final"
    assert stands(changed, supported_by=("0", "1", "2")) == ("reviewed", ("0",))


@pytest.mark.req("J-31", "J-02", "final")
@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()).map(
            lambda drawn: dict(zip(("read", "supports", "inherited", "final"), drawn, strict=True))
        ),
        max_size=8,
    )
)
def test_final_means_that_enough_were_read_themselves_and_say_so(drawn):
    failures = []
    for at, one in enumerate(drawn):
        failing = a_failing(str(at), "text")
        if one["read"]:
            changes = {"inherited_from": "x"} if one["inherited"] else {}
            final = one["final"] and not one["inherited"]
            failing = read_as(failing, SLUG if one["supports"] else "another", final=final, **changes)
        failures.append(failing)

    found = stands(failures)

    carrying = [
        str(at)
        for at, one in enumerate(drawn)
        if one["read"] and one["supports"] and not one["inherited"] and one["final"]
    ]
    assert list(found.supported_by) == carrying
    assert (found.status == "final") == (len(drawn) > 0 and len(carrying) >= min(3, len(drawn)))


def test_a_status_goes_by_the_verdicts_of_now_and_not_by_what_was_recorded():
    failures = some(2, 1)
    by_attempt = {one.attempt: one for one in failures}
    recorded = a_bucket(status="final", supported_by=("0", "1", "gone"))

    restated = with_status(recorded, by_attempt.keys(), by_attempt)

    assert (restated.status, restated.supported_by) == ("reviewed", ("0", "1"))
    assert with_status(recorded, ["2"], {}).status == "provisional"
