"""What is special about pydantic-evals: repeats, failures apart, evaluators that raise, scores without a bar."""

from pathlib import Path
from typing import Any

from changed_logs import FIXTURES, attempts, by_case, change, copy_of, facts, runs

REPEATS = FIXTURES / "pydantic_evals" / "repeats" / "data"
SCORES = FIXTURES / "pydantic_evals" / "scores" / "data"


def changed(folder: Path, how: Any, name: str = "repeats") -> Path:
    log = copy_of(f"pydantic_evals/{name}", folder)
    change(log / "report.json", how)
    return log


def with_checks(folder: Path, **changes: Any) -> Any:
    """The first attempt, with what was measured of it changed."""
    return attempts(changed(folder, lambda report: report["cases"][0].update(changes)))[0]


def test_repeats_are_attempts_of_one_case():
    assert [(one.case, one.index) for one in attempts(REPEATS)] == [
        (f"demo/{name}", index) for name in ("ok", "wrong", "judgeboom", "crash") for index in (1, 2)
    ]


def test_a_repeat_that_broke_keeps_its_number_beside_one_that_did_not(tmp_path):
    def how(report):
        broken = {"name": "ok [2/2]", "inputs": "2+2", "error_message": "E: x", "error_stacktrace": ""}
        report["failures"] = [broken | {"source_case_name": "ok"}]
        report["cases"] = [one for one in report["cases"] if one["name"] == "ok [1/2]"]

    assert [(one.index, one.execution) for one in attempts(changed(tmp_path, how))] == [(1, "completed"), (2, "error")]


def test_a_task_that_raised_was_never_measured():
    broken = by_case(REPEATS)["crash"]

    assert facts(broken) == ("error", "not_run", "none")
    assert [(one.type, one.message, one.phase) for one in broken.errors] == [("ConnectionError", "503 upstream", "")]
    assert broken.errors[0].frame.endswith("demo/pe.py:18 in task")


def test_an_assertion_that_does_not_hold_is_a_failure_although_an_evaluator_raised():
    broken = by_case(REPEATS)["judgeboom"]

    assert facts(broken) == ("completed", "scored", "fail")
    assert [(one.type, one.phase, one.recovered) for one in broken.errors] == [("ValueError", "scoring", True)]


def test_an_evaluator_that_raised_leaves_open_what_it_would_have_asserted(tmp_path):
    held = {"EqualsExpected": {"name": "EqualsExpected", "value": True, "source": {"name": "EqualsExpected"}}}
    broken = {"name": "Boom", "error_message": "ValueError: no", "source": {"name": "Boom"}}

    assert facts(with_checks(tmp_path, assertions=held, evaluator_failures=[broken]))[1:] == ("error", "none")


def test_an_evaluator_that_only_gives_scores_decides_nothing_when_it_raises(tmp_path):
    def how(report):
        for case in report["cases"]:
            case["assertions"] = {"same": {"name": "same", "value": True, "source": {"name": "Same"}}}
        report["cases"][0]["scores"] = report["cases"][0]["labels"] = {}
        failed = {"name": "Quality", "error_message": "ValueError: no", "source": {"name": "Quality"}}
        report["cases"][0]["evaluator_failures"] = [failed]

    assert facts(attempts(changed(tmp_path, how))[0])[1:] == ("scored", "pass")


def test_the_only_evaluator_that_raised_broke_the_measurement():
    assert [facts(one) for one in attempts(SCORES)] == [
        ("completed", "scored", "pass"),
        ("completed", "scored", "number"),
        ("completed", "error", "none"),
        ("error", "not_run", "none"),
    ]


def test_scores_and_labels_have_no_bar():
    result = {check.name: (check.status, check.counts, check.value) for check in attempts(REPEATS)[0].checks}

    assert result["brevity"] == ("not_applicable", False, 1.0)
    assert result["tone"] == ("not_applicable", False, "rude")
    assert result["polite"] == ("fail", True, False)


def test_a_case_without_an_evaluator_is_not_measured(tmp_path):
    assert facts(with_checks(tmp_path, assertions={}, scores={}, labels={}))[1:] == ("not_run", "none")


def test_an_output_that_is_no_text_is_kept_as_it_is(tmp_path):
    output = with_checks(tmp_path, output={"answer": 4}).output

    assert (output.structured, output.text) == ({"answer": 4}, '{"answer":4}')


def test_the_model_is_named_by_the_experiment_or_by_the_cases():
    assert [run.subject.model for path in (SCORES, REPEATS) for run in runs(path)] == ["acme/nimbus-2", "mock"]


def test_a_report_evaluator_that_raised_is_told_of_the_run(tmp_path):
    failure = {"name": "Confusion", "error_message": "ValueError: no labels", "error_stacktrace": ""}
    (run,) = runs(changed(tmp_path, lambda report: report.update(report_evaluator_failures=[failure])))

    assert [one.quote for one in run.log_evidence] == ["Confusion: ValueError: no labels"]
