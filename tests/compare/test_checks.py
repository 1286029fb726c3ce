"""How often each check failed, and what stood in the place of answers."""

import pytest
from matrices import a_matrix

from errata.compare.summaries import counted_patterns, failed_dimensions, pattern_of
from errata.model import Attribution, FailureKey, Output, Signal
from errata.testing import an_attempt


def counts(found):
    return {one.name: (one.by_run, one.total) for one in found}


@pytest.mark.req("J-09", "J-19")
def test_a_check_is_counted_for_each_run_and_in_all():
    failed = {1: {"grounding": {"suite/0": 1}}, 2: {"grounding": {"suite/0": 1, "suite/1": 2}}}

    assert counts(failed_dimensions(a_matrix("FF", "FF"), failed)) == {"grounding": ((1, 3), 4)}


def test_cases_that_are_not_compared_do_not_count():
    failed = {1: {"tests": {"suite/0": 1, "suite/9": 1}, "other": {"suite/9": 1}}}

    assert counts(failed_dimensions(a_matrix("F", "F"), failed)) == {"tests": ((1, 0), 1)}


def test_checks_stand_in_the_order_of_their_harness_and_others_by_frequency():
    failed = {1: {name: {"suite/0": count} for name, count in (("x", 1), ("tests", 1), ("y", 2), ("tsc", 1))}}
    found = failed_dimensions(a_matrix("F"), failed, order=["tsc", "tests"])

    assert [one.name for one in found] == ["tsc", "tests", "y", "x"]


def said(*signals):
    key = FailureKey(exact="x", coarse="x")
    made = tuple(Signal(name=name) for name in signals)
    return Attribution(attempt="a", owner="provider", confidence="certain", failure_key=key, signals=made)


@pytest.mark.req("J-09")
@pytest.mark.trap(7)
@pytest.mark.parametrize("word", ["MODEL_ENDED_SESSION", "MODEL_ENDED_SESSION_EARLY", "EMPTY_RESPONSE"])
def test_what_the_harness_wrote_in_the_place_of_an_answer_is_taken_as_it_says(word):
    assert pattern_of(an_attempt(native_status=word), said("no_generation")) == word


def test_an_empty_answer_is_one_in_a_comparison_as_it_is_in_the_checkup():
    assert pattern_of(an_attempt(output=Output(text=" \n")), None) == "EMPTY_RESPONSE"
    assert pattern_of(an_attempt(output=Output(text=None)), None) == ""


@pytest.mark.parametrize(
    ("signals", "pattern"),
    [
        (("provider_empty_response",), "EMPTY_RESPONSE"),
        (("provider_empty_response", "no_generation"), "EMPTY_RESPONSE"),
        (("provider_no_answer",), "NO_GENERATION"),
        (("no_generation", "zero_tokens"), "NO_GENERATION"),
        (("provider_content_filter",), "CONTENT_FILTER"),
        (("token_limit",), "CUT_OFF"),
        (("check_failed",), ""),
    ],
)
def test_elsewhere_a_signal_tells_the_pattern(signals, pattern):
    assert pattern_of(an_attempt(), said(*signals)) == pattern


def test_a_limit_is_a_pattern_of_its_own():
    assert pattern_of(an_attempt(execution="limit"), None) == "LIMIT_REACHED"


def test_patterns_are_counted_for_each_run_over_the_compared_cases():
    found = {1: {"suite/0": {"EMPTY_RESPONSE": 2}, "suite/9": {"EMPTY_RESPONSE": 1}}, 2: {"suite/0": {"CUT_OFF": 1}}}

    assert counts(counted_patterns(a_matrix("F", "F"), found)) == {
        "EMPTY_RESPONSE": ((2, 0), 2),
        "CUT_OFF": ((0, 1), 1),
    }
