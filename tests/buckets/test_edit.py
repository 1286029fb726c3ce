"""What people do to buckets: each change alone, and any of them one after the other."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.length import LONG

from bucket_runs import (
    ANA,
    a_stored_run,
    a_verdict,
    attempt,
    bucket_at,
    places,
    read,
    state,
    store_of_an_example,
    suggested,
)
from errata.buckets.edit import Author
from errata.errors import ErrataError, NotFoundError, SettingsError
from errata.store.bucket_changes import BY_PERSONS, events_of
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.removal import remove_run
from errata.verbs.buckets import (
    bucket_history,
    bucket_named,
    merge_buckets,
    move_failures,
    rename_bucket,
    split_bucket,
    undo_change,
)

DISK, LOCK = "OSError:no space left on the volume", "LockError:the registry is locked by another worker"


@pytest.fixture
def two(store):
    """Two causes over four cases."""
    stored = a_stored_run(store, a=DISK, b=DISK, c=LOCK, d=LOCK)
    suggested(store)
    return stored


def test_merged_buckets_are_one_with_all_members(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")

    merge_buckets([disk, lock], disk, store, ANA)

    assert {place.id for place in places(store, two).values()} == {disk.id}


def test_the_name_of_a_merged_bucket_leads_to_the_one_that_stayed(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")

    merge_buckets([lock], disk, store, ANA)

    assert bucket_named(lock.slug, store).id == disk.id


def test_later_failures_of_a_merged_bucket_go_where_it_went(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    merge_buckets([lock], disk, store, ANA)

    later = a_stored_run(store, "run-2", c=LOCK)
    suggested(store)

    assert places(store, later)["c"].id == disk.id


def test_one_bucket_alone_cannot_be_merged(store, two):
    disk = bucket_at(store, two, "a")

    with pytest.raises(SettingsError, match="at least two buckets"):
        merge_buckets([disk], disk, store, ANA)


def test_buckets_of_two_suites_are_not_merged(store, two):
    other = a_stored_run(store, "run-2", suite="another", a=DISK)
    suggested(store)

    with pytest.raises(SettingsError, match="several suites"):
        merge_buckets([bucket_at(store, other, "a")], bucket_at(store, two, "a"), store, ANA)


def test_a_split_takes_some_members_into_a_bucket_of_their_own(store, two):
    disk = bucket_at(store, two, "a")

    made = split_bucket(disk, [attempt(two, "b")], "Quota of the second volume", store, ANA).bucket

    assert made.slug == "quota-of-the-second-volume"
    assert {case for case, place in places(store, two).items() if place.id == made.id} == {"b"}
    assert places(store, two)["a"].id == disk.id


@pytest.mark.parametrize("cases", [(), ("a", "b")], ids=["none", "all"])
def test_a_split_of_nothing_or_of_everything_is_refused(store, two, cases):
    with pytest.raises(SettingsError, match="takes some members and leaves some"):
        split_bucket(bucket_at(store, two, "a"), [attempt(two, case) for case in cases], "New", store, ANA)


def test_what_was_split_off_stays_off_when_suggestions_are_made_anew(store, two):
    made = split_bucket(bucket_at(store, two, "a"), [attempt(two, "b")], "New", store, ANA).bucket

    read(store, a_verdict(two, "c"))

    assert places(store, two)["b"].id == made.id


def test_what_only_the_split_off_members_show_goes_with_them(store):
    stored = a_stored_run(store, a=DISK, b=LOCK)
    suggested(store)
    disk, lock = bucket_at(store, stored, "a"), bucket_at(store, stored, "b")
    merge_buckets([lock], disk, store, ANA)
    made = split_bucket(disk, [attempt(stored, "b")], "Locked", store, ANA).bucket

    later = a_stored_run(store, "run-2", a=DISK, z=LOCK)
    suggested(store)

    assert {case: place.id for case, place in places(store, later).items()} == {"a": disk.id, "z": made.id}


def test_a_renamed_bucket_keeps_its_id(store, two):
    disk = bucket_at(store, two, "a")

    rename_bucket(disk, "The volume is full", store, ANA)

    assert bucket_named("the-volume-is-full", store).id == disk.id


def test_readers_who_use_the_old_slug_still_mean_the_renamed_bucket(store, two):
    disk = bucket_at(store, two, "a")
    rename_bucket(disk, "The volume is full", store, ANA)

    read(store, a_verdict(two, "c", disk.slug))

    assert places(store, two)["c"].id == disk.id


def test_a_slug_that_is_given_already_gets_a_number(store, two):
    rename_bucket(bucket_at(store, two, "a"), "Full", store, ANA)

    assert rename_bucket(bucket_at(store, two, "c"), "Full", store, ANA).bucket.slug == "full-2"


def test_a_slug_that_was_asked_for_and_is_given_already_is_refused(store, two):
    rename_bucket(bucket_at(store, two, "a"), "Full", store, ANA)

    with pytest.raises(SettingsError, match="Another bucket is called `full`"):
        rename_bucket(bucket_at(store, two, "c"), "Locked", store, ANA, slug="full")


def test_a_bucket_needs_a_title(store, two):
    with pytest.raises(SettingsError, match="needs a title"):
        rename_bucket(bucket_at(store, two, "a"), " \x1b ", store, ANA)


def test_a_moved_failure_stays_where_it_was_put(store, two):
    lock = bucket_at(store, two, "c")

    move_failures([attempt(two, "a")], lock, store, ANA)
    read(store, a_verdict(two, "d"))

    assert places(store, two)["a"].id == lock.id


def test_what_a_person_reads_after_a_move_goes_where_the_verdict_says(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    move_failures([attempt(two, "a")], lock, store, ANA)

    read(store, a_verdict(two, "a", disk.slug, at="2026-05-01T00:00:00Z"))

    assert places(store, two)["a"].id == disk.id


@pytest.mark.req("J-13")
def test_old_and_new_bucket_of_a_moved_failure_are_kept(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")

    move_failures([attempt(two, "a")], lock, store, ANA)

    (result,) = bucket_history(store)
    assert result.moves == ((attempt(two, "a"), disk.slug, lock.slug),)
    assert (result.event.what, result.event.by, result.event.at) == ("move", "ana", ANA.at)


def test_what_is_only_tried_changes_nothing(store, two):
    before = state(store)
    tried = Author(name="ana", at=ANA.at, dry_run=True)

    merge_buckets([bucket_at(store, two, "c")], bucket_at(store, two, "a"), store, tried)

    assert state(store) == before
    assert bucket_history(store) == []


def test_a_bucket_that_is_gone_meanwhile_is_told(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    merge_buckets([lock], disk, store, ANA)

    with pytest.raises(NotFoundError, match="was merged or removed in the meantime"):
        rename_bucket(lock, "New", store, ANA)


def test_an_undo_that_is_undone_is_a_redo(store, two):
    disk = bucket_at(store, two, "a")
    before = state(store)
    rename_bucket(disk, "New", store, ANA)
    after = state(store)

    assert undo_change(store, ANA).what == "undo"
    assert state(store) == before
    assert undo_change(store, ANA).what == "redo"
    assert state(store) == after
    assert undo_change(store, ANA).what == "undo"
    assert state(store) == before
    assert [(one.what, one.undone) for one in events_of(store)] == [
        ("rename", True),
        ("undo", False),
        ("redo", True),
        ("undo", False),
    ]


def test_an_undo_to_a_change_takes_back_all_since(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    before = state(store)
    first = rename_bucket(disk, "New", store, ANA).event
    move_failures([attempt(two, "a")], lock, store, ANA)
    merge_buckets([disk], lock, store, ANA)

    done = undo_change(store, ANA, to=first)

    assert [one.what for one in done.undone] == ["merge", "move", "rename"]
    assert state(store) == before


def test_undo_takes_back_the_last_change_of_the_suite_that_is_named(store, two):
    other = a_stored_run(store, "run-2", suite="another", a=DISK)
    suggested(store)
    rename_bucket(bucket_at(store, two, "a"), "Here", store, ANA)
    rename_bucket(bucket_at(store, other, "a"), "There", store, ANA)

    undo_change(store, ANA, suite="suite")

    assert {one.slug for one in buckets_of(store)} >= {"there"}
    assert "here" not in {one.slug for one in buckets_of(store)}


def test_a_merge_that_was_undone_and_redone_still_leads_to_what_stayed(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    merge_buckets([lock], disk, store, ANA)

    undo_change(store, ANA)
    assert bucket_named(lock.slug, store).id == lock.id
    undo_change(store, ANA)

    assert bucket_named(lock.slug, store).id == disk.id


def test_a_bucket_whose_slug_was_given_away_comes_back_under_another(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    first = rename_bucket(disk, "Full", store, ANA).event
    rename_bucket(lock, "Lock", store, ANA, slug=disk.slug)

    undo_change(store, ANA, to=first)

    assert {one.slug for one in buckets_of(store)} == {disk.slug, lock.slug}


def test_nothing_done_is_nothing_to_undo(store, two):
    with pytest.raises(NotFoundError, match="No bucket was changed"):
        undo_change(store, ANA)


def test_a_change_that_is_not_there_cannot_be_undone(store, two):
    with pytest.raises(NotFoundError, match="no change 7"):
        undo_change(store, ANA, to=7)


@pytest.mark.req("J-13")
def test_what_a_rule_made_of_a_verdict_is_no_change_of_a_person(store, two):
    read(store, a_verdict(two, "a", bucket_at(store, two, "c").slug))
    (number,) = [one.number for one in events_of(store) if one.what == "rebucketed"]

    with pytest.raises(SettingsError, match="was made by a rule"):
        undo_change(store, ANA, to=number)


def test_an_undo_brings_back_nothing_of_a_run_that_was_forgotten(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    other = a_stored_run(store, "run-2", a=DISK)
    suggested(store)
    merge_buckets([disk], lock, store, ANA)

    remove_run(store, two.run.id)
    undo_change(store, ANA)

    _, members = state(store)
    assert [one.attempt for one in members] == [attempt(other, "a")]
    assert members[0].bucket == disk.id


def test_failures_that_came_since_stay_when_a_merge_is_undone(store, two):
    disk, lock = bucket_at(store, two, "a"), bucket_at(store, two, "c")
    merge_buckets([lock], disk, store, ANA)
    later = a_stored_run(store, "run-2", z=LOCK)
    suggested(store)

    undo_change(store, ANA)

    assert places(store, two)["c"].id == lock.id
    assert "z" in places(store, later)


CASES = "abcdefgh"
ERRORS = (DISK, LOCK, "ValueError:the manifest has no field called owner")


@st.composite
def changes(draw):
    """A change with numbers in it, which choose among the buckets that are there when it is made."""
    what = draw(st.sampled_from(("merge", "split", "rename", "move", "undo")))
    number = st.integers(0, 7)
    return what, draw(number), draw(number), draw(st.sets(st.sampled_from(CASES), min_size=1, max_size=4))


def make(store: Store, stored, change, at: int) -> None:
    what, one, other, cases = change
    known = buckets_of(store)
    first, second = known[one % len(known)], known[other % len(known)]
    by = msgspec.structs.replace(ANA, at=f"2026-03-01T10:{at:02d}:00Z")
    attempts = [attempt(stored, case) for case in sorted(cases)]
    if what == "merge":
        merge_buckets([first], second, store, by)
    elif what == "split":
        split_bucket(first, attempts, f"title {other % 3}", store, by)
    elif what == "rename":
        rename_bucket(first, f"title {other % 3}", store, by)
    elif what == "move":
        move_failures(attempts, first, store, by)
    else:
        undo_change(store, by)


@settings(max_examples=1_000 if LONG else 8)  # each example is a store
@given(st.lists(changes(), max_size=8), st.lists(st.sampled_from(ERRORS), min_size=8, max_size=8))
def test_any_changes_keep_every_failure_in_one_bucket_and_can_be_undone_exactly(made, errors):
    with store_of_an_example() as store:
        stored = a_stored_run(store, **dict(zip(CASES, errors, strict=True)))
        suggested(store)
        states, events = [state(store)], 0
        for at, change in enumerate(made):
            try:
                make(store, stored, change, at)
            except ErrataError:
                assert state(store) == states[-1]
                continue
            events += 1
            states.append(state(store))
            undo_change(store, ANA)
            assert change[0] == "undo" or state(store) == states[-2]
            undo_change(store, ANA)
            assert state(store) == states[-1]
            events += 2
        _holds(store, stored, events)


def _holds(store: Store, stored, events: int) -> None:
    living, members = state(store)
    assert [one.attempt for one in members] == sorted(attempt(stored, case) for case in CASES)
    assert len({one.slug for one in living}) == len(living)
    kept = [one for one in events_of(store) if one.what in BY_PERSONS]
    assert len(kept) == events
    assert all(one.by == "ana" and one.at for one in kept)
