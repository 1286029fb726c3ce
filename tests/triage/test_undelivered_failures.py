"""Failures without a question or without an answer: whose they are."""

import pytest

from errata.model import Artefact, Case, Check, Output, Undelivered, Usage, UsageByRole
from errata.testing import an_attempt
from errata.triage import attribute, facts

BODY = '{"detail": "Invalid input", "status": 422}'


def a_case(task="Name the capital of Australia.", expected=None):
    return Case(run="0" * 16, suite="suite", native_id="case", input=task, expected=expected)


def owner_of(attempt, case=None):
    found = attribute(attempt, facts.observe(attempt, case or a_case()))
    return found.owner, found.confidence, found.decided_by


def failed(**changes):
    return an_attempt(outcome="fail", checks=(Check(name="equals", status="fail", explanation="not equal"),), **changes)


def test_a_prompt_that_was_not_delivered_is_the_tasks():
    attempt = failed(undelivered=Undelivered(fault="reference", sent="greeting_v1"), output=Output(text="What is it?"))

    assert owner_of(attempt) == ("task", "likely", "prompt_not_delivered")


def test_a_task_that_is_only_a_files_name_was_not_delivered():
    assert owner_of(failed(), a_case("file://prompts/greeting.txt"))[2] == "prompt_not_delivered"


@pytest.mark.parametrize("task", ["Read file://notes.txt and sum it up.", "notes.txt", "hello", "Is a/b.txt a path?"])
def test_a_task_that_names_a_file_is_a_task(task):
    assert owner_of(failed(output=Output(text="Sydney")), a_case(task))[0] == "model"


@pytest.mark.parametrize(
    ("status", "owner"), [(429, "provider"), (503, "provider"), (401, "provider"), (422, "unknown"), (404, "unknown")]
)
def test_an_error_body_is_never_the_models(status, owner):
    attempt = failed(http_status=status, output=Output(text='{"error": "refused"}'))

    assert owner_of(attempt) == (owner, "likely", "error_body")


def test_a_body_without_a_recorded_status_is_known_where_no_token_was_spent():
    spent = UsageByRole(subject=Usage(input=0, output=0))

    assert owner_of(failed(output=Output(text=BODY), usage=spent))[2] == "error_body"


def test_a_request_that_was_sent_but_brought_no_token_back_is_no_answer():
    sent, wrote = (UsageByRole(subject=Usage(input=6218, output=output)) for output in (0, 40))
    raw = Artefact(role="output", path="raw_model_response.md", text=BODY)

    assert owner_of(failed(output=Output(text=BODY), usage=sent, artefacts=(raw,)))[2] == "error_body"
    assert owner_of(failed(output=Output(text=BODY), usage=wrote))[0] == "model"


def test_without_a_status_and_a_count_of_tokens_the_model_may_have_written_it():
    assert owner_of(failed(output=Output(text=BODY)))[0] == "model"


@pytest.mark.parametrize("task", ["Answer with the JSON that the API sends.", "Which HTTP status is it?"])
def test_a_body_that_the_task_asks_for_is_an_answer(task):
    assert owner_of(failed(output=Output(text=BODY)), a_case(task))[0] == "model"


def test_a_status_that_the_test_expects_is_an_answer():
    attempt = failed(http_status=403, output=Output(text="Forbidden"))

    assert owner_of(attempt, a_case(expected="the request is refused with 403"))[0] == "model"
