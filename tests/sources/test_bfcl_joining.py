"""Score rows of BFCL and the result rows they belong to: by text id, by the prompt's id, or by the answer."""

import json
from collections import Counter

import pytest
from changed_logs import FIXTURES, attempts, by_case, change_rows, copy_of, runs, unreadables, write_rows
from test_bfcl import answered, category, header

PUBLISHED = FIXTURES / "bfcl" / "published" / "data"


def failed(number: int, *, prompt: str = "", answer: str = "text") -> dict:
    """A score row of an older release, which numbers the results from 1."""
    row = {"id": number, "valid": False, "error": ["wrong"], "error_type": "x", "model_result_raw": answer}
    return row | {"prompt": {"id": prompt, "question": []}} if prompt else row


def test_a_failed_case_is_never_counted_as_a_pass_too():
    """One attempt for each result row, although the scores number the rows and the results name them."""
    for run in runs(PUBLISHED):
        rows = [one for one in attempts(PUBLISHED) if one.run == run.id]
        stated = Counter({0.0: run.expected_cases - run.measured_passes, 1.0: run.measured_passes})

        assert Counter(one.reported for one in rows) == stated, run.name
        assert not run.conflicts


def test_a_numbered_score_is_joined_by_the_id_in_its_prompt(tmp_path):
    """The number is wrong on purpose: results may have been sorted since."""
    results = [answered("simple_0", "a"), answered("simple_1", "b")]
    log = category(tmp_path, "simple", results, [header(1, 2), failed(1, prompt="simple_1", answer="b")])

    assert {name: one.outcome for name, one in by_case(log).items()} == {"simple_0": "pass", "simple_1": "fail"}


def test_a_numbered_score_without_a_prompt_is_joined_by_its_answer(tmp_path):
    results = [answered("irrelevance_0", "a"), answered("irrelevance_1", "b"), answered("irrelevance_2", "c")]
    log = category(tmp_path, "irrelevance", results, [header(2, 3), failed(3, answer="b")])

    assert by_case(log)["irrelevance_1"].outcome == "fail"
    assert Counter(one.outcome for one in attempts(log)) == {"pass": 2, "fail": 1}


def test_of_equal_answers_the_one_at_that_place_was_scored(tmp_path):
    results = [answered(f"irrelevance_{at}", "same") for at in range(3)]
    log = category(tmp_path, "irrelevance", results, [header(2, 3), failed(2, answer="same")])

    assert by_case(log)["irrelevance_1"].outcome == "fail"


@pytest.mark.parametrize(
    "results",
    [
        [answered(f"irrelevance_{at}", "same") for at in (2, 0, 1)],  # in file order it is another row than in id order
        [answered(f"irrelevance_{at}", "same") for at in (0, 1)],  # rows are missing, so places have moved
        [answered(f"irrelevance_{at}", "other") for at in range(3)],  # the results of another run
    ],
    ids=["shuffled", "dropped", "another run"],
)
def test_where_the_scored_row_is_not_certain_only_the_scores_count(tmp_path, results):
    log = category(tmp_path, "irrelevance", results, [header(2, 3), failed(2, answer="same")])
    (run,) = runs(log)

    assert [one.outcome for one in attempts(log)] == ["fail"]
    assert (run.measured_attempts, run.measured_passes) == (3, 2)
    assert ["only the scores were read" in one.why for one in unreadables(log)] == [True]


def test_dropped_results_leave_the_other_verdicts_as_they_are(tmp_path):
    log = copy_of("bfcl/simple", tmp_path)
    path = next(log.rglob("*_result.json"))
    write_rows(path, *[row for line in path.read_text().splitlines() if (row := json.loads(line))["id"][-1] != "0"])
    (run,) = runs(log)

    assert Counter(one.reported for one in attempts(log)) == {0.0: 3}
    assert (run.measured_attempts, run.measured_passes) == (4, 1)


def test_results_of_other_cases_contradict_the_scores(tmp_path):
    log = copy_of("bfcl/simple", tmp_path)
    change_rows(next(log.rglob("*_result.json")), lambda row: row | {"id": row["id"].replace("python", "java")})
    (run,) = runs(log)

    assert not any(one.outcome == "pass" for one in attempts(log))
    assert [one.text for one in run.conflicts] == [
        "results and scores: 4 results and 3 listed failures do not add up to 1 of 4 correct",
        "results and scores: 3 of 3 listed failures have no result row, such as simple_python_1",
    ]
