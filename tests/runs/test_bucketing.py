"""Failures of runs into buckets: suggested once, recognised later, thought over when verdicts come in."""

from collections import Counter

import pytest

from bucket_runs import ANA, a_stored_run, a_verdict, attempt, bucket_at, places, read, state, suggested
from errata.buckets.stored import count_run_buckets
from errata.errors import ReadOnlyStoreError, SettingsError, StoreError
from errata.model import Attempt, Bucket, Case, Check, Output, Reviewer, Run, SourceInfo, Subject
from errata.runs import bucketing
from errata.runs.bucketing import ensure_buckets, failures_to_group, suggest_run
from errata.runs.view import RunView
from errata.store.bucket_changes import events_of
from errata.store.buckets import bucket_places, buckets_of
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.reviews import keep_verdicts
from errata.store.runs import run_by_id
from errata.verbs.buckets import (
    bucket_history,
    confirm_bucket,
    list_buckets,
    move_failures,
    rename_bucket,
    undo_change,
)

DISK, LOCK = "OSError:no space left on the volume", "LockError:the registry is locked by another worker"


def found(store, stored):
    """Which cases lie together."""
    together: dict[str, list[str]] = {}
    for case, place in sorted(places(store, stored).items()):
        together.setdefault(place.id, []).append(case)
    return sorted(together.values())


def test_failures_that_show_the_same_lie_together_and_each_lies_in_one(store):
    stored = a_stored_run(store, a=DISK, b=LOCK, c=DISK, d="")

    suggested(store)

    assert found(store, stored) == [["a", "c"], ["b"]]


def test_suggesting_again_changes_nothing(store):
    stored = a_stored_run(store, a=DISK, b=LOCK, c=DISK)
    suggested(store)
    before = state(store)

    kept = suggest_run(RunView(stored, store))

    assert state(store) == before
    assert (kept.failures, kept.new, kept.moved) == (3, 0, 0)
    assert events_of(store) == []


def test_what_is_up_to_date_is_not_suggested_again(store, monkeypatch):
    a_stored_run(store, a=DISK)
    suggested(store)
    monkeypatch.setattr("errata.runs.bucketing.suggest_run", lambda *_, **__: pytest.fail("not needed"))

    suggested(store)


def test_the_failures_of_a_large_run_are_read_once_however_many_runs_follow(store, monkeypatch):
    read = []

    def reading(view, *arguments, **options):
        read.append(view.run.native_id)
        return failures_to_group(view, *arguments, **options)

    monkeypatch.setattr("errata.runs.bucketing.WITH_LOGS", 0)
    monkeypatch.setattr("errata.runs.bucketing.failures_to_group", reading)
    first = a_stored_run(store, a=DISK, b=DISK)
    suggested(store)
    second = a_stored_run(store, "run-2", model="n", c=LOCK, d=LOCK)
    suggested(store)

    assert read == ["run-1", "run-2"]
    assert bucket_at(store, first, "a").parameters["model"] == "m"
    assert bucket_at(store, second, "c").parameters["model"] == "n"


def test_a_bucket_is_recognised_in_a_later_run(store):
    first = a_stored_run(store, a=DISK)
    suggested(store)
    second = a_stored_run(store, "run-2", z=DISK)
    suggested(store)

    assert places(store, second)["z"] == places(store, first)["a"]


def test_the_same_crash_in_another_suite_is_another_bucket(store):
    first, second = a_stored_run(store, a=DISK), a_stored_run(store, "run-2", suite="another", a=DISK)
    suggested(store)

    assert places(store, first)["a"].id != places(store, second)["a"].id


def test_placing_by_hand_outlives_a_new_revision(store):
    stored = a_stored_run(store, a=DISK, b=LOCK)
    suggested(store)
    lock = bucket_at(store, stored, "b")
    move_failures([attempt(stored, "a")], lock, store, ANA)

    grown = a_stored_run(store, a=DISK, b=LOCK, c=DISK)
    suggested(store)

    assert run_by_id(store, grown.run.id).run.revision == 2
    assert places(store, grown)["a"].id == lock.id


def test_what_no_longer_fails_is_in_no_bucket_and_where_it_lay_is_kept(store):
    stored = a_stored_run(store, a=DISK, b=LOCK)
    suggested(store)
    lock = bucket_at(store, stored, "b")
    move_failures([attempt(stored, "a")], lock, store, ANA)

    a_stored_run(store, a="", b=LOCK, c=LOCK)
    suggested(store)

    assert sorted(places(store, stored)) == ["b", "c"]
    assert [(one.event.what, one.moves) for one in bucket_history(store)][-1] == (
        "cleared",
        ((attempt(stored, "a"), lock.slug, ""),),
    )


