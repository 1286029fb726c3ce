"""What test runners count, recomputed from their tests: by the standard library alone what they state."""

import json
from xml.etree import ElementTree

import pytest
from test_reported_numbers import data, named, recomputed, value_of

COUNTS = ("tests", "failures", "errors", "skipped")


@pytest.mark.parametrize("path", data("junit"), ids=named)
def test_the_counts_of_a_junit_report(path):
    for file, run, score in recomputed(path):
        suites = ElementTree.parse(file).getroot().findall("testsuite")
        (suite,) = [one for one in suites if one.get("name") == run.name]
        tests, failures, errors, skipped = (int(suite.get(key, 0)) for key in COUNTS)
        stated = (tests - failures - errors - skipped) / (tests - skipped)

        assert (value_of(score), score["reproduced"]) == (stated, True)


@pytest.mark.parametrize("path", data("pytest_json"), ids=named)
def test_the_summary_of_pytest_json_report(path):
    for file, _, score in recomputed(path):
        result = json.loads(file.read_text())["summary"]
        made = result["passed"] + result["failed"] + result["error"]

        assert (value_of(score), score["reproduced"]) == (result["passed"] / made, True)


@pytest.mark.parametrize("path", data("allure"), ids=named)
def test_how_many_of_all_results_of_allure_are_passed(path):
    for folder, _, score in recomputed(path):
        row = [json.loads(file.read_text())["status"] for file in folder.glob("*-result.json")]

        assert value_of(score) == row.count("passed") / len(row)
