"""Whether a judge gave a verdict: a grade that was not found is neither a pass nor a failure."""

import pytest
from inspect_ai_logs import attempt, first_with, log, scored

SCORER = log("scorer_json")


@pytest.mark.trap(13)
def test_a_nan_for_which_the_grader_is_named_is_a_broken_measurement():
    unscored = attempt(SCORER, "uns")

    assert (unscored.execution, unscored.measurement, unscored.outcome) == ("completed", "error", "none")
    assert (unscored.checks[0].status, unscored.checks[0].reason_code) == ("error", "grader_failed")
    assert [(error.type, error.phase) for error in unscored.errors] == [("grader_failed", "scoring")]


NOT_FOUND = "Grade not found in model output: The answer looks right to me. GRID: C"


def test_a_grade_that_was_not_found_is_no_failure_although_it_is_written_as_one(tmp_path):
    judged = scored(tmp_path, "I", explanation=NOT_FOUND)

    assert (judged.execution, judged.measurement, judged.outcome) == ("completed", "error", "none")
    assert (judged.checks[0].status, judged.checks[0].error.message) == ("error", NOT_FOUND)


@pytest.mark.parametrize(
    "told",
    [
        {"reason": "grader_failed"},
        {"metadata": {"unscored_reason": "grade_parse_failure"}},
        {"metadata": {"reason": "grader_schema_mismatch"}},
        {"explanation": NOT_FOUND},
    ],
    ids=("reason", "unscored_reason", "inspect_evals", "explanation"),
)
def test_every_way_to_say_that_the_judge_gave_no_verdict_is_known(tmp_path, told):
    judged = scored(tmp_path, float("nan"), **told)

    assert (judged.measurement, judged.reported_counted) == ("error", False)


@pytest.mark.parametrize("reason", ["invalid_response_format", "refusal", "no_response"])
def test_a_reason_that_names_the_subject_is_a_verdict(tmp_path, reason):
    judged = scored(tmp_path, "I", reason=reason)

    assert (judged.measurement, judged.outcome) == ("scored", "fail")


def test_a_judge_that_said_incorrect_gave_a_verdict(tmp_path):
    grading = [{"role": "user", "content": "Grade this"}, {"role": "assistant", "content": f"{NOT_FOUND}\nGRADE: I"}]
    judged = scored(tmp_path, "I", explanation=f"{NOT_FOUND}\nGRADE: I", metadata={"grading": grading})

    assert (judged.measurement, judged.outcome) == ("scored", "fail")


def test_an_answer_that_speaks_of_a_missing_grade_is_still_an_answer(tmp_path):
    output = {"completion": NOT_FOUND, "choices": [{"message": {"role": "assistant", "content": NOT_FOUND}}]}
    judged = first_with(tmp_path, output=output, scores={"s": {"value": "I", "explanation": NOT_FOUND}})

    assert (judged.measurement, judged.outcome) == ("scored", "fail")


def test_one_broken_value_of_a_list_breaks_the_whole(tmp_path):
    judged = scored(tmp_path, ["C", "I"], reason="scoring_failed")

    assert (judged.measurement, judged.outcome, judged.reported) == ("error", "none", 0.5)