def test_a_bucket_that_a_rule_made_and_that_is_empty_is_gone(store):
    stored = a_stored_run(store, a=DISK, b=LOCK)
    suggested(store)
    disk, lock = bucket_at(store, stored, "a"), bucket_at(store, stored, "b")

    read(store, a_verdict(stored, "a", lock.slug))

    assert disk.id not in {one.id for one in buckets_of(store)}


@pytest.mark.req("J-13")
def test_a_verdict_that_names_another_bucket_moves_the_failure_and_both_are_kept(store):
    stored = a_stored_run(store, a=DISK, b=LOCK, c=DISK)
    suggested(store)
    disk, lock = bucket_at(store, stored, "a"), bucket_at(store, stored, "b")

    read(store, a_verdict(stored, "a", lock.slug))

    assert places(store, stored)["a"].id == lock.id
    (result,) = [one for one in bucket_history(store) if one.event.what == "rebucketed"]
    assert result.moves == ((attempt(stored, "a"), disk.slug, lock.slug),)
    assert result.event.by == "person:ben"


@pytest.mark.req("J-13", "J-31")
def test_verdicts_that_agree_with_their_cause_stay_in_it_one_by_one_and_over_runs(store):
    stored = a_stored_run(store, a=DISK, b=DISK, c=DISK, d=DISK, e=DISK)
    other = a_stored_run(store, "run-2", a=DISK)
    suggested(store)
    before = bucket_at(store, stored, "a")

    for case, status in (("a", "reviewed"), ("b", "reviewed"), ("c", "final")):
        read(store, a_verdict(stored, case, at=f"2026-04-01T10:0{'abc'.index(case)}:00Z"))
        bucket = bucket_at(store, stored, case)
        assert (bucket.id, bucket.title, bucket.status) == (before.id, before.title, status)
    read(store, a_verdict(other, "a"))

    assert {place.id for place in (places(store, stored) | places(store, other)).values()} == {before.id}
    assert [places(store, stored)[case].role for case in "abcde"] == ["reviewed"] * 3 + ["assigned"] * 2
    assert [one for one in bucket_history(store) if one.event.what == "rebucketed"] == []


@pytest.mark.req("J-15", "J-30")
def test_what_nobody_has_read_is_provisional(store):
    stored = a_stored_run(store, a=DISK, b=DISK, c=DISK, d=DISK)

    suggested(store)

    assert places(store, stored)["a"].status == "provisional"


def three_of_four(store, *, read_cases="abc", **changes):
    stored = a_stored_run(store, a=DISK, b=DISK, c=DISK, d=DISK)
    suggested(store)
    slug = bucket_at(store, stored, "a").slug
    read(store, *(a_verdict(stored, case, slug, **changes) for case in read_cases))
    return stored


@pytest.mark.req("J-02", "J-31")
def test_three_members_that_were_read_and_name_it_make_a_bucket_final_and_are_recorded(store):
    stored = three_of_four(store)

    bucket = bucket_at(store, stored, "d")
    assert bucket.status == "final"
    assert bucket.supported_by == tuple(attempt(stored, case) for case in "abc")


@pytest.mark.req("J-30", "J-31")
@pytest.mark.parametrize("cases", ["a", "ab"])
def test_fewer_make_it_reviewed(store, cases):
    stored = three_of_four(store, read_cases=cases)

    assert bucket_at(store, stored, "d").status == "reviewed"


def test_all_of_a_smaller_bucket_make_it_final(store):
    stored = a_stored_run(store, a=DISK, b=DISK)
    suggested(store)
    slug = bucket_at(store, stored, "a").slug

    read(store, a_verdict(stored, "a", slug), a_verdict(stored, "b", slug))

    assert bucket_at(store, stored, "a").status == "final"


def test_inherited_verdicts_make_nothing_final(store):
    stored = three_of_four(store, inherited_from="another")

    assert bucket_at(store, stored, "a").status == "provisional"


def test_a_status_that_changes_is_part_of_the_history(store):
    stored = three_of_four(store)

    result = [(one.before, one.after) for one in bucket_history(store, bucket_at(store, stored, "a"))]

    assert result == [("provisional: no space left on the volume", "final: what no-space-left-on-the-volume says")]


