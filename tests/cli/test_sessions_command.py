"""`errata sessions` on the ProjectScylla samples and on a conversation that was ended early."""

import pytest

from terminal import done

HIDDEN_PASSES = [6, 17, 26, 38, 43]
HIDDEN_FAILS = [4, 11, 23, 31, 34, 46]
NEVER = [19, 41]


def named(numbers):
    return [f"projectscylla/test-{number:03}" for number in numbers]


@pytest.fixture(scope="module")
def batches(library):
    return {
        row["model"]: row["run_id"] for row in done("runs", "--source", "scylla", "--json", "--store", library).rows
    }


@pytest.fixture(scope="module")
def told(library, batches):
    return done("sessions", batches["sonnet"], "--json", "--store", library).row


@pytest.fixture(scope="module")
def page(library, batches):
    return done("sessions", batches["sonnet"], "--store", library).out


@pytest.mark.req("S-17", "S-09")
def test_each_session_is_told_with_its_counts_and_its_pattern(told):
    counts = [(one["tried"], one["passed"], one["failed"], one["not_measured"]) for one in told["sessions"]]

    assert counts == [(47, 29, 16, 2), (47, 0, 0, 47), (47, 24, 10, 13)]
    assert [one["exit_codes"] for one in told["sessions"]] == [{"0": 46, "none": 1}, {"-1": 47}, {"0": 47}]
    assert [one["pattern"].split(";")[0] for one in told["sessions"]] == [
        "spent $69.59",
        "every test ended with exit code -1: [Errno 2] No such file or directory: 'pixi'",
        "resumed",
    ]


def test_a_session_without_any_cost_has_none_rather_than_zero(told):
    first, second, third = (one["cost"] for one in told["sessions"])

    assert (round(first, 2), second, round(third, 2)) == (69.59, None, 54.18)


@pytest.mark.req("S-18", "S-42")
def test_what_passed_before_and_fails_now_is_listed(told, page):
    assert [one["case"] for one in told["changes"] if one["was"] == "pass"] == named(HIDDEN_PASSES)
    assert {one["session"] for one in told["changes"]} == {1}
    assert "passed earlier, not measured in the latest session: 5 cases, $8.06 spent" in page


@pytest.mark.req("S-16")
def test_what_was_measured_as_failed_before_and_is_not_measured_now_is_listed(told):
    assert [one["case"] for one in told["changes"] if one["was"] == "fail"] == named(HIDDEN_FAILS)
    assert {one["now"] for one in told["changes"]} == {"not measured"}


@pytest.mark.req("S-05")
def test_what_no_session_has_measured_is_listed(told):
    assert told["never_measured"] == named(NEVER)


@pytest.mark.trap(17)
def test_one_root_crash_and_its_followers_are_one_thing(library, batches):
    row = done("sessions", batches["haiku"], "--json", "--store", library).row

    (cascade,) = row["cascades"]
    assert cascade["case"] == "projectscylla/test-002"
    assert "TierConfig" in cascade["error"]
    assert cascade["followers"] == named(range(3, 13))


@pytest.mark.req("J-14")
def test_turns_filled_in_after_a_session_was_ended_follow_the_turn_that_ended_it(library):
    row = done("sessions", "9c0d1e2f", "--json", "--store", library).row

    (cascade,) = row["cascades"]
    assert cascade["case"] == "harbour_bench/turn-24"
    assert cascade["followers"] == [f"harbour_bench/turn-{turn}" for turn in range(25, 30)]


def test_a_run_of_one_session_says_so(library):
    assert "1 session; no result was replaced" in done("sessions", "1a2b3c4d", "--store", library).out


def test_what_no_log_tells_of_a_session_is_not_half_told(library):
    page = done("sessions", "batch-gen2", "--store", library).out

    assert "– –" not in page
    assert "exit codes" not in page
