"""One row of a mapped table → the fields of its attempt."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import ErrorInfo, Judgement, Limit, Output, Step, Usage, UsageByRole
from errata.model.words import Execution
from errata.sources.base import Row
from errata.sources.generic.dates import date_order, moment
from errata.sources.generic.mapping import DurationColumn, ErrorColumn, Get, Mapping, as_column, getter
from errata.sources.generic.measures import (
    PassRule,
    RowMeasurement,
    check,
    check_rules,
    deciding_check,
    errors,
    executions,
    facts,
    judge_name,
    measure_row,
    number_getter,
    outcome_of_checks,
)
from errata.sources.generic.places import NOT_RUN
from errata.sources.generic.values import (
    NOT_UNDERSTOOD,
    currency_of,
    is_empty,
    is_plain_word,
    number,
    seconds,
    structured,
    text,
    whole,
)
from errata.sources.shared.chat import last_answer, steps_of_chat
from errata.sources.shared.values import plain

_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "stop_reason": text,
    "seed": whole,
    "exit_code": whole,
}
_USAGE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "cost": ("cost", number),
    "input_tokens": ("input", whole),
    "output_tokens": ("output", whole),
    "total_tokens": ("total", whole),
    "cache_read_tokens": ("cache_read", whole),
    "cache_write_tokens": ("cache_write", whole),
    "reasoning_tokens": ("reasoning", whole),
}

LAST_MESSAGE = "last assistant message"
"""How an answer was taken from the transcript."""


class Attempts:
    """The mapping's `[attempt]` and `[checks]`, compiled for the columns of one file."""

    def __init__(self, mapping: Mapping, columns: Collection[str], sample: Sequence[Any] = ()) -> None:
        """`sample` are the first rows."""
        asked = mapping.attempt

        def get(name: str) -> Get | None:
            column = getattr(asked, name)
            if column and (name in _USAGE or name in ("duration", "score")):
                return number_getter(as_column(column).column, columns, mapping)
            return getter(as_column(column).column, columns) if column else None

        self._simple = [
            MappedField(name, column_getter, convert)
            for name, convert in _SIMPLE.items()
            if (column_getter := get(name))
        ]
        for name in ("started_at", "finished_at"):
            if when := get(name):
                order = date_order(when(row) for row in sample if type(row) is dict)
                self._simple.append(MappedField(name, when, partial(moment, order=order)))
        if duration := get("duration"):
            self._simple.append(MappedField("duration", duration, _seconds(asked.duration)))
        self._usage = [
            MappedField(field, column_getter, convert)
            for name, (field, convert) in _USAGE.items()
            if (column_getter := get(name))
        ]
        cost = asked.cost
        self._cost = getter(as_column(cost).column, columns) if cost else None
        self._currency = currency_of_costs(mapping) or "USD"
        self._output, self._answer, self._messages = get("output"), get("answer"), get("messages")
        self._passed, self._score, self._status = get("passed"), get("score"), get("status")
        self._error, self._scoring_error = get("error"), get("scoring_error")
        self._error_by_status = isinstance(asked.error, ErrorColumn) and asked.error.when == "status"
        self._reasoning = get("judge_reasoning")
        self._rule = PassRule(asked.threshold, asked.lower_is_better)
        self._checks = check_rules(mapping, columns, sample)
        self._executions = executions(mapping.status_words)
        self._measures = mapping.measures
        self._only_checks = not (asked.passed or asked.score)
        self._has_headline = mapping.run.headline is not None
        self._has_judges = mapping.has_judges
        self._judge = judge_name(asked.passed or asked.score, mapping)

    def values(self, row: Row) -> dict[str, Any]:
        """All fields of the attempt except those that identify it."""
        data: dict[str, Any] = row.data
        values: dict[str, Any] = {}
        odd: dict[str, Any] = {}
        take(self._simple, data, values, odd)
        self._add_usage(data, values, odd)
        self._add_output(data, values, odd)
        self._add_facts(row, values, odd)
        reasoning = self._reasoning(data) if self._reasoning else None
        if not is_empty(reasoning):
            values["judgements"] = (Judgement(judge=self._judge or "judge", reasoning=text(reasoning)),)
        if odd:
            values["extra"] = {"not_understood": odd}
        return values

    def _add_usage(self, data: dict[str, Any], values: dict[str, Any], odd: dict[str, Any]) -> None:
        usage: dict[str, Any] = {}
        take(self._usage, data, usage, odd)
        if usage:
            if "cost" in usage:
                usage["cost_source"] = "reported"
                cell = self._cost(data) if self._cost else None
                usage["currency"] = (currency_of(cell) if type(cell) is str else "") or self._currency
            values["usage"] = UsageByRole(subject=Usage(**usage))

    def _add_output(self, data: dict[str, Any], values: dict[str, Any], odd: dict[str, Any]) -> None:
        """Add the subject's answer and the transcript."""
        answer_text = None
        if self._messages:
            messages = self._messages(data)
            made = steps_of_cell(messages)
            if made is not None:
                values["steps"] = made
                answer_text = last_answer(made) if self._output is None else None
            elif not is_empty(messages):
                odd["messages"] = plain(messages)
        answer = self._answer(data) if self._answer else None
        answer = None if is_empty(answer) else text(answer)
        if self._output:
            values["output"] = _output(self._output(data), answer)
        elif answer_text is not None:
            values["output"] = Output(text=answer_text, answer=answer, extraction=LAST_MESSAGE)
        elif answer is not None:
            values["output"] = Output(answer=answer)

    def _add_facts(self, row: Row, values: dict[str, Any], odd: dict[str, Any]) -> None:
        """Add execution, measurement and outcome, with the checks and errors behind them."""
        data = row.data
        values["checks"] = checks = tuple([check(rule, data) for rule in self._checks])
        measurement = self._measurement(data)
        values["reported"], values["threshold"] = measurement.reported, self._rule.threshold
        status = self._status(data) if self._status else None
        values["native_status"] = native = measurement.native if is_empty(status) else text(status)
        # a value of `passed` that is neither yes nor no, or a score without a number, may be a status such as `error`
        is_odd = measurement.odd is not None or measurement.odd_score is not None
        known = self._executions.get(native.strip().lower()) if status or is_odd or not native else None
        if known is None and not is_empty(status) and not is_plain_word(native):
            values["is_status_known"] = False
        # `error` leaves the cause open: the word may name it
        if known not in (None, "error", native.strip().lower()):
            values["is_status_classified"] = True
        known = "missing" if NOT_RUN in data else known
        values["errors"] = row_errors = self._errors(row, known)
        if measurement.odd is not None and known is None:
            odd["passed"] = measurement.odd
        if measurement.odd_score is not None and known is None:
            odd["score"] = measurement.odd_score
        if self._passed and measurement.outcome == "pass":  # whatever else the table notes, it did not crash
            row_errors = tuple(replace(error, recovered=True) for error in row_errors)
            values["errors"] = row_errors
        phases = {error.phase for error in row_errors if not error.recovered}
        execution = _execution(known or "completed", crashed="" in phases)
        outcome = outcome_of_checks(checks) if self._only_checks else measurement.outcome
        values["execution"] = execution
        values["measurement"], values["outcome"] = facts(execution, outcome, measures=self._measures)
        if "scoring" in phases and execution in ("completed", "limit"):
            values["measurement"], values["outcome"] = "error", "none"
        if execution == "limit":
            values["limit"] = Limit(type=native)
        if self._only_checks and outcome == "number":  # of several, the first that the mapping names
            numbers = (check.value for check in checks if check.status == "number")
            values["reported"] = next((float(value) for value in numbers if value is not None), None)
        if self._has_headline:
            if self._only_checks and outcome in ("pass", "fail"):
                values["reported"] = float(outcome == "pass")
            values["reported_counted"] = values["reported"] is not None
        if self._has_judges and not self._only_checks:
            decided = deciding_check(measurement.outcome, measurement.reported, self._judge, len(checks))
            values["checks"] = (*checks, decided) if decided else checks

    def _errors(self, row: Row, status: Execution | None) -> tuple[ErrorInfo, ...]:
        has_error = self._error is not None and (status == "error" or not self._error_by_status)
        crash = errors(self._error(row.data), phase="", ref=row.ref) if self._error and has_error else ()
        broken = errors(self._scoring_error(row.data), phase="scoring", ref=row.ref) if self._scoring_error else ()
        return (*crash, *broken)

    def _measurement(self, data: dict[str, Any]) -> RowMeasurement:
        passed = self._passed(data) if self._passed else None
        return measure_row(passed, self._score(data) if self._score else None, self._rule)


