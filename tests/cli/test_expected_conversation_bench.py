"""What is known of the conversation-bench samples comes out of the commands."""

import pytest

from terminal import done, errata

ALPHA_1, ALPHA_2, BETA, GAMMA = "1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d"
DAMAGED, UNJUDGED = "0b1c2d3e", "7d8e9f0a"
COMPARED = (ALPHA_1, ALPHA_2, BETA, GAMMA)
DIMENSIONS = (
    "turn_taking",
    "tool_use_correct",
    "instruction_following",
    "kb_grounding",
    "ambiguity_handling",
    "state_tracking",
)


@pytest.fixture(scope="module")
def listed(library):
    return {row["run"][-8:]: row for row in done("runs", "--json", "--store", library).rows}


def failures(library, run, *options):
    return done("failures", run, "--json", "--store", library, *options).rows


def failed_rows(library, run):
    """Any dimension false; an unscored row is listed among the failures, but is none of these."""
    return [row for row in failures(library, run) if row["failed_checks"]]


def findings(library, run, name):
    found = errata("check", run, "--json", "--store", library).row["findings"]
    return [one for one in found if one["name"] == name]


def attempt(library, name):
    return done("show", name, "--json", "--store", library).row["attempt"]


@pytest.mark.req("J-07")
@pytest.mark.trap(8)
@pytest.mark.parametrize(
    ("run", "turns"),
    [
        (ALPHA_1, [5, 11, 14, 22, 26]),
        (ALPHA_2, [11, 14, 19, 22]),
        (BETA, [8, 11, 17, 22, 24, 25, 26, 27, 28, 29]),
        (GAMMA, [3, 11, 13, 14, 20, 22, 23]),
        (DAMAGED, [8, 11, 12, 22]),
    ],
)
def test_a_turn_fails_where_a_dimension_is_false(library, run, turns):
    assert [int(row["case"].removeprefix("turn-")) for row in failed_rows(library, run)] == turns


@pytest.mark.req("J-09", "J-19")
@pytest.mark.parametrize(
    ("run", "false"),
    [
        (ALPHA_1, (0, 2, 1, 2, 1, 1)),
        (ALPHA_2, (1, 1, 1, 0, 1, 1)),
        (BETA, (1, 4, 7, 1, 1, 2)),
        (GAMMA, (1, 3, 2, 1, 1, 1)),
    ],
)
def test_failed_dimensions_are_counted_from_the_rows(listed, run, false):
    counts = listed[run]["counts"]["failed_checks"]

    assert tuple(counts.get(name, 0) for name in DIMENSIONS) == false


@pytest.mark.req("J-19")
def test_failed_dimensions_add_up_over_the_comparison(listed):
    totals = [sum(listed[run]["counts"]["failed_checks"].get(name, 0) for run in COMPARED) for name in DIMENSIONS]

    assert totals == [3, 10, 11, 4, 4, 5]


@pytest.mark.req("J-09")
@pytest.mark.trap(7)
@pytest.mark.parametrize(
    ("run", "ended", "early", "empty"),
    [(ALPHA_1, 0, 0, 0), (ALPHA_2, 0, 0, 1), (BETA, 1, 5, 0), (GAMMA, 0, 0, 1)],
)
def test_what_the_harness_put_in_the_place_of_an_answer_is_counted(library, run, ended, early, empty):
    result = [row["native_status"] for row in failures(library, run)]

    assert result.count("MODEL_ENDED_SESSION") == ended
    assert result.count("MODEL_ENDED_SESSION_EARLY") == early
    assert result.count("EMPTY_RESPONSE") == empty


@pytest.mark.trap(7)
def test_the_turns_after_an_ended_session_follow_from_it(library):
    followers = [row for row in failures(library, BETA) if row["follows"]]

    assert [row["case"] for row in followers] == ["turn-25", "turn-26", "turn-27", "turn-28", "turn-29"]
    assert {row["follows"].partition(":")[2] for row in followers} == {"harbour_bench/turn-24#1"}


@pytest.mark.trap(5)
def test_one_model_run_twice_stays_two_runs(listed):
    models = [listed[run]["model"] for run in COMPARED]

    assert models == ["voice-alpha", "voice-alpha", "voice-beta", "acme/voice-gamma"]


@pytest.mark.trap(6)
def test_a_benchmark_may_have_any_number_of_turns(listed):
    assert {listed[run]["expected_cases"] for run in COMPARED} == {30}


@pytest.mark.req("J-27")
@pytest.mark.parametrize(
    ("run", "dimension", "stated", "found"), [(ALPHA_1, "tool_use_correct", 29, 28), (BETA, "kb_grounding", 26, 24)]
)
def test_a_summary_that_differs_from_its_rows_is_found(library, run, dimension, stated, found):
    (finding,) = findings(library, run, "aggregate_mismatch")

    assert finding["numbers"] == {"stated": stated, "found": found}
    assert f"openai_summary.json has {stated} passes for {dimension}; the rows have {found}" in finding["text"]


@pytest.mark.trap(9)
def test_a_row_without_any_verdict_is_neither_passed_nor_failed(library):
    (unscored,) = failures(library, GAMMA, "--measurement", "unscored")
    (finding,) = findings(library, GAMMA, "aggregate_mismatch")

    assert (unscored["case"], unscored["outcome"], unscored["failed_checks"]) == ("turn-16", "none", [])
    assert "turns_scored 30, but only 29 of 30 rows are scored" in finding["text"]
    assert findings(library, GAMMA, "no_verdict")[0]["text"].endswith("turn-16")


@pytest.mark.req("J-06", "J-28")
def test_a_turn_is_shown_with_its_calls_and_what_came_back(library):
    calls = [call for step in attempt(library, f"{BETA}/turn-8")["steps"] for call in step["tool_calls"]]

    assert calls
    assert calls[0]["result"] is not None


def test_a_call_that_was_made_twice_is_marked_and_passes(library):
    shown = attempt(library, f"{GAMMA}/turn-6")
    calls = [call for step in shown["steps"] for call in step["tool_calls"]]

    assert shown["outcome"] == "pass"
    assert [call["is_duplicate"] for call in calls] == [False, True]
