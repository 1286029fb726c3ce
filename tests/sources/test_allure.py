"""What is special about Allure: broken is told from failed, fixtures lie elsewhere, and retries share a history."""

import json
from pathlib import Path
from typing import Any

import pytest
from changed_logs import FIXTURES, attempts, by_case, cases, facts, items

from errata.model import Attempt

RESULTS = FIXTURES / "allure" / "pytest" / "data"
REPORT = FIXTURES / "pytest_json" / "report" / "data"


def result(folder: Path, uuid: str = "a", **changes: Any) -> dict[str, Any]:
    given = {"uuid": uuid, "name": "t", "fullName": "m#t", "status": "passed", "start": 1_000, "stop": 3_000} | changes
    (folder / f"{uuid}-result.json").write_text(json.dumps(given))
    return given


def container(folder: Path, **given: Any) -> None:
    (folder / "c-container.json").write_text(json.dumps({"uuid": "c", "children": ["a"]} | given))


def only(path: Path) -> Attempt:
    (attempt,) = attempts(path)
    return attempt


def test_the_same_run_has_the_same_facts_as_in_the_report_of_pytest():
    assert sorted(map(facts, attempts(RESULTS))) == sorted(map(facts, attempts(REPORT)))


def test_what_is_broken_measured_nothing():
    broken = by_case(RESULTS)["test_llm#test_infra"]

    assert (facts(broken), broken.native_status) == (("error", "not_run", "none"), "broken")
    assert [(one.type, one.message, one.phase) for one in broken.errors] == [
        ("ConnectionError", "503 upstream overloaded", "")
    ]


def test_a_fixture_in_a_container_places_the_error_in_the_setup():
    assert [one.phase for one in by_case(RESULTS)["test_llm#test_setup_error"].errors] == ["setup"]


def test_an_assertion_in_a_fixture_measured_nothing(tmp_path):
    result(tmp_path, status="failed", statusDetails={"message": "AssertionError: no data"})
    container(tmp_path, befores=[{"name": "data", "status": "failed"}])

    assert facts(only(tmp_path)) == ("error", "not_run", "none")


def test_what_breaks_afterwards_is_an_error_beside_the_pass(tmp_path):
    result(tmp_path)
    container(tmp_path, afters=[{"name": "down", "status": "broken", "statusDetails": {"message": "OSError: busy"}}])
    passed = only(tmp_path)

    assert (passed.outcome, [(one.message, one.phase) for one in passed.errors]) == ("pass", [("busy", "environment")])


def test_the_latest_result_of_a_history_counts_and_the_others_are_superseded(tmp_path):
    result(tmp_path, "a", historyId="h", start=2_000)
    result(tmp_path, "b", historyId="h", start=1_000, status="broken")
    first, last = attempts(tmp_path)

    assert (first.native_id, first.superseded_by, first.reported_counted) == ("b", last.id, False)
    assert (last.native_id, last.index, last.counted) == ("a", 2, True)


def test_two_tests_of_one_name_with_histories_of_their_own_both_count(tmp_path):
    result(tmp_path, "a", historyId="h1")
    result(tmp_path, "b", historyId="h2")

    assert [(one.index, one.counted) for one in attempts(tmp_path)] == [(1, True), (2, True)]


def test_parameters_tell_tests_of_one_full_name_apart_and_are_what_was_asked():
    asked = cases(RESULTS)["test_llm#test_answer[q='capital', a='Canberra']"]

    assert asked.input == {"q": "'capital'", "a": "'Canberra'"}


def test_a_hidden_parameter_stays_hidden(tmp_path):
    result(tmp_path, parameters=[{"name": "key", "value": "s3cret", "mode": "masked"}])

    assert "s3cret" not in repr(items(tmp_path))


def test_attachments_are_read_with_the_test_and_its_steps(tmp_path):
    (tmp_path / "x.txt").write_text("asked")
    inner = {
        "name": "ask",
        "status": "passed",
        "attachments": [{"name": "log", "source": "x.txt", "type": "text/plain"}],
    }
    result(tmp_path, steps=[{"name": "outer", "status": "passed", "steps": [inner]}])
    one = only(tmp_path)

    assert [(artefact.path, artefact.text) for artefact in one.artefacts] == [("x.txt", "asked")]
    assert [(step.text, step.parent) for step in one.steps] == [("outer", None), ("ask", 0)]


def test_an_attachment_never_leads_out_of_the_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("do not tell")
    (tmp_path / "in").mkdir()
    result(tmp_path / "in", attachments=[{"name": "n", "source": "../secret.txt", "type": "text/plain"}])

    assert "do not tell" not in repr(items(tmp_path / "in"))
    assert only(tmp_path / "in").artefacts[0].extra["missing"] is True


def test_a_link_in_the_folder_is_not_followed(tmp_path):
    (tmp_path / "secret.txt").write_text("do not tell")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.txt").symlink_to(tmp_path / "secret.txt")
    result(tmp_path / "in", attachments=[{"name": "n", "source": "x.txt", "type": "text/plain"}])

    assert "do not tell" not in repr(items(tmp_path / "in"))


@pytest.mark.parametrize(
    ("status", "stop", "told"),
    [
        ("skipped", 3_000, ("skipped", "not_run", "none")),
        ("unknown", 3_000, ("completed", "unscored", "none")),
        (None, None, ("unfinished", "not_run", "none")),
    ],
)
def test_a_result_without_a_verdict(status, stop, told, tmp_path):
    result(tmp_path, status=status, stop=stop)

    assert facts(only(tmp_path)) == told


@pytest.mark.parametrize("raised", ["ConnectionError: reset", "AssertionError: no"])
def test_what_was_expected_to_fail_and_did_is_nobodys_failure(raised, tmp_path):
    result(tmp_path, status="skipped", statusDetails={"message": f"XFAIL later\n\n{raised}"})
    one = only(tmp_path)

    assert (facts(one), one.native_status, one.native_reason) == (("completed", "not_run", "none"), "xfailed", "later")
    assert not any(check.failed for check in one.checks)


def test_what_was_expected_to_fail_and_not_even_tried_is_skipped(tmp_path):
    result(tmp_path, status="skipped", statusDetails={"message": "XFAIL [NOTRUN] later"})

    assert facts(only(tmp_path)) == ("skipped", "not_run", "none")


def test_one_result_is_read_alone(tmp_path):
    result(tmp_path, "a")
    result(tmp_path, "b")

    assert len(attempts(tmp_path / "a-result.json")) == 1