def _execution(status: Execution, *, crashed: bool) -> Execution:
    """The status takes precedence over the error: a limit that also raised is a limit."""
    return "error" if crashed and status == "completed" else status


def currency_of_costs(mapping: Mapping) -> str:
    """The currency that the mapping gives, or that the name of the column contains; empty if neither."""
    return mapping.currency or (
        currency_of(as_column(mapping.attempt.cost).column.lstrip("^$")) if mapping.attempt.cost else ""
    )


def _seconds(asked: str | DurationColumn | None) -> Callable[[Any], float]:
    return partial(seconds, unit=asked.unit if isinstance(asked, DurationColumn) else "s")


def _output(value: Any, answer: str | None) -> Output:
    """An answer that is an object is kept both as an object and as text."""
    if value is None or value != value:
        return Output(answer=answer)
    if type(value) is str:
        return Output(text=value, answer=answer)
    if isinstance(value, (dict, list)):
        return Output(text=text(value), structured=plain(value), answer=answer)
    return Output(text=text(value), answer=answer)


class MappedField(NamedTuple):
    name: str
    get: Get
    convert: Callable[[Any], Any]


def take(fields: Iterable[MappedField], row: dict[str, Any], into: dict[str, Any], odd: dict[str, Any]) -> None:
    """Fill `into`; a value that can't be converted goes to `odd` unchanged."""
    for name, get, convert in fields:
        value = get(row)
        if value is None or value == "" or value != value:
            continue
        try:
            into[name] = convert(value)
        except NOT_UNDERSTOOD:
            odd[name] = plain(value)


def steps_of_cell(value: Any) -> tuple[Step, ...] | None:
    """None if the value is not a list of messages."""
    if type(value) is not list:
        value = structured(value)
        if isinstance(value, dict):
            value = value.get("messages")
    return steps_of_chat(value) if type(value) is list else None
