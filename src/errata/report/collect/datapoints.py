"""One failed row as it stands in the log: input, output, calls with what came back, the judge's words."""

import json
from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case
from errata.model.step import Step, ToolCall
from errata.report.collect.comparison_rows import Compared, Row
from errata.report.facts.comparison import Call, Datapoint
from errata.report.washing import short_line
from errata.store.attempts import attempts_of, case_of
from errata.store.database import Store

CALL = 160


def datapoint(row: Row, run: Compared, store: Store) -> Datapoint:
    tries = attempts_of(store, run.stored.pk, case=row.attempt.case, steps=True)
    whole = next((one for one in tries if one.id == row.attempt.id), row.attempt)
    found = run.said.get(row.attempt.id)
    verdict = found.standing.verdict if found is not None else None
    return Datapoint(
        run=run.label,
        case=row.name,
        input=asked_in(case_of(store, run.stored.pk, row.attempt.case), whole),
        output=whole.output.text or whole.output.answer or "",
        calls=tuple(calls_in(whole)),
        judge=next((one.reasoning for one in whole.objections or whole.judgements if one.reasoning), "")
        or _explained(whole),
        failed=row.failed,
        read=verdict is not None,
        cause=verdict.cause if verdict is not None else "",
        consequences=verdict.consequences if verdict is not None else (),
    )


def asked_in(case: Case | None, attempt: Attempt | None = None) -> str:
    """As the benchmark has it; else as it was recorded."""
    if case is not None and isinstance(case.input, str) and case.input:
        return case.input
    steps = attempt.steps if attempt is not None else ()
    return next((step.text for step in steps if step.actor.role == "user" and step.text), "")


def _explained(attempt: Attempt) -> str:
    return next((check.explanation for check in attempt.checks if check.status == "fail" and check.explanation), "")


def calls_in(attempt: Attempt) -> Iterator[Call]:
    """Each with its result; a result that belongs to no call stands alone."""
    for step in attempt.steps:
        for call in step.tool_calls:
            yield Call(call=short_line(_written(call), CALL), result=short_line(_came_back(call), CALL))
        if step.kind == "tool_result" and (told := _result_in(step)):
            yield Call(call="", result=short_line(told, CALL))


def _written(call: ToolCall) -> str:
    arguments = call.arguments_raw or ("" if call.arguments in (None, {}) else as_json(call.arguments))
    again = " (repeated)" if call.is_duplicate else ""
    return f"{call.name} {arguments}".strip() + again


def _came_back(call: ToolCall) -> str:
    if call.error is not None:
        return f"{call.error.type}: {call.error.message}"
    if call.result is None:
        return ""
    return call.result.text or ("" if call.result.structured is None else as_json(call.result.structured))


def _result_in(step: Step) -> str:
    return step.text or next((as_json(part["response"]) for part in step.parts if "response" in part), "")


def as_json(value: Any) -> str:
    """A text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
