"""The causes of a run for its summary."""

from errata.buckets.opinions import summarise_causes
from errata.model import BucketPlace


def in_buckets(**titles: str) -> dict[str, BucketPlace]:
    """Attempt → its bucket, by the bucket's title."""
    return {
        attempt: BucketPlace(id=title, slug=title, title=title, status="provisional")
        for attempt, title in titles.items()
    }


def test_the_largest_cause_comes_first_and_its_cases_are_in_the_order_of_the_log():
    places = in_buckets(a="locked", b="disk full", c="disk full")

    causes = summarise_causes(places, [(attempt, attempt.upper()) for attempt in "cab"], {})

    assert [(cause.title, cause.count, cause.cases) for cause in causes] == [
        ("disk full", 2, ("C", "B")),
        ("locked", 1, ("A",)),
    ]


def test_causes_of_equal_size_are_in_the_order_of_the_log():
    places = in_buckets(a="locked", b="disk full")

    assert [cause.title for cause in summarise_causes(places, [("b", "B"), ("a", "A")], {})] == ["disk full", "locked"]


def test_a_case_with_several_failed_attempts_is_named_once_and_counted_each_time():
    places = in_buckets(first="locked", second="locked")

    (cause,) = summarise_causes(places, [("first", "A"), ("second", "A")], {})

    assert (cause.count, cause.cases) == (2, ("A",))


def test_a_failure_in_no_bucket_is_left_out():
    assert summarise_causes({}, [("a", "A")], {}) == []


def test_the_owner_of_a_cause_is_that_of_most_of_its_failures():
    places = in_buckets(a="locked", b="locked", c="locked")

    (cause,) = summarise_causes(places, [(attempt, attempt) for attempt in "abc"], {"b": "harness", "c": "harness"})

    assert cause.owner == "harness"


def test_a_knock_on_failure_does_not_give_a_cause_its_owner():
    places = in_buckets(a="locked", b="locked", c="locked")
    owners = {"a": "harness", "b": "collateral", "c": "collateral"}

    (cause,) = summarise_causes(places, [(attempt, attempt) for attempt in "abc"], owners)

    assert cause.owner == "harness"
