"""What is special about pytest-json-report: three stages, outcomes that hide them, and a plan left undone."""

import json
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, by_case, change, copy_of, facts, runs

from errata.compare.trials import Trials
from errata.model import Attempt

REPORT = FIXTURES / "pytest_json" / "report" / "data"
PASSED, FAILED = {"duration": 0.1, "outcome": "passed"}, {"duration": 0.1, "outcome": "failed"}


def report(folder: Path, *tests: Any, **others: Any) -> Path:
    path = folder / "report.json"
    given = {"created": 1794770546.3, "duration": 0.5, "exitcode": 1, "root": "/r/pt", "summary": {"total": len(tests)}}
    path.write_text(json.dumps(given | {"environment": {}, "collectors": []} | others | {"tests": list(tests)}))
    return path


def raising(message: str) -> dict[str, Any]:
    return FAILED | {"crash": {"path": "/r/pt/t.py", "lineno": 3, "message": message}}


def tried(outcome: str, **stages: Any) -> dict[str, Any]:
    return {"nodeid": "t.py::t", "outcome": outcome, "setup": PASSED, "call": PASSED, "teardown": PASSED} | stages


def only(path: Path) -> Attempt:
    (attempt,) = attempts(path)
    return attempt


def test_an_exception_in_the_body_measured_nothing_although_it_is_called_a_failure():
    broken = by_case(REPORT)["test_llm.py::test_infra"]

    assert (facts(broken), broken.native_status) == (("error", "not_run", "none"), "failed")
    assert (broken.errors[0].type, broken.errors[0].phase) == ("ConnectionError", "")


def test_a_fixture_that_breaks_is_an_error_of_the_setup():
    assert by_case(REPORT)["test_llm.py::test_setup_error"].errors[0].phase == "setup"


@pytest.mark.parametrize("message", ["assert 0", "Failed: too long", "AssertionError: no", "mod.MyAssertion"])
def test_what_is_checked_and_refused_is_a_measured_failure(message, tmp_path):
    assert facts(only(report(tmp_path, tried("failed", call=raising(message))))) == ("completed", "scored", "fail")


@pytest.mark.parametrize("raised", ["ConnectionError: reset", "assert 0"])
def test_what_was_expected_to_fail_and_did_is_nobodys_failure(raised, tmp_path):
    expected = only(report(tmp_path, tried("xfailed", call=raising(raised) | {"outcome": "skipped"})))

    assert (facts(expected), expected.reported_counted) == (("completed", "not_run", "none"), False)
    assert (expected.is_failure, expected.failed_checks) == (False, ())


def test_what_was_expected_to_fail_and_can_not_be_torn_down_is_an_error_of_its_surroundings(tmp_path):
    call = raising("assert 0") | {"outcome": "skipped"}
    broken = only(report(tmp_path, tried("xfailed", call=call, teardown=raising("OSError: busy"))))

    assert (facts(broken), [one.phase for one in broken.errors]) == (("error", "not_run", "none"), ["environment"])


def test_what_was_expected_to_fail_and_passed_is_a_pass(tmp_path):
    path = report(tmp_path, tried("xpassed"), summary={"xpassed": 1, "total": 1})

    assert (facts(only(path)), runs(path)[0].reported[0].value) == (("completed", "scored", "pass"), 1.0)


def test_a_teardown_that_breaks_leaves_a_pass_that_pytest_does_not_count(tmp_path):
    passed = only(report(tmp_path, tried("error", teardown=raising("OSError: busy"))))

    assert (facts(passed), passed.reported) == (("error", "scored", "pass"), 0.0)
    assert [(one.phase, one.recovered) for one in passed.errors] == [("environment", False)]


def test_a_teardown_that_breaks_after_a_failure_does_not_excuse_it(tmp_path):
    failed = only(report(tmp_path, tried("error", call=raising("assert 0"), teardown=raising("OSError: busy"))))

    assert (facts(failed), [one.recovered for one in failed.errors]) == (("completed", "scored", "fail"), [True])


def test_a_test_that_was_tried_again_goes_by_its_last_try(tmp_path):
    again = only(report(tmp_path, tried("rerun"), summary={"rerun": 1, "total": 1}))

    assert (facts(again), again.reported_counted) == (("completed", "scored", "pass"), False)


def test_a_test_that_has_no_body_was_not_finished(tmp_path):
    test = tried("passed")
    del test["call"]

    assert facts(only(report(tmp_path, test))) == ("unfinished", "not_run", "none")


def test_what_was_collected_and_never_run_is_missing(tmp_path):
    log = copy_of("pytest_json/report", tmp_path)
    summary = {"passed": 1, "failed": 1, "total": 2, "collected": 6}
    change(log / "report.json", lambda told: told | {"tests": told["tests"][:2], "summary": summary, "exitcode": 2})

    assert [one.execution for one in attempts(log)] == ["completed"] * 2 + ["missing"] * 4
    assert runs(log)[0].native_status == "interrupted"


def test_what_was_deselected_is_not_missing(tmp_path):
    planned = [{"nodeid": f"t.py::{name}", "type": "Function", "deselected": name == "b"} for name in "ab"]
    collectors = [{"nodeid": "t.py", "outcome": "passed", "result": planned}]
    summary = {"total": 0, "collected": 2, "deselected": 1}
    path = report(tmp_path, collectors=collectors, summary=summary)

    assert [one.case for one in attempts(path)] == ["pt/t.py::a"]
    assert runs(path)[0].expected_cases == 1


def test_a_file_that_can_not_be_collected_is_an_attempt_that_broke(tmp_path):
    shown = "ImportError while importing test module 't.py'.\nE   ModuleNotFoundError: No module named 'tides'"
    collectors = [{"nodeid": "t.py", "outcome": "failed", "result": [], "longrepr": shown}]
    broken = only(report(tmp_path, collectors=collectors))

    assert (facts(broken), broken.case) == (("error", "not_run", "none"), "pt/t.py")
    assert [(one.type, one.message, one.phase) for one in broken.errors] == [
        ("ModuleNotFoundError", "No module named 'tides'", "setup")
    ]


def test_log_records_are_read_as_lines(tmp_path):
    record = {"levelname": "INFO", "name": "root", "msg": "asked", "lineno": 3}
    one = only(report(tmp_path, tried("passed", call=PASSED | {"log": [record]})))

    assert [(artefact.path, artefact.text) for artefact in one.artefacts] == [("call.log.txt", "INFO root asked")]


def test_a_test_that_was_run_and_whose_row_is_gone_is_not_missing(tmp_path):
    plan = [{"nodeid": "t.py", "outcome": "passed", "result": [{"nodeid": f"t.py::{one}"} for one in "tu"]}]
    path = report(tmp_path, tried("passed"), summary={"passed": 2, "total": 2, "collected": 2}, collectors=plan)
    trials = Trials(runs(path)[0], attempts(path))

    assert (len(trials.rows), trials.not_in_log, trials.absent) == (1, 1, 0)
