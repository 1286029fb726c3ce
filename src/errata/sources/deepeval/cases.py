"""A test case → its case and its attempt.

deepeval calls a case failed whose metric raised: there only the measurement broke, and nobody knows what the answer is
worth. A case of which a metric that counts was really missed has failed, whatever else broke.
"""

import re
from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Check, Item, Output, Run, Usage, UsageByRole, case_key
from errata.model.identity import fingerprint
from errata.model.usage import total_of
from errata.sources.base import Numbering, Row
from errata.sources.deepeval.metrics import checks_of, expectations_of
from errata.sources.deepeval.names import fields, objects
from errata.sources.deepeval.steps import answer_of, cost_of, steps_of, trace_error
from errata.sources.shared.documents import retrieved
from errata.sources.shared.facts import Facts, despite_error, settled
from errata.sources.shared.values import as_text, count, known, name_of, number, plain, rest, text

_NUMBERED = re.compile(r"(?:conversational_)?test_case_(?:\d+|None)")
_CASE = frozenset(
    ("name", "input", "actual_output", "expected_output", "context", "retrieval_context", "tools_called",
     "expected_tools", "token_cost", "input_tokens", "output_tokens", "completion_time", "success", "metrics_data",
     "run_duration", "evaluation_cost", "index", "trace", "turns", "tags", "scenario", "expected_outcome",
     "user_description", "metadata", "classifications", "expectations", "expectations_data")
)  # fmt: skip
_TRACE = frozenset(
    ("base_spans", "agent_spans", "llm_spans", "retriever_spans", "tool_spans", "start_time", "end_time")
)


def items_of(run: Run, numbering: Numbering, row: Row) -> Iterator[Item]:
    case = fields(row.data)
    name = _name(case)
    index = numbering.next(name)
    if index == 1:
        yield _case(run, name, case, row)
    yield _attempt(run, name, index, case, row)


def _name(case: dict[str, Any]) -> str:
    """A number that deepeval gave is the place in a list: it is another one when a case is put in before."""
    told = name_of(case.get("name"))
    return f"input-{fingerprint(plain(_asked(case)), size=6)}" if _NUMBERED.fullmatch(told) else told


def _asked(case: dict[str, Any]) -> Any:
    turns = objects(case.get("turns"))
    said = next((one.get("content") for one in turns if one.get("role") == "user"), None)
    return next((one for one in (case.get("input"), case.get("scenario"), said) if one is not None), None)


def _case(run: Run, name: str, case: dict[str, Any], row: Row) -> Case:
    tools, wanted = case.get("expected_tools"), case.get("expected_output", case.get("expected_outcome"))
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=text(case.get("name")),
        tags=tuple(one for one in case.get("tags") or () if isinstance(one, str)),
        input=plain(_asked(case)),
        expected=plain(tools if wanted is None else wanted),
        extra=known(
            expected_tools=None if wanted is None else tools,
            context=case.get("context"),
            scenario=case.get("scenario") if case.get("input") is not None else None,
            user_description=case.get("user_description"),
            metadata=case.get("metadata"),
            expectations=expectations_of(case),
        ),
        ref=row.ref,
    )


def _attempt(run: Run, name: str, index: int, case: dict[str, Any], row: Row) -> Attempt:
    checks = tuple(checks_of(case, row))
    passed, trace = case.get("success"), fields(case.get("trace"))
    error = trace_error(trace, row.ref.below("trace"))
    facts = _facts(passed, checks, failed=error is not None)
    checks = settled(checks, facts)
    broken = tuple(check.error for check in checks if check.error)
    took = number(case.get("run_duration"))
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=text(trace.get("uuid")),
        index=index,
        position=count(case.get("index")),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status="" if passed is None else f"success: {as_text(passed)}",
        reported=float(passed) if isinstance(passed, bool) else None,
        reported_counted=isinstance(passed, bool),
        output=Output(text=_answer(case)),
        errors=(error, *broken) if error else broken,
        checks=checks,
        steps=steps_of(case, row.ref),
        artefacts=tuple(retrieved(case.get("retrieval_context"), row.ref, "retrieval_context")),
        usage=UsageByRole(subject=cost_of(case), judge=_judging(case)),
        duration=number(case.get("completion_time")),
        durations={} if took is None else {"evaluation": took},
        extra=rest(case, _CASE) | known(trace=rest(trace, _TRACE)),
        ref=row.ref,
    )


def _answer(case: dict[str, Any]) -> str | None:
    told = case.get("actual_output")
    return answer_of(objects(case.get("turns"))) if told is None else as_text(told)


def _facts(passed: Any, checks: tuple[Check, ...], *, failed: bool) -> Facts:
    said = _measured(passed, checks)
    if not failed:
        return said
    return Facts("error", said.measurement, despite_error(said.outcome))


def _measured(passed: Any, checks: tuple[Check, ...]) -> Facts:
    missed = any(check.failed for check in checks)
    if passed is not True and not missed and any(check.status == "error" and check.counts for check in checks):
        return Facts("completed", "error", "none")
    if not any(check.value is not None for check in checks) and not missed:
        # a case without metrics is called a success
        return Facts("completed", "unscored" if checks else "not_run", "none")
    return Facts("completed", "scored", "none" if passed is None else "pass" if passed is True else "fail")


def _judging(case: dict[str, Any]) -> Usage:
    metrics, spent = objects(case.get("metrics_data")), number(case.get("evaluation_cost"))
    return Usage(
        input=total_of(count(one.get("input_tokens")) for one in metrics),
        output=total_of(count(one.get("output_tokens")) for one in metrics),
        cost=total_of(number(one.get("evaluation_cost")) for one in metrics) if spent is None else spent,
        cost_source="reported" if spent is not None or metrics else "unknown",
    )
