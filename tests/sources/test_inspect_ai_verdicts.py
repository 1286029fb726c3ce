"""Whether a judge gave a verdict: a grade that was not found is neither a pass nor a failure."""

import json

import pytest
from inspect_ai_logs import attempt, attempts, first_with, log, scored

from terminal import done, errata

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


DIFF = "diff --git a/x.py b/x.py\n+1"
MEAN = [{"name": "inspect_ai/mean", "options": {}}]


def a_log(folder, metrics, scores, **header):
    """`metrics` of each scorer, none where the log does not list them."""
    declared = [{"name": name} | ({} if given is None else {"metrics": given}) for name, given in metrics.items()]
    spec = {"task": "t", "run_id": "r", "eval_id": "e", "dataset": {}, "model": "m", "scorers": declared}
    of_all = {"epoch": 1, "input": "q", "target": "a", "messages": [], "output": {}}
    samples = [of_all | {"id": at, "scores": given} for at, given in enumerate(scores)]
    path = folder / "log.json"
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": spec, **header, "samples": samples}))
    return path


@pytest.mark.req("N-06")
@pytest.mark.parametrize(
    ("scorers", "outcomes"),
    [
        # a scorer without a metric beside one with
        ({"git_diff": ([], "CC", DIFF), "check": (MEAN, "CI", "")}, ["pass", "fail"]),
        ({"git_diff": ([], "CI", DIFF), "check": (MEAN, "CC", "")}, ["pass", "pass"]),
        ({"check": (MEAN, "CI", ""), "git_diff": ([], "CC", DIFF)}, ["pass", "fail"]),
        # no metric at all: one value throughout, a diff or a label is no verdict
        ({"git_diff": ([], "CC", DIFF)}, ["none", "none"]),
        ({"saved": ([], "CC", "kept"), "check": ([], ["4/4", "4/4"], "")}, ["none", "none"]),
        ({"label": ([], ["a", "b"], ""), "check": ([], "CI", "")}, ["pass", "fail"]),
        ({"saved": ([], "CC", "kept"), "check": ([], "IC", "")}, ["fail", "pass"]),
        ({"check": ([], "C", "")}, ["pass"]),
        # all passed
        ({"check": (MEAN, "CC", "")}, ["pass", "pass"]),
        ({"check": (MEAN, "CC", DIFF), "other": (MEAN, "CI", "")}, ["pass", "pass"]),
        # logs of versions that do not list metrics
        ({"check": (None, "CC", ""), "other": (None, "CI", "")}, ["pass", "pass"]),
    ],
)
def test_a_scorer_that_never_judges_is_no_outcome(tmp_path, scorers, outcomes):
    path = a_log(
        tmp_path,
        {name: given[0] for name, given in scorers.items()},
        [
            {name: {"value": given[1][at], "explanation": given[2]} for name, given in scorers.items()}
            for at in range(len(outcomes))
        ],
    )
    made = list(attempts(path).values())

    assert [one.outcome for one in made] == outcomes
    assert {one.measurement for one in made} == {"not_run" if "none" in outcomes else "scored"}
    assert not any(one.is_failure for one in made if one.outcome != "fail")
    assert {check.status for one in made for check in one.checks if check.name == "git_diff"} <= {"not_applicable"}


def test_labels_without_a_metric_are_measured_where_no_scorer_gives_verdicts(tmp_path):
    scores = [{"git_diff": {"value": "C", "explanation": DIFF}, "check": {"value": word}} for word in ("3/4", "4/4")]
    made = list(attempts(a_log(tmp_path, {"git_diff": [], "check": []}, scores)).values())

    assert [(one.measurement, one.outcome, one.native_status) for one in made] == [
        ("scored", "none", "3/4"),
        ("scored", "none", "4/4"),
    ]


def results_of(*scores):
    listed = [{"scorer": scorer, "name": name, "metrics": metrics} for scorer, name, metrics in scores]
    return {"total_samples": 1, "completed_samples": 1, "scores": listed}


@pytest.mark.req("N-06")
@pytest.mark.parametrize(
    ("metrics", "results"),
    [
        # as public logs have it: results list the scorer without a metric, or those of another scoring
        ({"git_diff": [], "check": MEAN}, [("git_diff", "git_diff", {}), ("check", "check", {"mean": {"value": 1.0}})]),
        ({"git_diff": [], "check": []}, [("check", "check", {"mean": {"value": 1.0}})]),
    ],
)
def test_the_results_of_a_log_name_the_scorer_that_judges(tmp_path, metrics, results):
    scores = {"git_diff": {"value": "C", "explanation": DIFF}, "check": {"value": 1.0}}
    path = a_log(tmp_path, metrics, [scores], results=results_of(*results))
    (made,) = attempts(path).values()

    assert (made.outcome, made.reported, made.reported_counted) == ("pass", 1.0, True)
    assert [check.name for check in made.checks if check.is_primary] == ["check"]


@pytest.mark.req("N-04")
@pytest.mark.usefixtures("at_home")
def test_the_share_of_a_label_is_not_recounted_as_a_mean_of_zeros(tmp_path):
    """A metric of each label, as `grouped` and wildcards make it: no label is worth more than another."""
    metrics = [{"*": MEAN}]
    results = [
        ("judge", "judge", {}),
        ("judge", "left", {"mean": {"value": 0.5}}),
        ("judge", "right", {"mean": {"value": 0.5}}),
    ]
    labels = [{"judge": {"value": word}} for word in ("left", "right")]
    done("import", a_log(tmp_path, {"judge": metrics}, labels, results=results_of(*results)))
    score = done("score", "latest", "--json").row["scores"]["as_reported"]
    findings = errata("check", "latest", "--json").row["findings"]

    assert (score["stated"], score["reproduced"]) == (0.5, None)
    assert "aggregate_mismatch" not in {one["name"] for one in findings}