@pytest.mark.req("J-31", "J-25")
def test_reviewers_name_a_bucket_only_when_enough_of_it_was_reviewed(store):
    stored = a_stored_run(store, a=DISK, b=DISK, c=DISK, d=DISK)
    suggested(store)
    slug = bucket_at(store, stored, "a").slug

    read(store, *(a_verdict(stored, case, slug, cause="The quota is too small") for case in "ab"))
    assert bucket_at(store, stored, "a").title == "no space left on the volume"

    read(store, a_verdict(stored, "c", slug, cause="The quota is too small"))
    assert bucket_at(store, stored, "a").title == "The quota is too small"


@pytest.mark.req("J-15", "J-30")
def test_the_words_of_a_verdict_go_with_it(store):
    stored = three_of_four(store, cause="The quota is too small")
    later = {"at": "2026-05-01T00:00:00Z"}

    read(store, *(a_verdict(stored, case, "elsewhere", **later) for case in "abc"))

    left = bucket_at(store, stored, "d")
    assert (left.title, left.status) == ("no space left on the volume", "provisional")


@pytest.mark.req("J-15", "J-30")
def test_an_unreviewed_member_of_a_final_bucket_is_apart_in_the_words_of_rules(store):
    stored = three_of_four(store, cause="The quota is too small")

    places_ = places(store, stored)

    assert (places_["a"].title, places_["a"].is_apart) == ("The quota is too small", False)
    assert (places_["d"].title, places_["d"].role, places_["d"].is_apart) == (
        "no space left on the volume",
        "assigned",
        True,
    )
    counts = count_run_buckets(store, stored.run.id)
    assert (counts.final.failures, counts.final.read, counts.assigned) == ((3,), 3, 1)


@pytest.mark.req("J-15", "J-30")
def test_three_verdicts_that_name_another_bucket_leave_the_unreviewed_member_where_it_was(store):
    stored = a_stored_run(store, a=DISK, b=DISK, c=DISK, d=DISK)
    suggested(store)
    before = bucket_at(store, stored, "d")

    read(store, *(a_verdict(stored, case, "quota") for case in "abc"))

    assert bucket_at(store, stored, "d") == before
    assert (bucket_at(store, stored, "a").slug, bucket_at(store, stored, "a").status) == ("quota", "final")


def test_readers_do_not_rename_what_a_person_named(store):
    stored = a_stored_run(store, a=DISK)
    suggested(store)
    rename_bucket(bucket_at(store, stored, "a"), "The second volume", store, ANA)

    read(store, a_verdict(stored, "a", "the-second-volume"))

    assert bucket_at(store, stored, "a").title == "The second volume"


@pytest.mark.req("J-30", "J-31")
def test_confirming_what_was_not_read_enough_is_refused_and_tells_what_is_missing(store):
    stored = three_of_four(store, read_cases="ab")

    with pytest.raises(SettingsError, match=r"2 of its 4 failures were read .* it takes 3") as refused:
        confirm_bucket(bucket_at(store, stored, "a"), store, ANA)

    assert "run-1/c: nobody has read it" in refused.value.hint
    assert "run-1/a" not in refused.value.hint


@pytest.mark.req("J-31")
def test_confirming_names_members_whose_verdict_says_something_else(store):
    stored = three_of_four(store, read_cases="ab")
    disk = bucket_at(store, stored, "a")
    read(store, a_verdict(stored, "c", "another-cause"))
    move_failures([attempt(stored, "c")], disk, store, ANA_LATER)

    with pytest.raises(SettingsError) as refused:
        confirm_bucket(disk, store, ANA_LATER)

    assert "run-1/c: its verdict names another cause: another-cause" in refused.value.hint


ANA_LATER = type(ANA)(name="ana", at="2026-06-01T00:00:00Z")


def test_a_confirmed_bucket_keeps_its_members(store):
    stored = three_of_four(store)
    bucket = bucket_at(store, stored, "a")

    done = confirm_bucket(bucket, store, ANA)

    assert (done.what, done.bucket.status, done.members) == ("confirm", "final", 4)
    assert {one.author for one in state(store)[1]} == {"ana"}


