"""Rows and exports in promptfoo's own form, for tests: only what matters to the test needs to be said."""

import json
from pathlib import Path
from typing import Any

from errata.model import Attempt, Case, Item, Run
from errata.sources import promptfoo


def a_row(**changes: Any) -> dict[str, Any]:
    """A row that passed."""
    row: dict[str, Any] = {
        "id": "8c0f",
        "testIdx": 0,
        "promptIdx": 0,
        "promptId": "a1",
        "provider": {"id": "openai:chat:gpt-4o", "label": ""},
        "prompt": {"raw": "Say hello", "label": "hello"},
        "vars": {"q": "hello"},
        "testCase": {"vars": {"q": "hello"}, "assert": [{"type": "contains", "value": "hello"}]},
        "response": {"output": "hello"},
        "success": True,
        "score": 1,
        "failureReason": 0,
        "gradingResult": {
            "pass": True,
            "score": 1,
            "reason": "All assertions passed",
            "componentResults": [a_component()],
        },
        "namedScores": {},
        "latencyMs": 1500,
    }
    return row | changes


def a_failed_row(*components: dict[str, Any], **changes: Any) -> dict[str, Any]:
    reason = components[0]["reason"] if components else "Expected output to contain"
    grading = {"pass": False, "score": 0, "reason": reason, "componentResults": list(components)}
    return a_row(success=False, score=0, failureReason=1, error=reason, gradingResult=grading) | changes


def an_error_row(error: str, **changes: Any) -> dict[str, Any]:
    row = a_row(success=False, score=0, failureReason=2, error=error, gradingResult=None)
    del row["response"]
    return row | changes


def a_component(**changes: Any) -> dict[str, Any]:
    """A result of an assertion that held."""
    result = {
        "pass": True,
        "score": 1,
        "reason": "Assertion passed",
        "assertion": {"type": "contains", "value": "hello"},
    }
    return result | changes


def an_export(rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    passed = sum(row["success"] is True for row in rows)
    errors = sum(row["failureReason"] == 2 for row in rows)
    failed = len(rows) - passed - errors
    metrics = {"testPassCount": passed, "testFailCount": failed, "testErrorCount": errors}
    prompts = [{"raw": "Say {{q}}", "label": "hello", "id": "a1", "provider": "openai:chat:gpt-4o", "metrics": metrics}]
    return {
        "evalId": "eval-abc-2026-01-02T03:04:05",
        "results": {
            "version": 3,
            "timestamp": "2026-01-02T03:04:05.000Z",
            "prompts": prompts,
            "results": rows,
            "stats": {"successes": passed, "failures": failed, "errors": errors},
        },
        "config": {"description": "greetings", "providers": ["openai:chat:gpt-4o"], "prompts": ["Say {{q}}"]},
        "shareableUrl": None,
    } | changes


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_rows(folder: Path, *rows: dict[str, Any], **changes: Any) -> list[Item]:
    return list(promptfoo.read(written(folder / "results.json", an_export(list(rows), **changes))))


def read_one(folder: Path, row: dict[str, Any], **changes: Any) -> Attempt:
    (attempt,) = attempts_in(read_rows(folder, row, **changes))
    return attempt


def runs_in(items: list[Item]) -> list[Run]:
    return [item for item in items if isinstance(item, Run)]


def cases_in(items: list[Item]) -> list[Case]:
    return [item for item in items if isinstance(item, Case)]


def attempts_in(items: list[Item]) -> list[Attempt]:
    return [item for item in items if isinstance(item, Attempt)]


def facts(attempt: Attempt) -> tuple[str, str, str]:
    return (attempt.execution, attempt.measurement, attempt.outcome)
