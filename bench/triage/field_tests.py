"""Evaluations that are tests, for the part `field`: JUnit XML, pytest-json-report and Allure."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bench.triage.log_content import LogContent, harness, joined
from bench.triage.logs import Target, changed

PLACES = ("call", "cell", "mid_call", "world", "test_output", "check_text", "test_name",
          "case_input", "expected", "answer")  # fmt: skip
ASKED = ("/home/user/demo/test_tides.py", 12)


def _raised(content: LogContent) -> tuple[str, str]:
    """What pytest calls the message, and its long form."""
    answer, expected = content.answer, content.expected
    line = f"AssertionError: assert {answer!r} == {expected!r}\n  \n  - {expected}\n  + {answer}"
    if content.reason:
        line = f"AssertionError: {content.reason.removeprefix('AssertionError: ')}"
    if thrown := content.thrown or content.broken:
        line = thrown.line
    kind = line.partition(":")[0]
    shown = "\n".join(f"E   {part}" for part in line.splitlines())
    source = f"    def test_tide():\n        # {content.question}\n>       check(answer())"
    return line, f"{source}\n{shown}\n\ntest_tides.py:12: {kind}"


def junit(root: Path, content: LogContent) -> Target:
    document = ElementTree.parse(root)
    test = next(test for test in document.iter("testcase") if "capital" in test.attrib["name"])
    message, shown = _raised(content)
    test.attrib["name"] = content.case
    failure = test.find("failure")
    assert failure is not None
    failure.attrib["message"], failure.text = message, shown
    document.write(root, encoding="utf-8")
    return Target(f"test_llm.{content.case}")


def junit_setup(root: Path, content: LogContent) -> Target:
    document = ElementTree.parse(root)
    error = next(document.iter("error"))
    message, shown = _raised(content)
    error.attrib["message"], error.text = f'failed on setup with "{message}"', shown
    document.write(root, encoding="utf-8")
    return Target("test_llm.test_setup_error")


def pytest_json(root: Path, content: LogContent) -> Target:
    with changed(root) as report:
        test = next(test for test in report["tests"] if "capital" in test["nodeid"])
        test["nodeid"] = f"test_llm.py::{content.case}"
        _stage(test["call"], content)
    return Target(f"test_llm.py::{content.case}")


def pytest_json_setup(root: Path, content: LogContent) -> Target:
    with changed(root) as report:
        test = next(test for test in report["tests"] if test["outcome"] == "error")
        _stage(test["setup"], content)
    return Target("test_llm.py::test_setup_error")


def _stage(stage: dict[str, Any], content: LogContent) -> None:
    message, shown = _raised(content)
    stage["crash"] = {"path": ASKED[0], "lineno": ASKED[1], "message": message}
    stage.update(longrepr=shown, stdout=content.question)


def allure(root: Path, content: LogContent) -> Target:
    """A test that raises is broken, one that asserts is failed."""
    status = "broken" if content.thrown or content.broken else "failed"
    path, result = _result(root, "test_answer", "failed")
    message, shown = _raised(content)
    result.update(
        status=status, statusDetails={"message": message, "trace": shown}, fullName=f"test_llm#{content.case}"
    )
    result.update(name=content.case, parameters=[])
    path.write_text(json.dumps(result), encoding="utf-8")
    return Target(f"test_llm#{content.case}")


def allure_setup(root: Path, content: LogContent) -> Target:
    path, result = _result(root, "test_setup_error", "broken")
    message, shown = _raised(content)
    result["statusDetails"] = {"message": message, "trace": shown}
    path.write_text(json.dumps(result), encoding="utf-8")
    return Target("test_llm#test_setup_error")


def _result(root: Path, name: str, status: str) -> tuple[Path, dict[str, Any]]:
    for path in sorted(root.glob("*-result.json")):
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if result["name"].startswith(name) and result["status"] == status:
            return path, result
    raise LookupError(name)


FIELD = tuple(
    joined(harness(name, fixture, write, *PLACES, twin=twin), harness(name, fixture, setup, "setup"))
    for name, fixture, write, setup, twin in (
        ("junit", "junit/pytest", junit, junit_setup, "test_llm.test_answer[capital-Canberra]"),
        (
            "pytest-json",
            "pytest_json/report",
            pytest_json,
            pytest_json_setup,
            "test_llm.py::test_answer[capital-Canberra]",
        ),
        ("allure", "allure/pytest", allure, allure_setup, "test_llm#test_answer[q='capital', a='Canberra']"),
    )
)
