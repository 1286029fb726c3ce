"""aider's benchmark: tries that make one attempt, exceptions in the place of results, and leaderboards."""

import shutil
from pathlib import Path

import pytest

from errata.model import Attempt, Case, Run, Unreadable
from errata.sources import aider
from terminal import done, errata

FOLDER = Path(__file__).parents[1] / "fixtures" / "sources" / "aider"
RUN = FOLDER / "run" / "data" / "2026-03-01-10-00-00--mock-diff"
LEADERBOARD = FOLDER / "leaderboard" / "data" / "polyglot_leaderboard.yml"


def attempts(path: Path = RUN) -> dict[str, Attempt]:
    return {item.case.rpartition("/")[2]: item for item in aider.read(path) if isinstance(item, Attempt)}


@pytest.mark.parametrize(
    ("exercise", "facts", "counted"),
    [
        ("two-fer", ("completed", "scored", "pass"), True),
        ("bowling", ("completed", "scored", "pass"), True),  # at the second try
        ("forth", ("completed", "scored", "fail"), True),  # the tests timed out, which aider counts as failed
        ("zipper", ("limit", "scored", "fail"), True),  # the context was full
        ("alphametics", ("error", "not_run", "none"), True),  # an exception, and in the denominator
        ("wordy", ("missing", "not_run", "none"), False),
    ],
)
def test_the_three_facts_of_an_exercise(exercise, facts, counted):
    found = attempts()[exercise]

    assert ((found.execution, found.measurement, found.outcome), found.reported_counted) == (facts, counted)


def test_the_last_try_decides_and_the_first_is_told_beside_it():
    checks = {check.name: (check.status, check.counts) for check in attempts()["bowling"].checks}

    assert (checks["try 1"], checks["try 2"]) == (("fail", False), ("pass", True))


def test_tests_that_timed_out_are_told():
    (check,) = [check for check in attempts()["forth"].checks if check.name == "test_timeouts"]

    assert (check.value, check.status, check.counts) == (1, "fail", False)


def test_an_exception_is_taken_out_of_its_traceback():
    (error,) = attempts()["alphametics"].errors

    assert error.type == "litellm.exceptions.RateLimitError"
    assert error.message == "litellm.RateLimitError: Error code: 429 - Too Many Requests"


def test_a_price_of_nothing_is_unknown():
    assert attempts()["zipper"].usage.subject.cost is None


def test_the_history_of_the_chat_is_the_transcript():
    steps = attempts()["two-fer"].steps

    assert [step.actor.role for step in steps] == ["environment", "user", "assistant", "environment"]
    assert steps[1].text.startswith("Use the above instructions")


def test_the_task_is_put_together_as_aider_does():
    cases = {item.native_id: item for item in aider.read(RUN) if isinstance(item, Case)}

    assert cases["go/forth"].input == "# Instructions\n\nSolve forth.\n"
    assert cases["go/forth"].category == "go"


def test_exercises_without_a_folder_for_their_language_are_read_too(tmp_path):
    shutil.copytree(RUN / "go" / "exercises" / "practice", tmp_path / "old")

    assert aider.recognise(tmp_path / "old") is not None
    assert sorted(attempts(tmp_path / "old")) == ["bowling", "forth"]


def test_a_damaged_result_is_unreadable_and_stays_in_the_denominator(tmp_path):
    copy = Path(shutil.copytree(RUN, tmp_path / "run"))
    (copy / "go/exercises/practice/forth/.aider.results.json").write_text('{"testdir": "x", "testca')
    items = list(aider.read(copy))

    assert [item.ref.file for item in items if isinstance(item, Unreadable)] == [
        "go/exercises/practice/forth/.aider.results.json"
    ]
    assert attempts(copy)["forth"].measurement == "unscored"


# leaderboards


def runs(path: Path = LEADERBOARD) -> list[Run]:
    return [item for item in aider.read(path) if isinstance(item, Run)]