def test_a_bucket_that_outgrows_its_verdicts_is_not_final_any_more(store):
    stored = a_stored_run(store, a=DISK)
    suggested(store)
    read(store, a_verdict(stored, "a", bucket_at(store, stored, "a").slug))
    assert bucket_at(store, stored, "a").status == "final"

    a_stored_run(store, "run-2", b=DISK, c=DISK)
    suggested(store)

    assert bucket_at(store, stored, "a").status == "reviewed"


def test_an_undo_after_a_newer_verdict_tells_the_status_anew(store):
    stored = three_of_four(store)
    bucket = bucket_at(store, stored, "a")
    confirm_bucket(bucket, store, ANA)
    keep_verdicts(store, [a_verdict(stored, "a", "another-cause", at="2026-07-01T00:00:00Z")])

    undo_change(store, ANA)
    suggested(store)

    assert bucket_at(store, stored, "b").status == "reviewed"


@pytest.mark.req("J-30")
def test_a_verdict_that_lacks_its_second_reader_makes_nothing_final(store):
    stored = three_of_four(store, needs_second=True)

    assert bucket_at(store, stored, "a").status == "reviewed"


def test_a_person_and_a_program_may_move_it_but_only_a_person_overrules_a_person(store):
    stored = a_stored_run(store, a=DISK, b=LOCK)
    suggested(store)
    disk, lock = bucket_at(store, stored, "a"), bucket_at(store, stored, "b")
    move_failures([attempt(stored, "a")], lock, store, ANA)

    read(store, a_verdict(stored, "a", disk.slug, reviewer=Reviewer(kind="llm", name="m")))

    assert places(store, stored)["a"].id == lock.id


def test_the_bucket_of_a_failure_is_told_with_its_status(store):
    stored = a_stored_run(store, a=DISK)

    (place,) = RunView(stored, store).buckets.values()

    assert (place.slug, place.status) == (buckets_of(store)[0].slug, "provisional")
    assert bucket_places(store, stored.run.id, [attempt(stored, "a")]) == {attempt(stored, "a"): place}


def test_followers_and_models_are_counted_over_runs(store):
    first = a_stored_run(store, a=DISK, b=DISK, c=LOCK)
    a_stored_run(store, "run-2", model="n", a=DISK)

    table = list_buckets(store)

    (one,) = table.listed
    assert (one.rows, one.mistakes, one.cases, len(one.runs), one.models) == (3, 3, 2, 2, ("m", "n"))
    assert (table.failures, table.buckets, table.alone) == (4, 1, 1)
    (here,) = list_buckets(store, [first]).listed
    assert (here.rows, here.elsewhere) == (2, 1)


def test_two_processes_that_suggest_the_same_at_once_agree(store):
    stored = a_stored_run(store, a=DISK, b=LOCK)
    suggest_run(RunView(stored, store))
    before = state(store)

    suggest_run(RunView(stored, store))

    assert state(store) == before
    assert all(isinstance(one, Bucket) for one in before[0])


@pytest.mark.req("J-25")
def test_thirty_six_times_no_instead_of_yes_is_the_cause(store):
    stored = answers(store, *[("No", " Yes")] * 36, ("Yes", " No"))

    titles = Counter(place.title for place in RunView(stored, store).buckets.values())

    assert titles == {
        'Wrong answer: "No" instead of "Yes"': 36,
        'Wrong answer: "Yes" instead of "No"': 1,
    }


def answers(store, *pairs):
    """A run of one question each, that a scorer without words called wrong."""
    run = Run(native_id="run-1", source=SourceInfo(name="test"), suite="suite", subject=Subject(model="m"))
    items = [run]
    for number, (given, expected) in enumerate(pairs):
        items.append(Case(run=run.id, suite="suite", native_id=str(number), expected=expected))
        wrong = Check(name="match", status="fail", value=0.0)
        facts = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
        output = Output(text=given, answer=given)
        items.append(Attempt(run=run.id, case=f"suite/{number}", output=output, checks=(wrong,), **facts))
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


@pytest.mark.parametrize(("error", "is_passed_on"), [(StoreError, True), (ReadOnlyStoreError, False)])
def test_only_a_store_that_can_only_be_read_is_shown_without_its_groups(store, monkeypatch, error, is_passed_on):
    """A report that goes on after a lost connection would look complete."""
    stored = a_stored_run(store, a=DISK, b=DISK)

    def fail(_view):
        raise error("it can't be written")

    monkeypatch.setattr(bucketing, "suggest_run", fail)

    try:
        ensure_buckets(RunView(stored, store))
    except StoreError:
        assert is_passed_on
    else:
        assert not is_passed_on
