"""aider's own rate, by the rule of its benchmark; a leaderboard has no rows to recount its rates from."""

import json

import pytest
from test_reported_numbers import FIXTURES, recomputed, value_of

FOLDER = FIXTURES / "aider"


def test_the_rate_after_the_last_try_of_all_exercises_that_left_a_result():
    ((folder, _, score),) = recomputed(FOLDER / "run" / "data")
    row = [json.loads(file.read_text()) for file in folder.rglob(".aider.results.json")]
    passed = [bool((one.get("tests_outcomes") or [False])[-1]) for one in row]

    assert (score["passed"], score["total"]) == (sum(passed), len(passed))
    assert value_of(score) == pytest.approx(sum(passed) / len(passed))


def test_a_leaderboard_states_its_passes_and_has_no_rows_to_recount_them_from():
    found = [*recomputed(FOLDER / "leaderboard" / "data")]

    assert {score["note"]["code"] for _, _, score in found} == {"passes_without_rows"}
    assert {score["reproduced"] for _, _, score in found} == {None}
    assert {score["stated"]: (score["passed"], score["total"]) for _, _, score in found} == {
        0.44: (99, 225),
        0.356: (80, 225),
        0.08: (18, 225),
    }
    names = [{finding["name"] for finding in score["findings"]} for _, _, score in found]
    assert names == [{"no_attempts", "cases_not_in_log"}] * len(found)
