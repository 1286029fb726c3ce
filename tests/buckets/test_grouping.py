"""Failures into buckets: who is with whom, and why; and how a bucket is found again in later runs."""

import msgspec
import pytest
from failures_to_group import a_failing, an_error, bucket_with, members, read_as, together

from errata.buckets.failure import FailureToGroup
from errata.buckets.reconcile import role_of
from errata.buckets.suggest import suggest
from errata.model import Bucket, FailureKey
from errata.model.check import WrongAnswer

LINT = "9:23 error '{}' is defined but never used @typescript-eslint/no-unused-vars"


@pytest.mark.req("C-18")
def test_one_lint_rule_behind_several_failures_is_one_bucket():
    failures = [
        a_failing("1", LINT.format("ctx"), owner="grader", signal="lint_only", means="lint failed, every test passed"),
        a_failing("2", LINT.format("args"), owner="grader", signal="lint_only", means="lint failed, every test passed"),
        a_failing("3", "12:1 error Missing semicolon @stylistic/semi", owner="grader", signal="lint_only"),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


@pytest.mark.req("C-18")
def test_an_api_misunderstood_in_two_cases_is_one_bucket():
    failures = [
        a_failing("1", 'In table "visits" the index "by_creation_time" uses a reserved name'),
        a_failing("2", 'In table "orders" the index "by_creation_time" uses a reserved name'),
        a_failing("3", "Type PaginationResult is not assignable to the validator of the page"),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


@pytest.mark.req("J-25")
def test_a_cause_is_one_bucket_whatever_dimensions_it_fails():
    one_check = FailureKey(exact="kb_grounding:Factual error", coarse="kb_grounding")
    three_checks = FailureKey(exact="x", coarse="instruction_following+kb_grounding+tool_use_correct")
    failures = [
        a_failing("1", "Factual error: the captain is another.", key=one_check, cluster="knowledge_grounding_error"),
        a_failing("2", "Wrong number.", key=three_checks, cluster="knowledge_grounding_error"),
        a_failing("3", "The slot argument is wrong.", key=one_check, cluster="tool_or_action_selection_error"),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


def test_a_cluster_is_one_bucket_whomever_it_is_attributed_to():
    failures = [
        a_failing("1", "no answer came", cluster="empty_response", owner="provider"),
        a_failing("2", "nothing was said", cluster="empty_response", owner="model"),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"})}


def test_a_gap_on_record_is_one_of_its_case():
    gap = {"signal": "known_gap", "means": "a known gap of this case is on record", "owner": "task"}
    failures = [
        a_failing(each, "tests failed", case=f"suite/{case}", **gap) for each, case in zip("123", "aab", strict=True)
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


def test_a_rule_that_says_all_makes_one_bucket_of_every_wording():
    rule = {"owner": "provider", "signal": "provider_rate_limit", "means": "the provider refused the call"}
    failures = [
        an_error("1", "Error code: 429 - Rate limit reached for gpt on tokens per min", **rule),
        an_error("2", "ThrottlingException when calling InvokeModel", **rule),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"})}


def test_a_rule_that_says_only_whose_fault_it_is_leaves_it_to_the_texts():
    rule = {"owner": "harness", "signal": "harness_frame", "means": "raised in the harness's own code"}
    failures = [
        an_error("1", "'SubTestConfig' object has no attribute 'resources'", **rule),
        an_error("2", "Expecting value: line 1 column 1 (char 0)", **rule),
    ]

    assert len(suggest(failures).buckets) == 2


def test_the_same_words_of_two_owners_are_two_buckets():
    failures = [
        an_error("1", "connection to the registry was reset by peer", owner="environment"),
        an_error("2", "connection to the registry was reset by peer", owner="provider"),
    ]

    assert len(suggest(failures).buckets) == 2


def test_the_same_words_in_two_suites_are_two_buckets():
    failures = [a_failing(suite, "pier missing from the answer", suite=suite) for suite in "ab"]

    assert len(suggest(failures).buckets) == 2


def test_two_assertions_that_differ_in_numbers_only_are_one_thing_in_the_same_case_only():
    failures = [
        a_failing("1", "AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]", case="suite/ranges"),
        a_failing("2", "AssertionError: expected [ 10 ] to deeply equal [ 10, 20 ]", case="suite/ranges"),
        a_failing("3", "AssertionError: expected [ 1, 2, 3 ] to deeply equal [ 3, 2, 1 ]", case="suite/order"),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


def test_where_nothing_is_said_the_check_is_all_there_is():
    lint = FailureKey(exact="lint:", coarse="lint")
    failures = [
        a_failing("1", "tests failed (60%)"),
        a_failing("2", "tests failed (20%)"),
        a_failing("3", "lint failed (20%)", key=lint),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


# wrong answers

NO, YES = WrongAnswer("No", "Yes", "text"), WrongAnswer("Yes", "No", "text")


def answered(*answers: WrongAnswer, text: str = "") -> list[FailureToGroup]:
    return [a_failing(str(at), text, answer=answer) for at, answer in enumerate(answers)]


@pytest.mark.req("J-25", "B-73")
def test_wrong_answers_are_grouped_by_what_was_answered_in_place_of_what():
    assert together(suggest(answered(NO, NO, YES, YES, NO))) == {frozenset("014"), frozenset("23")}


@pytest.mark.req("J-25")
def test_wrong_answers_that_occur_once_are_grouped_by_the_kind_of_difference():
    numbers = [WrongAnswer(str(number), "0", "number") for number in (5, 6)]
    cases = [WrongAnswer(text, text.upper(), "case") for text in ("oslo", "bern", "rome")]

    assert together(suggest(answered(*numbers, *cases))) == {frozenset("01"), frozenset("234")}


@pytest.mark.parametrize("text", ["", "No", "answered No, expected Yes", "exact comparison", "tests failed"])
def test_a_text_that_only_repeats_a_wrong_answer_explains_nothing(text):
    assert together(suggest(answered(NO, NO, YES, text=text))) == {frozenset("01"), frozenset("2")}


def test_a_text_that_says_more_than_a_wrong_answer_goes_first():
    failures = answered(NO, YES, text="The invoice was never opened by the assistant.")

    assert together(suggest(failures)) == {frozenset("01")}


def test_what_a_rule_has_found_goes_before_a_wrong_answer():
    failures = [msgspec.structs.replace(one, signal="loop", means="it repeats itself") for one in answered(NO, YES)]

    assert together(suggest(failures)) == {frozenset("01")}


def test_the_same_wrong_answer_is_recognised_in_a_later_run():
    before = suggest(answered(NO, NO)).buckets

    assert bucket_with("0", suggest(answered(NO), before)).id == before[0].id


@pytest.mark.req("J-14")
def test_a_follower_goes_where_the_first_of_its_chain_goes():
    failures = [
        an_error("root", "'TierConfig' object has no attribute 'language'", owner="harness"),
        an_error("second", "a branch named 'T0' already exists", owner="collateral", follows="root"),
        an_error("third", "a branch named 'T0' already exists", owner="collateral", follows="second"),
    ]

    found = suggest(failures)
    (bucket,) = found.buckets
    assert members(bucket, found) == {"root", "second", "third"}
    assert {role_of(one) for one in failures} == {"assigned"}
    assert "branch" not in bucket.title


def test_a_follower_of_nothing_that_is_known_stands_for_itself():
    assert len(suggest([an_error("1", "a branch already exists", follows="gone")]).buckets) == 1


def test_followers_in_a_circle_are_kept():
    failures = [an_error("1", "left behind", follows="2"), an_error("2", "left behind", follows="1")]

    assert together(suggest(failures)) == {frozenset({"1", "2"})}


@pytest.mark.req("J-13", "J-14")
def test_what_was_read_goes_by_its_verdict_and_not_by_its_symptom():
    same = "tool_use_correct is false"
    failures = [
        read_as(a_failing("1", same), "asks-the-name-again", "The name given on turn 0 was forgotten."),
        read_as(a_failing("2", same), "wrong-slot", "The slot is an hour late."),
        read_as(a_failing("3", "another text altogether"), "asks-the-name-again", "The name was forgotten."),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "3"}), frozenset({"2"})}


def test_readers_who_name_no_bucket_agree_by_what_they_say():
    failures = [
        read_as(a_failing("1", "one thing"), cause="The upper bound of the range is exclusive, not inclusive."),
        read_as(a_failing("2", "another thing"), cause="The range has an exclusive upper bound."),
        read_as(a_failing("3", "a third thing"), cause="The validator lacks the two page fields."),
    ]

    assert together(suggest(failures)) == {frozenset({"1", "2"}), frozenset({"3"})}


@pytest.mark.req("J-15", "J-30")
def test_a_verdict_moves_only_the_failure_that_it_was_given_for():
    text = "AttributeError: 'TierConfig' object has no attribute 'language'"
    failures = [read_as(an_error("1", text), "tier-config", owner="harness"), an_error("2", text)]

    found = suggest(failures)

    assert together(found) == {frozenset("1"), frozenset("2")}
    assert (bucket_with("2", found).status, role_of(failures[1])) == ("provisional", "assigned")


def test_a_later_failure_is_recognised_by_what_only_reviewed_failures_show():
    text = "AttributeError: 'TierConfig' object has no attribute 'language'"
    (before,) = suggest([read_as(an_error(each, text), "tier-config", owner="harness") for each in "12"]).buckets

    found = suggest([an_error("new", text)], [before])

    assert members(found.buckets[0], found) == {"new"}
    assert found.buckets[0].id == before.id


def test_a_later_failure_is_recognised_by_a_rule_first_where_some_were_never_reviewed():
    text = "AttributeError: 'TierConfig' object has no attribute 'language'"
    known_ = suggest([read_as(an_error("1", text), "tier-config", owner="harness"), an_error("2", text)]).buckets

    assert bucket_with("new", suggest([an_error("new", text)], known_)).named_by == "rule"


def test_a_verdict_that_names_another_owner_leaves_the_bucket_that_rules_formed():
    before = known(a_failing("old", "the seat is taken"), slug="seat-taken")
    failures = [
        read_as(a_failing("1", "the seat is taken"), "seat-taken", owner="task"),
        a_failing("2", "the seat is taken"),
    ]

    found = suggest(failures, [before])

    assert members(before, found) == {"2"}
    assert (bucket_with("1", found).slug, bucket_with("1", found).parameters["owner"]) == ("seat-taken-2", "task")
    assert suggest(failures, found.buckets).places == found.places


def test_verdicts_that_name_two_buckets_are_two_buckets_however_alike_their_sentences():
    cause = "The upper bound of the range is exclusive."
    failures = [read_as(a_failing(each, "off by one"), each, cause) for each in ("first", "second")]

    assert len(suggest(failures).buckets) == 2


@pytest.mark.req("J-13", "J-31")
@pytest.mark.parametrize("reviewed", [1, 2, 3, 5])
def test_verdicts_that_name_the_same_owner_and_no_bucket_stay_in_theirs(reviewed):
    crashes = [an_error(each, "uvx: command not found", owner="environment") for each in "12345"]
    (before,) = suggest(crashes).buckets
    causes = ("The image has no uvx.", "The PATH of the image is too short.")
    read = [read_as(one, cause=causes[at % 2]) for at, one in enumerate(crashes[:reviewed])]

    for known_ in ([], [before]):
        found = suggest([*read, *crashes[reviewed:]], known_)
        (bucket,) = found.buckets
        assert (bucket.id, bucket.title, members(bucket, found)) == (before.id, before.title, set("12345"))
        assert bucket.supported_by == tuple("12345"[:reviewed])
        assert bucket.status == ("final" if reviewed >= 3 else "reviewed")


def test_a_failure_that_is_alike_in_another_run_keeps_a_reviewed_one_in_its_bucket():
    (before,) = suggest([an_error("old", "uvx: command not found", owner="environment")]).buckets
    failures = [read_as(an_error("1", "uvx: command not found", owner="environment"), cause="No uvx in the image.")]

    assert suggest(failures, [before], in_other_runs=[before.id]).places == {"1": before.id}


@pytest.mark.req("J-31")
def test_of_unlike_failures_only_the_most_frequent_reason_supports_their_bucket():
    causes = ("The index has another name.", "A page has five fields.", "The clock runs backwards.")
    failures = [a_failing(each, "tests failed (60%)") for each in "1234"]
    read = [read_as(one, cause=cause) for one, cause in zip(failures, causes, strict=False)]

    found = suggest([*read, failures[3]])

    (bucket,) = found.buckets
    assert members(bucket, found) == set("1234")
    assert (bucket.status, len(bucket.supported_by)) == ("reviewed", 1)


def test_a_verdict_with_another_label_of_a_taxonomy_of_causes_leaves_the_cluster():
    cluster = {"cluster": "state_memory_failure"}
    failures = [a_failing(each, each, **cluster) for each in "123"]
    same = msgspec.structs.replace(read_as(failures[0], cause="It forgot."), reviewed_cluster="state_memory_failure")
    other = msgspec.structs.replace(read_as(failures[1], cause="It guessed."), reviewed_cluster="empty_response")

    assert together(suggest([same, other, failures[2]])) == {frozenset("13"), frozenset("2")}


def test_where_readers_of_the_same_symptom_disagree_the_others_are_left_alone():
    text = "Segmentation fault in the worker of the pool"
    failures = [
        read_as(an_error("1", text), "pool-too-small", owner="harness"),
        read_as(an_error("2", text), "memory", "Memory ran out.", owner="environment"),
        an_error("3", text),
    ]

    assert role_of(failures[2]) == "assigned"
    assert len(suggest(failures).buckets) == 3


def test_what_says_nothing_does_not_join_what_was_read():
    failures = [
        *(read_as(a_failing(each, "tests failed (60%)"), "off-by-one", "Off by one.") for each in "123"),
        a_failing("4", "tests failed (60%)"),
    ]

    assert together(suggest(failures)) == {frozenset("123"), frozenset("4")}


def test_an_inherited_verdict_gives_the_role_inherited():
    text = "uvx: command not found"
    heir = read_as(an_error("2", text), "missing-uvx", owner="environment", inherited_from="verdict of 1")
    failures = [read_as(an_error("1", text), "missing-uvx", owner="environment"), heir]

    found = suggest(failures)
    (bucket,) = found.buckets
    assert {one.attempt: role_of(one) for one in failures if found.places[one.attempt] == bucket.id} == {
        "1": "reviewed",
        "2": "inherited",
    }


def test_no_failures_make_no_buckets():
    assert suggest([]).buckets == []


# the same bucket in later runs

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


@pytest.mark.req("J-30", "J-31")
def test_three_verdicts_on_unlike_rows_of_one_cluster_leave_the_others_as_they_are():
    cluster = {"cluster": "partial_multi_tool_execution"}
    before = known(a_failing("old", "two steps, one done", **cluster))
    failures = [a_failing(str(at), f"row {at} has its own trouble", **cluster) for at in range(11)]
    verdict = ("does-half", "Does one of two steps.")

    found = suggest([*(read_as(one, *verdict) for one in failures[:3]), *failures[3:]], [before])

    assert members(bucket_with("0", found), found) == {"0", "1", "2"}
    assert bucket_with("0", found).status == "final"
    left = bucket_with("10", found)
    assert (left.id, left.title, left.status, len(members(left, found))) == (before.id, before.title, "provisional", 8)


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


def test_a_sentence_that_reviewers_gave_a_bucket_of_their_own_still_names_it():
    sentence = "Another line of the table was read."
    alone = [read_as(a_failing(each, text), cause=sentence) for each, text in (("1", "one thing"), ("2", "a second"))]
    (before,) = suggest(alone).buckets
    later = [a_failing(each, text) for each, text in (("3", "one thing"), ("4", "a second"))]

    found = suggest([*alone, *later], [before])

    assert {found.places["1"], found.places["2"]} == {before.id}
