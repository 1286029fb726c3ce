"""A case of a report, or a case whose task raised → the case and its attempt.

pydantic-evals keeps the three facts apart: a task that raised is in the report's failures, an evaluator that raised in
the failures of its case, and a case fails if an assertion does not hold. Scores have no threshold.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import (
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Output,
    Run,
    SourceRef,
    Unreadable,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.identity import fingerprint
from errata.model.words import CheckKind, CheckStatus
from errata.sources.base import Row, convert_each, of_run
from errata.sources.pydantic_evals import NAME
from errata.sources.pydantic_evals.reports import CASES, PydanticReport, run_of
from errata.sources.shared.cases import CaseNumbering
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.facts import NOT_MADE, Facts, mark_recovered, outcome_of
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    name_of,
    non_empty,
    number,
    plain,
    rest,
    sequence,
    text,
)
from errata.text.lazy_regex import lazy_regex

_NUMBERED = lazy_regex(r"Case \d+")
_REPEAT = lazy_regex(r" \[(\d{1,6})/\d+\]")
_CASE = frozenset(
    ("name", "inputs", "metadata", "expected_output", "output", "metrics", "attributes", "scores", "labels",
     "assertions", "task_duration", "total_duration", "source_case_name", "trace_id", "span_id", "evaluator_failures",
     "error_message", "error_stacktrace")
)  # fmt: skip
_FAILURE = ("name", "error_message", "error_stacktrace")


class ReportContext(NamedTuple):
    run: Run
    report: PydanticReport
    numbers: dict[str, set[int]]
    """The attempt numbers of each case so far."""
    cases: CaseNumbering


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    document = long_document(path, CASES, source=NAME, root=path.parent)
    if isinstance(document, Unreadable):
        yield document
        return
    report = PydanticReport(document)
    run = run_of(report, path.parent)
    yield run
    yield from of_run(run.id, iter(report.problems))
    rows = convert_each(report.rows(), partial(items_of, ReportContext(run, report, {}, CaseNumbering())), source=NAME)
    yield from of_run(run.id, rows)


def items_of(context: ReportContext, row: Row) -> Iterator[Item]:
    case = mapping(row.data)
    name = _name(case)
    index = _index(case)
    described = _case(context.run, name, case, row)
    if context.cases.is_news(described):
        yield described
    numbers = context.numbers.setdefault(name, set())
    index = index if index not in numbers else max(numbers) + 1
    numbers.add(index)
    yield _attempt(context, name, index, row)


def _name(case: dict[str, Any]) -> str:
    """`Case 3` is a position in a dataset, used for cases without a name."""
    name = name_of(case.get("source_case_name") or case.get("name"))
    return f"input-{fingerprint(plain(case.get('inputs')), size=6)}" if _NUMBERED.fullmatch(name) else name


def _index(case: dict[str, Any]) -> int:
    source, name = text(case.get("source_case_name")), text(case.get("name"))
    match = _REPEAT.fullmatch(name.removeprefix(source)) if source else None
    return int(match[1]) if match else 1


def _case(run: Run, name: str, case: dict[str, Any], row: Row) -> Case:
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=text(case.get("source_case_name")) or text(case.get("name")),
        input=plain(case["inputs"]),
        expected=plain(case.get("expected_output")),
        extra=non_empty(metadata=case.get("metadata")),
        ref=row.ref,
    )


def _attempt(context: ReportContext, name: str, index: int, row: Row) -> Attempt:
    case = row.data
    checks = tuple(_checks(context.report, case, row.ref))
    error = _error(case, "subject", row.ref) if "error_message" in case else None
    facts = NOT_MADE if error else _facts(checks)
    checks = mark_recovered(checks, facts)
    value = None if error else _value(checks)
    took = number(case.get("total_duration"))
    broken = tuple(check.error for check in checks if check.error)
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, name),
        native_id=text(case.get("name")),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status="failure" if error else "",
        reported=value,
        reported_counted=value is not None,
        output=_output(case),
        errors=(error, *broken) if error else broken,
        checks=checks,
        usage=UsageByRole(subject=_usage(mapping(case.get("metrics")))),
        duration=number(case.get("task_duration")),
        durations={} if took is None else {"total": took},
        extra=rest(case, _CASE)
        | non_empty(
            metrics=case.get("metrics"),
            attributes=case.get("attributes"),
            metadata=case.get("metadata") if index > 1 else None,
            inputs=case.get("inputs") if index > 1 else None,
            expected_output=case.get("expected_output") if index > 1 else None,
            trace_id=case.get("trace_id"),
            span_id=case.get("span_id"),
        ),
        ref=row.ref,
    )


def _output(case: dict[str, Any]) -> Output:
    output = case.get("output")
    if output is None or isinstance(output, str):
        return Output(text=output)
    return Output(text=as_text(output), structured=plain(output))


def _checks(report: PydanticReport, case: dict[str, Any], ref: SourceRef) -> Iterator[Check]:
    order = 0
    for kind in ("assertions", "scores", "labels"):
        for name, result in mapping(case.get(kind)).items():
            yield _check(kind, name, mapping(result), order, ref.below(kind, name))
            order += 1
    for at, result in enumerate(map(mapping, sequence(case.get("evaluator_failures")))):
        place = ref.below("evaluator_failures", at)
        source = text(mapping(result.get("source")).get("name"))
        yield Check(
            name=text(result.get("name")) or source,
            status="error",
            scorer=source,
            order=order + at,
            counts=source not in report.only_informative,
            error=_error(result, "scoring", place),
            extra=rest(result, _FAILURE),
            ref=place,
        )


def _check(kind: str, name: str, result: dict[str, Any], order: int, ref: SourceRef) -> Check:
    fields = JsonFields(result)
    value, own_name = fields.take("value"), fields.require("name")
    known_value = value if isinstance(value, bool | str) else number(value)
    check_kind: CheckKind = "assertion" if kind == "assertions" else "criterion"
    return Check(
        name=name,
        status=_status(kind, value),
        scorer=text(mapping(fields.get("source")).get("name")),
        order=order,
        kind=check_kind,
        value=known_value,
        counts=kind == "assertions",
        explanation=text(fields.take("reason")),
        extra=rest(fields.rest()) | non_empty(name=own_name if own_name != name else None, kind=kind),
        ref=ref,
    )


def _status(kind: str, value: Any) -> CheckStatus:
    if kind != "assertions":
        return "not_applicable" if value is not None else "unscored"
    return "pass" if value is True else "fail" if value is False else "unscored"


def _error(failure: dict[str, Any], phase: Any, ref: SourceRef) -> ErrorInfo:
    message, traceback = text(failure.get("error_message")), text(failure.get("error_stacktrace"))
    return error_of(raised_as(message), phase, traceback=traceback, ref=ref.below("error_message"))


def _facts(checks: tuple[Check, ...]) -> Facts:
    if any(check.failed for check in checks):
        return Facts("completed", "scored", "fail")
    broken = [check for check in checks if check.status == "error"]
    has_values = any(check.value is not None for check in checks)
    if any(check.counts for check in broken) or (broken and not has_values):
        return Facts("completed", "error", "none")
    if any(check.status == "pass" for check in checks):
        return Facts("completed", "scored", "pass")
    if not has_values:
        return Facts("completed", "unscored" if checks else "not_run", "none")
    value = _value(checks)
    return Facts("completed", "scored", outcome_of(value) if value is not None and 0 <= value <= 1 else "none")


def _value(checks: tuple[Check, ...]) -> float | None:
    """The share of assertions that hold; without assertions, the first score."""
    held = [
        check.status == "pass" for check in checks if check.kind == "assertion" and check.status in ("pass", "fail")
    ]
    if held:
        return sum(held) / len(held)
    scores = (check.value for check in checks if check.kind == "criterion")
    return next((one for one in scores if isinstance(one, float)), None)


def _usage(metrics: dict[str, Any]) -> Usage:
    cost = cost_number(metrics.get("cost"))
    return Usage(
        input=count(metrics.get("input_tokens")),
        output=count(metrics.get("output_tokens")),
        requests=count(metrics.get("requests")),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
    )
