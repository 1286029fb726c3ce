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
    Evidence,
    Item,
    Output,
    Reported,
    Run,
    Scorer,
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.identity import fingerprint
from errata.model.words import CheckKind, CheckStatus
from errata.sources.base import Row, convert_each, describe, of_run, unreadable
from errata.sources.pydantic_evals import NAME
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.facts import NOT_MADE, Facts, mark_recovered, outcome_of
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    name_of,
    non_empty,
    number,
    plain,
    reported_cost,
    rest,
    sequence,
    settings,
    text,
)
from errata.text.lazy_regex import lazy_regex


class PydanticReport:
    """The report is read twice: the deciding scorers and the name of the run depend on all cases."""

    def __init__(self, document: LongDocument) -> None:
        self.ref = document.ref
        self.fields: dict[str, Any] = {}
        self.problems: list[Unreadable] = list(document.problems())
        self._document = document
        for name in document.fields:
            try:
                self.fields[name] = document.field(name)
            except ValueError as error:
                self.problems.append(unreadable(NAME, document.ref.below(name), describe(error)))
        self._survey()

    def rows(self) -> Iterator[Row | Unreadable]:
        """Cases whose task raised come last."""
        yield from self._document.rows()
        for at, failure in enumerate(sequence(self.fields.get(FAILURES))):
            yield Row(failure, self.ref.below(FAILURES, at))

    def _survey(self) -> None:
        self.scorers: dict[str, str] = {}
        """Each measure and its evaluator."""
        self.deciding: set[str] = set()
        self.only_informative: set[str] = set()
        """Evaluators that only give scores and labels, which nothing fails by."""
        self.model, self.sizes, marks = "", {}, []  # type: str, dict[str, set[int]], list[Any]
        for row in self.rows():
            case = mapping(row.data) if isinstance(row, Row) else {}
            for kind in _MEASURES:
                for name, result in mapping(case.get(kind)).items():
                    source = text(mapping(mapping(result).get("source")).get("name"))
                    self.scorers.setdefault(name, source)
                    (self.deciding if kind == "assertions" else self.only_informative).add(source)
            self.model = self.model or text(mapping(case.get("attributes")).get("model"))
            if "assertions" in case:
                source_case = case.get("source_case_name")
                self.sizes.setdefault(text(source_case), set()).add(len(mapping(case["assertions"])))
            marks.append([case.get("name"), case.get("total_duration"), case.get("error_message")])
        self.only_informative -= self.deciding
        self.mark = fingerprint(as_text(marks), size=6)

    @property
    def are_alike(self) -> bool:
        """Whether the mean over the cases equals the share of all assertions: cases of a group have equally many."""
        return all(len(sizes) == 1 for sizes in self.sizes.values())


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
    error = _error(case, "", row.ref) if "error_message" in case else None
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
        **reported_cost(cost),
    )


# --- a report of pydantic-evals → the run. The file has no overall number; the share of assertions is only printed


CASES, FAILURES = "cases", "failures"
_REPORT = frozenset(
    ("name", "dataset_name", FAILURES, "analyses", "report_evaluator_failures", "experiment_metadata", "trace_id",
     "span_id")
)  # fmt: skip
_MEASURES = ("assertions", "scores", "labels")


def run_of(report: PydanticReport, root: Path) -> Run:
    fields = report.fields
    metadata: dict[str, Any] = settings(mapping(fields.get("experiment_metadata")))
    trace = text(fields.get("trace_id"))
    name = text(fields.get("name"))
    model = metadata.get("model")
    return Run(
        # without tracing, all digits of an id are zero
        native_id=trace if trace.strip("0") else f"{name or 'report'}-{report.mark}",
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=model if isinstance(model, str) else report.model),
        suite=text(fields.get("dataset_name")),
        reported=tuple(_reported(report)),
        scorers=tuple(Scorer(name=measure, extra=non_empty(evaluator=one)) for measure, one in report.scorers.items()),
        log_evidence=tuple(_broken(report)),
        origin=str(root),
        extra=rest(fields, _REPORT)
        | non_empty(
            experiment_metadata=metadata,
            analyses=fields.get("analyses"),
            report_evaluator_failures=fields.get("report_evaluator_failures"),
            trace_id=trace,
            span_id=fields.get("span_id"),
        ),
        ref=report.ref,
    )


def _reported(report: PydanticReport) -> Iterator[Reported]:
    repeated = any(report.sizes) and "" not in report.sizes
    if report.deciding:
        yield Reported(
            name="assertions",
            metric="mean" if report.are_alike else "share of all assertions",
            reducer="mean" if repeated else "",
            headline=True,
            ref=report.ref.below(CASES),
        )
    elif report.only_informative:
        first = next(iter(report.scorers), "")
        yield Reported(name=first, metric="mean", reducer="mean" if repeated else "", headline=True, ref=report.ref)
    for at, analysis in enumerate(sequence(report.fields.get("analyses"))):
        if mapping(analysis).get("type") == "scalar":
            yield Reported(
                name=text(analysis.get("title")),
                metric="analysis",
                value=number(analysis.get("value")),
                extra=rest(analysis, ("type", "title", "value")),
                ref=report.ref.below("analyses", at),
            )


def _broken(report: PydanticReport) -> Iterator[Evidence]:
    """Evaluators of the whole report that raised: a number is missing, but no case is affected."""
    for at, failure in enumerate(sequence(report.fields.get("report_evaluator_failures"))):
        message = f"{text(mapping(failure).get('name'))}: {text(mapping(failure).get('error_message'))}"
        place = report.ref.below("report_evaluator_failures", at)
        yield Evidence(name="report evaluator failed", quote=message, ref=place)
