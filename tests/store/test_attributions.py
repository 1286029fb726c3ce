"""The owners of a run's failures are written whole, however many there are."""

import pytest
from store_fixtures import put, put_owners

from errata.model import Attribution, FailureKey
from errata.store import attributions, engine
from errata.store.attributions import AttributionSpool, attributions_of, rules_version_of
from errata.testing import a_run, an_attempt

RUN = a_run()
ATTEMPTS = [an_attempt(run=RUN.id, case=f"suite/{number}", outcome="fail") for number in range(25)]


def owned_by(owner):
    key = FailureKey(exact="x", coarse="x")
    return [
        (seq, Attribution(attempt=one.id, owner=owner, confidence="likely", failure_key=key), False)
        for seq, one in enumerate(ATTEMPTS)
    ]


def owners_in(store, pk):
    return [one.owner for one in attributions_of(store, pk).values()]


@pytest.fixture
def pk(store, monkeypatch):
    """A run whose owners take several chunks and do not fit into memory."""
    monkeypatch.setattr(attributions, "CHUNK", 4)
    monkeypatch.setattr(attributions, "IN_MEMORY", 1)
    (done,) = put(store, RUN, *ATTEMPTS)
    put_owners(store, done.pk, owned_by("model"), "rules-1")
    return done.pk


def test_owners_that_wait_in_a_file_are_stored_as_they_are(store, pk):
    assert [one for _, one, _ in owned_by("model")] == list(attributions_of(store, pk).values())


def test_owners_of_a_large_run_are_replaced_all_at_once_or_not_at_all(store, pk, monkeypatch):
    chunks, write = [], engine.bulk_insert

    def fail_at_the_third(*arguments, **named):
        chunks.append(owners_in(store, pk))  # what other processes see meanwhile
        if len(chunks) == 3:
            raise KeyboardInterrupt
        return write(*arguments, **named)

    monkeypatch.setattr(engine, "bulk_insert", fail_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        put_owners(store, pk, owned_by("provider"), "rules-2")

    assert chunks == [["model"] * 25] * 3
    assert (owners_in(store, pk), rules_version_of(store, pk)) == (["model"] * 25, "rules-1")


def test_a_second_pass_takes_the_place_of_the_first(store, pk):
    with AttributionSpool() as spool:
        spool.fill(owned_by("provider"))
        spool.fill(owned_by("environment")[:9])
        spool.write(store, pk, "rules-3")

        assert spool.count == 9
    assert (owners_in(store, pk), rules_version_of(store, pk)) == (["environment"] * 9, "rules-3")


def test_half_a_character_in_a_name_does_not_stop_the_owners(store, pk):
    seq, one, breaks = owned_by("model")[0]
    odd = Attribution(attempt=one.attempt, owner="model", confidence="likely", failure_key=one.failure_key,
                      decided_by="rule \ud800")  # fmt: skip
    put_owners(store, pk, [(seq, odd, breaks), *owned_by("model")[1:]], "rules-4")

    assert len(owners_in(store, pk)) == 25
