"""Tests that are expected to fail, as three reports of one and the same run of pytest tell of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from changed_logs import attempts, facts, runs

from errata.compare.policies import scores_of
from errata.compare.trials import Trials
from errata.model import Attempt

XFAILED = ("completed", "not_run", "none")
STRICT = "[XPASS(strict)] known gap"
TOLD = {
    "passed": ("completed", "scored", "pass"),
    "xfailed": XFAILED,
    "broken": XFAILED,
    "not_tried": ("skipped", "not_run", "none"),
    "xpassed": ("completed", "scored", "pass"),
    "strict": ("completed", "scored", "fail"),
}


def junit(folder: Path) -> Path:
    def expected(message: str) -> str:
        return f'<skipped type="pytest.xfail" message="{message}"/>'

    inner = {
        "passed": "",
        "xfailed": expected("known gap"),
        "broken": expected("flaky upstream"),
        "not_tried": expected("[NOTRUN] known gap"),
        "xpassed": "",
        "strict": f'<failure message="{STRICT}">{STRICT}</failure>',
    }
    tests = "".join(f'<testcase classname="t" name="{name}">{result}</testcase>' for name, result in inner.items())
    path = folder / "report.xml"
    path.write_text(f'<testsuite name="pytest" tests="6" failures="1" errors="0" skipped="3">{tests}</testsuite>')
    return path


def pytest_json(folder: Path) -> Path:
    def a_test(name: str, outcome: str, called: str, raised: str = "", **stages: Any) -> dict[str, Any]:
        crash = {"crash": {"path": "/r/t.py", "lineno": 3, "message": raised}} if raised else {}
        passed = {"duration": 0.1, "outcome": "passed"}
        made = {"setup": passed, "call": {"duration": 0.1, "outcome": called} | crash, "teardown": passed} | stages
        return {"nodeid": f"t.py::{name}", "outcome": outcome} | made

    tests = [
        a_test("passed", "passed", "passed"),
        a_test("xfailed", "xfailed", "skipped", "assert 0"),
        a_test("broken", "xfailed", "skipped", "ConnectionError: reset"),
        a_test("not_tried", "xfailed", "", setup={"duration": 0.1, "outcome": "skipped"}, call=None),
        a_test("xpassed", "xpassed", "passed"),
        a_test("strict", "failed", "failed"),
    ]
    tests[-1]["call"]["longrepr"] = STRICT
    summary = {"passed": 1, "xfailed": 3, "xpassed": 1, "failed": 1, "total": 6, "collected": 6}
    given = {"created": 1794770546.3, "duration": 0.5, "exitcode": 1, "root": "/r", "environment": {}, "collectors": []}
    path = folder / "report.json"
    path.write_text(json.dumps(given | {"summary": summary, "tests": tests}))
    return path


def allure(folder: Path) -> Path:
    result = {
        "passed": ("passed", ""),
        "xfailed": ("skipped", "XFAIL known gap\n\nAssertionError: assert 0"),
        "broken": ("skipped", "XFAIL flaky upstream\n\nConnectionError: reset"),
        "not_tried": ("skipped", "XFAIL reason: [NOTRUN] known gap"),
        "xpassed": ("passed", "XPASS known gap"),
        "strict": ("failed", STRICT),
    }
    for name, (status, message) in result.items():
        given = {"uuid": name, "name": name, "fullName": f"t#{name}", "start": 1, "stop": 2, "status": status}
        (folder / f"{name}-result.json").write_text(json.dumps(given | {"statusDetails": {"message": message}}))
    return folder


REPORTS = pytest.mark.parametrize("report", [junit, pytest_json, allure])


def by_name(path: Path) -> dict[str, Attempt]:
    return {one.case.rpartition("#")[2].rpartition(":")[2].rpartition(".")[2]: one for one in attempts(path)}


@REPORTS
def test_each_report_tells_the_same(report, tmp_path):
    found = by_name(report(tmp_path))

    assert {name: facts(one) for name, one in found.items()} == TOLD
    assert {name for name, one in found.items() if one.is_failure} == {"strict"}
    assert (found["xfailed"].native_status, found["strict"].native_status) == ("xfailed", "xpassed (strict)")


@REPORTS
def test_what_failed_as_expected_says_nothing_in_clean_and_is_none_that_passed_of_all(report, tmp_path):
    path = report(tmp_path)
    scores = scores_of(Trials(runs(path)[0], attempts(path)))

    assert [(scores[policy].passed, scores[policy].total) for policy in ("strict", "clean")] == [(2, 6), (2, 3)]
    assert {group.why: group.count for group in scores["clean"].groups} == {"not scored": 2, "skipped": 1}


@pytest.mark.parametrize("report", [junit, pytest_json])
def test_pytest_counts_it_neither_as_passed_nor_as_failed(report, tmp_path):
    path = report(tmp_path)
    score = scores_of(Trials(runs(path)[0], attempts(path)))["as_reported"]

    assert (score.passed, score.total, score.reproduced) == (2, 3, True)


def test_a_report_of_allure_counts_it_among_all(tmp_path):
    path = allure(tmp_path)
    score = scores_of(Trials(runs(path)[0], attempts(path)))["as_reported"]

    assert (score.passed, score.total) == (2, 6)


def without_the_first(path: Path) -> None:
    if path.suffix == ".xml":
        path.write_text(path.read_text().replace('<testcase classname="t" name="passed"></testcase>', ""))
        return
    given = json.loads(path.read_text())
    path.write_text(json.dumps(given | {"tests": given["tests"][1:]}))


@pytest.mark.parametrize("report", [junit, pytest_json])
def test_a_row_that_was_taken_out_beside_it_is_known_to_be_measured(report, tmp_path):
    path = report(tmp_path)
    without_the_first(path)
    trials = Trials(runs(path)[0], attempts(path))

    assert (trials.not_in_log, trials.absent) == (1, 0)