def test_every_record_is_a_run_without_attempts():
    items = list(aider.read(LEADERBOARD))

    assert [type(item) for item in items] == [Run, Run, Run]
    assert [run.expected_cases for run in items] == [225, 225, 225]


def test_the_passes_that_a_leaderboard_states_go_before_its_rounded_rate(tmp_path):
    board = tmp_path / "board.yml"
    board.write_text(LEADERBOARD.read_text().replace("pass_rate_2: 35.6", "pass_rate_2: 35.1"))
    first = next(item for item in aider.read(board) if isinstance(item, Run))

    assert first.stated_passes == (80, 225)


@pytest.mark.parametrize(
    ("cases", "rate", "passes"), [(133, 68.4, 91), (133, 68.5, None), (33, 57.6, 19), (2_000, 50.0, None)]
)
def test_an_older_board_states_only_a_rate_which_is_a_count_where_no_other_has_it(tmp_path, cases, rate, passes):
    board = tmp_path / "edit_leaderboard.yml"
    board.write_text(f"- dirname: a\n  test_cases: {cases}\n  model: m\n  edit_format: diff\n  pass_rate_1: {rate}\n")
    (run,) = runs(board)

    assert (run.harness_passes, run.measured_attempts) == (passes, cases)


def test_two_leaderboards_tell_of_one_run_each_with_its_own_numbers(tmp_path):
    other = tmp_path / "older.yml"
    other.write_text(LEADERBOARD.read_text().replace("pass_num_2: ", "pass_num_2: 1"))
    here, there = runs(), [item for item in aider.read(other) if isinstance(item, Run)]

    assert [one.name for one in here] == [one.name for one in there]
    assert not {one.id for one in here} & {one.id for one in there}


BOARD = """- dirname: {name}
  test_cases: {cases}
  model: m
  edit_format: diff
  pass_rate_1: {first}
  pass_rate_2: {last}
  pass_num_1: {first_passes}
  pass_num_2: {passes}
  total_tests: 225
"""


@pytest.mark.req("N-04")
@pytest.mark.parametrize(
    ("cases", "first", "first_passes", "last", "passes", "of"),
    [
        # as published: the last rate is one of all exercises, or of those that were measured, or cut off
        (224, 34.8, 78, 78.2, 176, 225),
        (223, 9.0, 20, 27.1, 61, 225),
        (224, 34.4, 77, 71.4, 160, 224),
        (224, 23.7, 53, 61.7, 139, 225),
        (225, 20.0, 45, 35.6, 80, 225),
    ],
)
@pytest.mark.usefixtures("at_home")
def test_exercises_that_were_not_measured_are_missing_and_the_rate_says_whether_they_count(
    tmp_path, cases, first, first_passes, last, passes, of
):
    board = tmp_path / "polyglot_leaderboard.yml"
    board.write_text(BOARD.format(name="a", **{key: value for key, value in locals().items() if key != "of"}))
    done("import", board)
    score = done("score", "latest", "--json").row["scores"]["as_reported"]
    found = errata("check", "latest", "--json").row["findings"]
    ((run,), numbers) = runs(board), {one["name"]: one["numbers"] for one in found}

    assert [(one.name, one.n) for one in run.reported if one.metric == "pass_rate"] == [
        ("pass_rate_2", of),
        ("pass_rate_1", cases),
    ]
    assert (score["passed"], score["total"]) == (passes, of)
    assert "aggregate_mismatch" not in numbers
    assert (run.expected_cases, numbers["cases_not_in_log"]["cases"]) == (225, cases)


@pytest.mark.usefixtures("at_home")
def test_a_rate_that_contradicts_its_passes_is_told_once_and_is_no_miscount_of_rows(tmp_path):
    board = tmp_path / "board.yml"
    board.write_text(BOARD.format(name="a", cases=225, first=20.0, first_passes=45, last=39.6, passes=80))
    done("import", board)
    found = [one["name"] for one in errata("check", "latest", "--json").row["findings"]]

    assert "impossible_count" in found
    assert "aggregate_mismatch" not in found
