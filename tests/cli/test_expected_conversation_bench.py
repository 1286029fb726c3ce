"""What is known of the conversation-bench samples comes out of the commands."""

from collections import Counter

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


@pytest.mark.parametrize(
    ("run", "rows", "passed", "failed", "incomplete"),
    [
        (ALPHA_1, 30, 25, 5, 0),
        (ALPHA_2, 30, 26, 4, 0),
        (BETA, 30, 20, 10, 0),
        (GAMMA, 30, 22, 7, 1),
        (DAMAGED, 29, 25, 4, 0),
    ],
)
def test_rows_are_counted(library, listed, run, rows, passed, failed, incomplete):
    counts = listed[run]["counts"]

    assert counts["counted"] - counts["executions"].get("missing", 0) == rows
    assert counts["outcomes"]["pass"] == passed
    assert len(failed_rows(library, run)) == failed
    assert counts["measurements"].get("unscored", 0) == incomplete


def test_analyses_count_categories_as_a_comparison_does(library):
    """Turns 11, 12 and 24 have two categories each, and count in both."""
    by_run = [done("analyze", run, "--json", "--no-report", "--store", library).row for run in COMPARED]
    compared = done("compare", *COMPARED, "--json", "--store", library).row
    counted = sum((Counter({name: one["failed"] for name, one in row["categories"].items()}) for row in by_run),
                  Counter())  # fmt: skip

    assert +counted == +Counter({one["name"]: one["failed_rows"] for one in compared["categories"]})
    assert sum(row["overlap"]["several"] for row in by_run) == compared["overlap"]["several"] == 5
    unscored = [one["unscored"] for row in by_run for one in row["categories"].values()]
    assert sum(unscored) == 1, "turn 16 of gamma has no verdict: a failure, and no failed row"
    assert sum(counted.values()) + sum(unscored) == sum(row["counts"]["failures"] for row in by_run) + 5


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


def test_the_failed_rows_of_a_model_are_those_of_all_its_runs(library):
    assert sum(len(failed_rows(library, run)) for run in (ALPHA_1, ALPHA_2)) == 9
    assert sum(len(failed_rows(library, run)) for run in COMPARED) == 26


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


def test_a_summary_that_follows_from_its_rows_is_not_remarked(library):
    assert findings(library, ALPHA_2, "aggregate_mismatch") == []


@pytest.mark.trap(9)
def test_a_row_without_any_verdict_is_neither_passed_nor_failed(library):
    (unscored,) = failures(library, GAMMA, "--measurement", "unscored")
    (finding,) = findings(library, GAMMA, "aggregate_mismatch")

    assert (unscored["case"], unscored["outcome"], unscored["failed_checks"]) == ("turn-16", "none", [])
    assert "turns_scored 30, but only 29 of 30 rows are scored" in finding["text"]
    assert findings(library, GAMMA, "no_verdict")[0]["text"].endswith("turn-16")


def test_missing_turns_are_named_with_the_line_of_the_log(library):
    (finding,) = findings(library, DAMAGED, "missing_cases")

    assert finding["text"] == "2 of 30 planned turns are not in the log: turn-7, turn-18"
    assert [(one["ref"]["file"], one["ref"]["line"]) for one in finding["evidence"]] == [
        ("run.log", 41),
        ("run.log", 42),
    ]


def test_a_turn_with_two_rows_of_different_verdicts_is_a_problem(library):
    (finding,) = findings(library, DAMAGED, "duplicate_case")

    assert finding["text"] == "turn-12 has 2 rows with different verdicts: 1 pass, 1 fail"
    assert [one["ref"]["line"] for one in finding["evidence"]] == [3, 17]
    assert finding["breaks"]


def test_more_turns_scored_than_rows_is_a_problem(library):
    (finding,) = findings(library, DAMAGED, "aggregate_mismatch")

    assert finding["text"] == "openai_summary.json has turns_scored 30; the log has 29 rows (28 turns)"


def test_rows_in_order_of_completion_are_listed_in_order_of_the_conversation(library):
    assert findings(library, DAMAGED, "row_order")
    assert [row["case"] for row in failures(library, DAMAGED)] == ["turn-8", "turn-11", "turn-12", "turn-22"]


def test_a_contradictory_turn_does_not_count_as_passed(tmp_path, library):
    origin = next(
        row["origin"] for row in done("runs", "--json", "--store", library).rows if row["run"].endswith(DAMAGED)
    )
    row = done("analyze", origin, "--json").row

    assert (row["passed"], row["total"], row["fit"]) == (24, 30, False)


def test_a_transcript_that_nobody_judged_is_not_passed(library, listed):
    (finding,) = findings(library, UNJUDGED, "not_judged")
    counts = listed[UNJUDGED]["counts"]

    assert finding["breaks"]
    assert counts["counted"] == 30
    assert counts["outcomes"] == {"none": 30}


def test_an_empty_answer_of_an_unjudged_run_is_found(library):
    (failure,) = failures(library, UNJUDGED)

    assert (failure["case"], failure["native_status"]) == ("turn-4", "EMPTY_RESPONSE")


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


def test_an_ended_session_is_no_cause_where_it_was_asked_for(library):
    assert attempt(library, f"{ALPHA_1}/turn-29")["outcome"] == "pass"


@pytest.mark.parametrize(
    ("turn", "failed"),
    [(13, ["tool_use_correct"]), (14, ["state_tracking"]), (23, ["instruction_following", "kb_grounding"])],
)
def test_a_failure_names_its_dimensions(library, turn, failed):
    (row,) = [row for row in failures(library, GAMMA) if row["case"] == f"turn-{turn}"]

    assert row["failed_checks"] == failed
