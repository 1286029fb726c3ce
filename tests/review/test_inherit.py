"""Which failures inherit a verdict, and which wait for it meanwhile."""

import random
from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bucket_runs
from errata.model import Attribution, FailureKey, Fix, Quote, Reviewer, Signal, Verdict
from errata.review.inherit import GIVEN_UP, Schedule, inherited_verdicts
from errata.review.stored.verdicts import keep
from errata.store.reviews import keep_verdicts, verdicts_of

NOW = "2026-03-01T10:00:00Z"


def an_attribution(attempt, owner="provider", exact="subject:RateLimitError:429 <n>", where="errors[0].message"):
    signal = Signal(name="provider_rate_limit", where=where, quote="429 too many requests")
    key = FailureKey(exact=exact, coarse="subject:RateLimitError")
    return Attribution(attempt=attempt, owner=owner, confidence="certain", signals=(signal,), failure_key=key)


def a_verdict(owner="provider", **changes):
    reviewer = Reviewer(kind="llm", name="m")
    whole = {"id": "v1", "attempt": "r:a", "taxonomy": "t", "label": "L", "owner": owner, "cause": "c"}
    return Verdict(**(whole | {"confidence": "certain", "reviewer": reviewer} | changes))


def heirs(verdict, others, source=None):
    return [one.attempt for one in inherited_verdicts(verdict, source or an_attribution("r:a"), others, at=NOW)]


def test_an_identical_crash_of_the_machinery_takes_the_verdict_over():
    (heir,) = inherited_verdicts(
        a_verdict(), an_attribution("r:a"), [an_attribution("r:a"), an_attribution("r:b")], at=NOW
    )

    assert (heir.attempt, heir.inherited_from, heir.evidence) == ("r:b", "v1", ())


@pytest.mark.parametrize("owner", ["model", "grader", "task", "budget", "unknown"])
def test_what_a_model_a_grader_or_a_task_did_is_read_in_each_case(owner):
    assert heirs(a_verdict(owner), [an_attribution("r:b", owner)], an_attribution("r:a", owner)) == []


def test_the_exact_key_must_be_the_same():
    assert heirs(a_verdict(), [an_attribution("r:b", exact="subject:RateLimitError:other")]) == []


def test_a_key_made_of_checks_is_no_ground():
    source = an_attribution("r:a", exact="tests:expected <n>")

    assert heirs(a_verdict(), [an_attribution("r:b", exact="tests:expected <n>")], source) == []


def test_an_inherited_verdict_is_not_handed_on():
    assert heirs(a_verdict(inherited_from="v0"), [an_attribution("r:b")]) == []


def test_a_verdict_on_a_packet_that_talked_to_the_reviewer_is_not_handed_on():
    assert heirs(a_verdict(needs_second=True), [an_attribution("r:b")]) == []


def test_the_same_heir_has_the_same_id_each_time():
    ids = {
        one.id
        for _ in range(2)
        for one in inherited_verdicts(a_verdict(), an_attribution("r:a"), [an_attribution("r:b")], at=NOW)
    }

    assert len(ids) == 1


def test_what_was_copied_from_the_one_that_was_read_is_not_said_of_another():
    read = a_verdict(
        error_line="429 for req_1",
        model_snippet="mine",
        expected_snippet="yours",
        fix=Fix(path="a", before="b", after="c"),
        decisive_step=3,
        evidence=(Quote(place="error", quote="429 for req_1"),),
    )
    (heir,) = inherited_verdicts(read, an_attribution("r:a"), [an_attribution("r:b")], at=NOW)

    assert (heir.error_line, heir.model_snippet, heir.expected_snippet) == ("", "", "")
    assert (heir.decisive_step, heir.evidence, heir.label, heir.cause) == (None, (), read.label, read.cause)


def test_the_fix_of_a_crash_goes_with_the_verdict_to_the_same_crash():
    read = a_verdict(fix=Fix(path="a", before="b", after="c"))
    (heir,) = inherited_verdicts(read, an_attribution("r:a"), [an_attribution("r:b")], at=NOW)

    assert heir.fix == read.fix


def turns_of(keys: dict[str, str | None]) -> Schedule:
    return Schedule(keys, keys.get)


def taken(turns: Schedule) -> list[str]:
    found = []
    while (attempt := turns.take()) is not None:
        found.append(attempt)
    return found


def test_what_has_to_be_read_in_each_case_waits_for_nothing():
    assert taken(turns_of({"a": None, "b": None, "c": None})) == ["a", "b", "c"]


