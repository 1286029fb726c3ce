"""Whether the prompt was delivered, and whether an answer came back."""

import pytest

from errata.model import Output, Usage, UsageByRole
from errata.model.delivery import failed_response, undelivered
from errata.testing import an_attempt

VARIABLES = {"niche": "compliance for small practices", "snippets": "We paid a fine of $47,000."}
TEMPLATE = "Score {{niche}} by these: {{ snippets }}"


@pytest.mark.req("B-11")
@pytest.mark.parametrize(
    ("sent", "template", "fault"),
    [
        ("", "", "empty"),
        (" \n", "", "empty"),
        ("file://prompts/scorer.txt", "", "reference"),
        ("prompts/scorer_v1.yaml", "", "reference"),
        ("scorer_v1", "scorer_v1", "reference"),
        ("Score {{niche}} by these: We paid a fine of $47,000.", TEMPLATE, "unresolved"),
        ("Score {niche} now", "", "unresolved"),
        ("Score  by these: ", TEMPLATE, "without_variables"),
    ],
)
def test_a_text_that_is_no_prompt_is_known(sent, template, fault):
    found = undelivered(sent, VARIABLES, template)

    assert found is not None
    assert found.fault == fault


@pytest.mark.parametrize(
    ("sent", "variables", "template"),
    [
        ("Score compliance for small practices by these: We paid a fine of $47,000.", VARIABLES, TEMPLATE),
        ("hello", {}, "hello"),
        ("Hello!", VARIABLES, ""),
        ("greeting_v1", {}, ""),
        ("utf_8", {"word": "utf_8"}, "{{word}}"),
        ("config.yaml", {"file": "config.yaml"}, "{{file}}"),
        ("Explain {{ user }} in Jinja.", {"question": "Explain {{ user }} in Jinja.", "user": "x1y"}, "{{question}}"),
        ("Write f'{name}' in Python", {"niche": "a text"}, ""),
        ("SCORE COMPLIANCE", {"niche": "compliance"}, "{{ niche | upper }}"),
        ('[{"role": "user", "content": "Say \\"hi there\\""}]', {"text": 'Say "hi there"'}, "[{{text}}]"),
        ("A long task", {"attachment": "file://long.txt"}, "{{attachment}}"),
    ],
)
def test_a_text_that_may_be_the_prompt_is_left_alone(sent, variables, template):
    assert undelivered(sent, variables, template) is None


BODY = '{"detail": "Invalid input", "status": 422}'
SPENT = UsageByRole(subject=Usage(input=10, output=12))


def test_a_recorded_status_shows_that_the_request_failed():
    assert failed_response(an_attempt(http_status=422, output=Output(text="anything"))) is not None
    assert failed_response(an_attempt(http_status=200, output=Output(text=BODY))) is None


def test_a_body_is_an_error_unless_it_cost_tokens():
    assert failed_response(an_attempt(output=Output(text=BODY))) is not None
    assert failed_response(an_attempt(output=Output(text=BODY), usage=SPENT)) is None


def test_an_untyped_error_counts_only_where_no_token_was_spent():
    text = Output(text='{"error": "no such model"}')

    assert failed_response(an_attempt(output=text)) is None
    assert failed_response(an_attempt(output=text, usage=UsageByRole(subject=Usage(total=0)))) is not None
