"""One evaluation in several files: the fullest is read, and the others are named."""

import json
import re
import shutil
from pathlib import Path

import pytest
from changed_logs import FIXTURES, change

from errata import sources
from errata.sources.overlapping_files import PassedOver

PYTEST = ("allure/pytest", "junit/pytest", "pytest_json/report")


def folder(to: Path, *names: str) -> Path:
    for name in names:
        shutil.copytree(FIXTURES / name / "data", to, dirs_exist_ok=True)
    return to


def rows_of(document: Path) -> Path:
    """The rows of an export as promptfoo writes them, one a line."""
    rows = json.loads(document.read_text())["results"]["results"]
    lines = document.with_suffix(".jsonl")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return lines


def found_in(path: Path) -> tuple[list[str], set[tuple[str, str]]]:
    found, over, _ = sources.look(path)
    return [one.path.name for one in found], {(one.path.name, one.instead.name) for one in over}


def test_one_run_of_pytest_in_three_forms_is_one_run(tmp_path):
    found, over = found_in(folder(tmp_path, *PYTEST))

    assert found == ["report.json"]
    assert over == {("allure-results", "report.json"), ("junit.xml", "report.json")}


def test_a_form_that_is_named_is_read_whatever_lies_beside_it(tmp_path):
    path = folder(tmp_path, *PYTEST) / "junit.xml"

    assert sources.look(path)[1] == []
    assert [one.path for one in sources.find(path)] == [path]


@pytest.mark.parametrize(
    ("old", "new"), [('name="test_skip"', 'name="test_other"'), ("2026-11-15T19", "2026-11-15T22")]
)
def test_other_tests_or_another_time_are_another_run(old, new, tmp_path):
    log = folder(tmp_path, "junit/pytest", "pytest_json/report")
    (log / "junit.xml").write_text((log / "junit.xml").read_text().replace(old, new))

    assert found_in(log) == (["junit.xml", "report.json"], set())


def test_another_outcome_is_another_run(tmp_path):
    log = folder(tmp_path, "junit/pytest", "pytest_json/report")
    change(log / "report.json", lambda told: told["tests"][0].update(outcome="failed", call={"outcome": "failed"}))

    assert len(sources.find(log)) == 2


def test_rows_of_promptfoo_beside_their_document_are_passed_over(tmp_path):
    log = folder(tmp_path, "promptfoo/export")
    lines = rows_of(log / "results.json")

    assert sources.look(log)[1] == [PassedOver(lines, log / "results.json")]


def test_rows_of_promptfoo_that_the_document_does_not_have_are_read(tmp_path):
    log = folder(tmp_path, "promptfoo/export")
    lines = rows_of(log / "results.json")
    lines.write_text(lines.read_text().replace('"id": "', '"id": "f', 1))

    assert len(sources.find(log)) == 2


def test_a_report_of_promptfoo_beside_its_document_is_passed_over(tmp_path):
    log = folder(tmp_path, "promptfoo/export", "junit/promptfoo")
    report = (log / "results.xml").read_text()
    # the fixture was trimmed to one of two prompts
    columns = "".join(re.findall(r"<testsuite .*?</testsuite>", report, re.DOTALL))
    whole = report.replace("</testsuites>", columns.replace("prompt 1", "prompt 2") + "</testsuites>")
    (log / "results.xml").write_text(whole)

    assert found_in(log) == (["results.json"], {("results.xml", "results.json")})
