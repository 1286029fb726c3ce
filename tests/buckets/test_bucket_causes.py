"""The causes of a run for its summary."""

from errata.buckets.causes import summarise_causes
from errata.model import BucketPlace, attempt_id
from errata.testing import a_run

RUN = a_run()


def attempt(case: str, index: int = 1) -> str:
    return attempt_id(RUN.id, f"suite/{case}", index=index)


def in_buckets(**titles: str) -> dict[str, BucketPlace]:
    """Case → the title of its bucket."""
    return {
        attempt(case): BucketPlace(id=title, slug=title, title=title, status="provisional")
        for case, title in titles.items()
    }


def test_the_largest_cause_comes_first_and_its_cases_are_in_the_order_of_the_log():
    places = in_buckets(a="locked", b="disk full", c="disk full")

    found = summarise_causes(RUN, places, [(attempt(case), ()) for case in "cab"])

    assert [(one.title, one.count, one.cases) for one in found] == [
        ("disk full", 2, ("c", "b")),
        ("locked", 1, ("a",)),
    ]


def test_a_case_with_several_failed_attempts_is_named_once_and_counted_each_time():
    places = in_buckets(a="locked")
    places[attempt("a", 2)] = places[attempt("a")]

    (cause,) = summarise_causes(RUN, places, [(attempt("a"), ()), (attempt("a", 2), ())])

    assert (cause.count, cause.cases) == (2, ("a",))


def test_a_title_is_verbatim_only_where_every_failure_says_it():
    places = in_buckets(a="disk full", b="disk full", c="the provider refused the call")
    texts = {"a": ("OSError: disk full",), "b": ("first", "disk full on /dev/sda"), "c": ("HTTP 429",)}

    found = summarise_causes(RUN, places, [(attempt(case), texts[case]) for case in "abc"])

    assert [one.verbatim for one in found] == [True, False]


def test_a_failure_in_no_bucket_is_left_out():
    assert summarise_causes(RUN, {}, [(attempt("a"), ())]) == []