def test_of_twins_the_first_is_read_and_others_are_taken_meanwhile():
    turns = turns_of({"a1": "a", "a2": "a", "b1": "b", "c": None, "b2": "b"})

    assert taken(turns) == ["a1", "b1", "c"]
    assert turns.is_waiting


def test_when_a_verdict_is_there_all_twins_are_let_go():
    turns = turns_of({"a1": "a", "a2": "a", "a3": "a"})
    taken(turns)

    turns.ended("a1", with_verdict=True)

    assert taken(turns) == ["a2", "a3"]
    assert not turns.is_waiting


def test_without_a_verdict_the_next_twin_is_read_alone():
    turns = turns_of({"a1": "a", "a2": "a", "a3": "a"})
    taken(turns)

    turns.ended("a1", with_verdict=False)

    assert taken(turns) == ["a2"]
    assert turns.is_waiting


def test_nobody_waits_for_ever_for_a_crash_that_nobody_can_judge():
    turns = turns_of({f"a{number}": "a" for number in range(10)})
    for number in range(GIVEN_UP):
        assert taken(turns) == [f"a{number}"]
        turns.ended(f"a{number}", with_verdict=False)

    assert len(taken(turns)) == 10 - GIVEN_UP


keys = st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=30)
ways = st.lists(st.sampled_from(["inherited", "own", "none"]), min_size=30, max_size=30)


@given(keys, ways, st.integers(1, 6), st.randoms(use_true_random=False))
def test_in_every_order_no_twins_are_read_at_once_and_no_place_is_idle(given_, ways, parallel, chance: random.Random):
    key_of = {f"{at}": key for at, key in enumerate(given_)}
    way_of = dict(zip(key_of, ways, strict=False))
    turns = Schedule(key_of, key_of.get)
    running: list[str] = []
    left, inherited, open_keys = set(key_of), set(), {key for key in given_ if key}
    asked: Counter[str | None] = Counter()
    in_vain: Counter[str | None] = Counter()

    while True:
        while len(running) < parallel and (attempt := turns.take()) is not None:
            left.discard(attempt)
            if attempt not in inherited:
                running.append(attempt)
                asked[key_of[attempt]] += 1
        busy = Counter(key_of[one] for one in running if key_of[one] in open_keys)
        assert all(count == 1 for count in busy.values()), "twins are read at once"
        if len(running) < parallel:
            assert all(key_of[one] in busy for one in left - inherited), "a place is idle"
        if not running:
            break
        ended = running.pop(chance.randrange(len(running)))
        key, way = key_of[ended], way_of[ended]
        if way == "inherited" and key:
            inherited |= {one for one in left if key_of[one] == key}
        in_vain[key] += way == "none"
        if way != "none" or in_vain[key] == GIVEN_UP:
            open_keys.discard(key)
        turns.ended(ended, with_verdict=way != "none")

    assert not left - inherited
    assert not turns.is_waiting


@given(keys, st.integers(1, 6), st.randoms(use_true_random=False))
def test_of_every_crash_one_is_read_where_the_others_take_its_verdict_over(given_, parallel, chance: random.Random):
    key_of = {f"{at}": key for at, key in enumerate(given_)}
    turns = Schedule(key_of, key_of.get)
    read: list[str] = []
    running: list[str] = []
    settled: set[str] = set()
    while True:
        while len(running) < parallel and (attempt := turns.take()) is not None:
            if key_of[attempt] not in settled:
                running.append(attempt)
        if not running:
            break
        read.append(ended := running.pop(chance.randrange(len(running))))
        if key := key_of[ended]:
            settled.add(key)
        turns.ended(ended, with_verdict=True)

    wanted = Counter(key for key in given_ if key is None) + Counter({key: 1 for key in given_ if key})
    assert Counter(key_of[one] for one in read) == wanted


def test_what_others_inherited_goes_when_another_verdict_replaces_it(store):
    stored = bucket_runs.a_stored_run(
        store, a="OSError:no space left on the volume", b="OSError:no space left on the volume"
    )
    first = bucket_runs.a_verdict(stored, "a", "quota")
    copied = msgspec.structs.replace(
        first, id="copied", attempt=bucket_runs.attempt(stored, "b"), inherited_from=first.id
    )
    keep(first, store)
    keep_verdicts(store, [copied])

    second = bucket_runs.a_verdict(stored, "a", "mount", at="2026-05-01T10:00:00Z", supersedes=first.id)
    keep(second, store)

    assert {one.attempt for one in verdicts_of(store, stored.run.id)} == {bucket_runs.attempt(stored, "a")}
