"""Answers that are the body of a failed request, and answers that only look like one."""

import json

import pytest

from errata.text import error_body as module
from errata.text.error_body import LONGEST, error_body


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}', None),
        ('{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', None),
        ('{"detail": "Invalid input", "status": 422, "requestId": "b1946ac9"}', 422),
        ('{"detail": [{"loc": ["body", "prompt"], "msg": "field required", "type": "value_error.missing"}]}', None),
        ('{"detail": "Not Found"}', None),
        ('{"error": {"message": "Internal Server Error", "code": 500, "metadata": {}}, "user_id": "org_2k"}', 500),
        ('{"statusCode": 404, "message": "No such route", "error": "Not Found"}', 404),
        ("<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>", 502),
        ("<!DOCTYPE html><html><head><title>Service Unavailable</title></head></html>", None),
        ("HTTP/1.1 503 Service Unavailable", 503),
        ("Internal Server Error", None),
        ("upstream connect error or disconnect/reset before headers", None),
    ],
)
def test_the_body_of_a_failed_request_is_known(text, status):
    found = error_body(text)

    assert found is not None
    assert found.status == status


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "error": null, "age": 36}',
        '{"error": "none found", "invoices": [1, 2]}',
        '{"detail": "The invoice is due on Friday"}',
        '{"status": 200, "message": "ok"}',
        '{"answer": 404}',
        "404",
        "The server answers 404 Not Found if the page is missing.",
        "<html><head><title>My shop</title></head><body>404 products</body></html>",
        "I get an Internal Server Error when I call the endpoint.",
        json.dumps({"code": 7, "message": "seven"}),
        "{not json}",
        "",
    ],
)
def test_an_answer_that_speaks_of_errors_is_an_answer(text):
    assert error_body(text) is None


def test_only_texts_in_the_form_of_an_object_are_kept(monkeypatch):
    parsed = []
    monkeypatch.setattr(module.json, "loads", lambda text: parsed.append(text) or {})
    long = '{"error": "' + "x" * LONGEST + '"}'
    short = '{"error": "an error that only this test has"}'

    assert [error_body(text) for text in (long, "An answer", short, f" {short}\n", short)] == [None] * 5
    assert parsed == [short]
    assert not hasattr(error_body, "cache_info")
