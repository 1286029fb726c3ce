"""What holds of suggestions whatever the failures are."""

import random
from collections import Counter

import msgspec
import pytest
from failures_to_group import a_failing, an_error, members, read_as, together
from hypothesis import given
from hypothesis import strategies as st

from errata.buckets.failure import FailureToGroup
from errata.buckets.reconcile import role_of
from errata.buckets.suggest import suggest
from errata.model.check import WrongAnswer

WORDS = (
    "pier",
    "ferry",
    "ticket",
    "captain",
    "harbour",
    "timeout",
    "worktree",
    "socket",
    "429",
    "17:30",
    "é",
    "失败",
    "",
)
OWNERS = ("model", "provider", "harness", "grader")
SIGNALS = ("", "", "provider_rate_limit", "harness_frame", "lint_only")
ATTEMPTS = [f"{run}:suite/{case}#1" for run in "ab" for case in range(7)]

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@st.composite
def failures(draw: st.DrawFn) -> list[FailureToGroup]:
    found = []
    for attempt in draw(st.lists(st.sampled_from(ATTEMPTS), unique=True, max_size=12)):
        common = {
            "owner": draw(st.sampled_from(OWNERS)),
            "signal": draw(st.sampled_from(SIGNALS)),
            "cluster": draw(st.sampled_from(("", "", "", "empty_response"))),
            "suite": draw(st.sampled_from(("suite", "suite", "other"))),
            "follows": draw(st.sampled_from((None, None, None, *ATTEMPTS))),
            "parameters": {"provider": draw(st.sampled_from("xy"))},
            "answer": draw(
                st.sampled_from((None, None, WrongAnswer("No", "Yes", "text"), WrongAnswer("", "7", "empty")))
            ),
        }
        make = draw(st.sampled_from((a_failing, an_error)))
        failing = make(attempt, draw(texts), **common)
        if draw(st.integers(0, 3)) == 0:
            bucket = draw(st.sampled_from(("", "one", "two")))
            inherited = draw(st.sampled_from((None, None, "x")))
            failing = read_as(failing, bucket, draw(texts), final=inherited is None, inherited_from=inherited)
        found.append(failing)
    return found


@given(failures(), st.randoms())
def test_the_order_of_the_failures_does_not_matter(given_, chance: random.Random):
    shuffled = list(given_)
    chance.shuffle(shuffled)

    assert suggest(shuffled) == suggest(given_)


@given(failures(), st.booleans())
def test_every_failure_is_in_exactly_one_bucket(given_, again):
    found = suggest(given_, suggest(given_).buckets if again else ())

    listed = [attempt for bucket in found.buckets for attempt in members(bucket, found)]
    assert sorted(listed) == sorted(failing.attempt for failing in given_)


@given(failures())
def test_ids_and_slugs_are_unique_and_nothing_is_unnamed(given_):
    found = suggest(given_).buckets

    assert len({bucket.id for bucket in found}) == len(found)
    assert len({(bucket.suite, bucket.slug) for bucket in found}) == len(found)
    assert all(bucket.slug and 0 < len(bucket.title) <= 80 and bucket.title.isprintable() for bucket in found)


@given(failures())
def test_members_of_a_bucket_are_of_one_suite(given_):
    suites = {failing.attempt: failing.suite for failing in given_}
    root = {failing.attempt: failing.follows for failing in given_}

    found = suggest(given_)
    for bucket in found.buckets:
        own = {suites[each] for each in members(bucket, found) if root[each] not in suites}
        assert own <= {bucket.suite}


@given(failures())
def test_the_same_failures_are_found_again_in_the_same_buckets(given_):
    first = suggest(given_)
    again = suggest(given_, first.buckets)

    assert together(again) == together(first)
    assert {bucket.id for bucket in again.buckets} == {bucket.id for bucket in first.buckets}


@given(failures(), st.data())
def test_known_members_are_never_moved(given_, data):
    first = suggest(given_).buckets
    if not first:
        return
    pinned: dict[str, str] = {}
    for failing in given_:
        if data.draw(st.booleans()):
            pinned[failing.attempt] = data.draw(st.sampled_from([bucket.id for bucket in first]))

    found = suggest(given_, first, pinned).places

    assert {attempt: found[attempt] for attempt in pinned} == pinned


@given(failures(), failures())
def test_more_failures_do_not_change_what_a_known_bucket_is_called(earlier, later):
    known = suggest(earlier).buckets
    found = suggest(later, known).buckets

    kept = [(bucket.id, bucket.suite, bucket.slug, bucket.title) for bucket in found[: len(known)]]
    assert kept == [(bucket.id, bucket.suite, bucket.slug, bucket.title) for bucket in known]


@given(failures())
def test_roles_tell_who_was_read(given_):
    for failing in given_:
        verdict = failing.verdict
        read = "assigned" if verdict is None else "inherited" if verdict.inherited_from else "reviewed"
        assert role_of(failing) == read


@given(failures())
def test_what_carries_a_bucket_was_read_and_is_in_it(given_):
    by_attempt = {failing.attempt: failing for failing in given_}
    found = suggest(given_)
    for bucket in found.buckets:
        assert set(bucket.supported_by) <= members(bucket, found)
        assert all(by_attempt[each].final for each in bucket.supported_by)
        if bucket.status == "final":
            own = {each for each in members(bucket, found) if not by_attempt[each].follows}
            assert set(bucket.supported_by) <= own
            assert len(bucket.supported_by) >= max(1, min(3, len(own)))


@pytest.mark.req("B-58")
@given(failures())
def test_verdicts_change_nothing_about_the_buckets_of_other_failures(given_):
    nobody = [msgspec.structs.replace(one, verdict=None, owner=one.rule_owner or one.owner) for one in given_]
    unread = [one.attempt for one in given_ if one.verdict is None and one.follows is None]

    reviewed, before = suggest(given_), suggest(nobody)

    assert {each: reviewed.places[each] for each in unread} == {each: before.places[each] for each in unread}
    titles = {bucket.id: bucket.title for bucket in before.buckets}
    assert all(titles.get(bucket.id, bucket.title) == bucket.title for bucket in reviewed.buckets)


@given(failures())
def test_a_verdict_that_names_the_owner_of_its_bucket_and_no_other_keeps_the_failure_there(given_):
    nobody = [msgspec.structs.replace(one, verdict=None, owner=one.rule_owner or one.owner) for one in given_]
    before, reviewed = suggest(nobody), suggest(given_)
    owners = {bucket.id: bucket.parameters["owner"] for bucket in before.buckets}
    shared = {place for place, often in Counter(before.places.values()).items() if often > 1}
    agreeing = [
        one.attempt
        for one in given_
        if one.verdict and not one.verdict.bucket and one.follows is None
        if before.places[one.attempt] in shared and one.owner == owners[before.places[one.attempt]]
    ]

    assert {each: reviewed.places[each] for each in agreeing} == {each: before.places[each] for each in agreeing}
