"""Failures of a run by a text in their attributions, by case and by bucket."""

import pytest
from store_fixtures import put, put_owners

from errata.model import Attribution, Bucket, FailureKey, Placement
from errata.store.bucket_changes import bucket_transaction
from errata.store.failures import attributions_of_case, attributions_with, members_in
from errata.testing import a_run, an_attempt

RUN = a_run()
TEXTS = ("disk full: ä", "disk slow", "lock held")


@pytest.fixture
def pk(store):
    attempts = [an_attempt(run=RUN.id, case=f"suite/{name}", outcome="fail") for name in "abc"]
    (done,) = put(store, RUN, *attempts)
    result = [
        Attribution(
            attempt=attempt.id,
            owner="model",
            confidence="likely",
            failure_key=FailureKey(exact=f"tests:{text}", coarse="tests"),
        )
        for attempt, text in zip(attempts, TEXTS, strict=True)
    ]
    put_owners(store, done.pk, [(seq, one, False) for seq, one in enumerate(result)])
    return done.pk


def texts_of(found):
    return [one.failure_key.exact.removeprefix("tests:") for one in found]


@pytest.mark.parametrize(
    ("texts", "matching"),
    [
        (["disk"], TEXTS[:2]),
        (["full: ä"], TEXTS[:1]),
        (["held", "slow"], TEXTS[1:]),
        (["100 %", "_isk"], ()),
        ([""], ()),
        ([], ()),
    ],
)
def test_a_text_is_found_as_it_is(store, pk, texts, matching):
    assert texts_of(attributions_with(store, pk, texts)) == list(matching)


def test_the_failures_of_one_case_of_one_run(store, pk):
    assert texts_of(attributions_of_case(store, pk, "suite/b")) == ["disk slow"]
    assert texts_of(attributions_of_case(store, pk + 1, "suite/b")) == []


def test_members_of_some_buckets_without_knock_on_failures(store, pk):
    places = [("a", "disk", False), ("b", "disk", True), ("c", "lock", False)]
    members = [
        Placement(
            run=RUN.id,
            attempt=f"{RUN.id}:suite/{case}#1",
            bucket=bucket,
            case=f"suite/{case}",
            role="assigned",
            owner="model",
            follows=follows,
        )
        for case, bucket, follows in places
    ]
    with bucket_transaction(store) as transaction:
        for name in ("disk", "lock"):
            transaction.write(Bucket(id=name, suite="suite", slug=name, title=name))
        transaction.replace_members(RUN.id, members)

    assert list(members_in(store, RUN.id, ["disk"])) == [(f"{RUN.id}:suite/a#1", "disk")]
    assert len(list(members_in(store, RUN.id, ["disk", "lock"]))) == 2
    assert list(members_in(store, "another", ["disk"])) == []
