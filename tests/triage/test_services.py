"""Services that do not answer the tests: those that a task provides, and those that the subject had to start."""

import pytest
from tests.triage.test_demands import attributed, with_log

from errata.model import Check
from errata.triage.task_evidence import evidence_against
from errata.triage.verifiers import provided_hosts, unreachable

SHEETS = "Create a spreadsheet. The API is available at http://api:8000. See http://api:8000/docs/json."
FIBONACCI = "Create and run a server on port 3000 that has a single GET endpoint: /fib."


def test_a_provided_service_behind_a_dead_gateway_is_the_environments():
    found = attributed(with_log("v3.simple-sheets-put"), SHEETS)

    assert (found.owner, found.confidence, found.decided_by) == ("environment", "likely", "service_down")
    assert found.also == ("task",)
    assert "assert 502 == 200" in found.signals[0].quote


@pytest.mark.parametrize(
    "task",
    [
        FIBONACCI,
        "Serve the page at http://localhost:8080. The API of http://api:8000 is an example.",
        "Write a client as https://docs.example.com/api explains, and run it.",
    ],
)
def test_the_same_answer_of_a_server_that_the_subject_runs_is_the_models(task):
    assert attributed(with_log("v3.simple-sheets-put"), task).owner == "model"


@pytest.mark.parametrize("name", ["gpt5.fibonacci-server", "c4.nginx-request-logging", "gpt5.raman-fitting.easy"])
def test_other_failures_of_a_task_with_a_service_stay_where_they_are(name):
    assert attributed(with_log(name), SHEETS).decided_by != "service_down"


def test_only_addresses_beside_the_task_are_provided():
    assert provided_hosts(SHEETS) == {"api"}
    assert provided_hosts("clone https://server:8080/repo and read https://www.example.com") == {"server"}
    assert provided_hosts("run it on 127.0.0.1 with http://api:8000") == frozenset()


def test_an_address_that_no_test_reaches_is_evidence_once_subjects_share_it():
    attempt = with_log("gpt5.fibonacci-server")
    attempts = {f"subject {number}": attempt for number in range(4)}

    assert list(unreachable(attempt)) == ["localhost:3000"]
    (evidence,) = [one for one in evidence_against({}, attempts, None) if one.kind == "unreachable"]
    assert (evidence.strength, evidence.subjects, evidence.failed) == ("weak", 4, 4)


def test_where_a_test_passed_or_failed_otherwise_the_server_was_reached():
    passed = Check(name="test_server_running", kind="tests", status="pass")

    assert unreachable(with_log("gpt5.fibonacci-server", passed)) == {}
    assert unreachable(with_log("c4.nginx-request-logging")) == {}
