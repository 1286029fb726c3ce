"""A row, or the spans of a trace → its case and its attempt with steps."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from errata.model import (
    Actor,
    Attempt,
    Check,
    ErrorInfo,
    Item,
    Output,
    Run,
    SourceRef,
    Step,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.identity import fingerprint
from errata.model.usage import total_cost, total_of
from errata.model.words import ActorRole, Phase, StepKind
from errata.sources.base import Row
from errata.sources.braintrust import NAME
from errata.sources.braintrust.experiments import (
    BraintrustExperiment,
    experiment_of,
    groups_of,
    root_of,
    runs_of,
    survey,
)
from errata.sources.shared.cases import CaseNumbering
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.row_groups import split_copies
from errata.sources.shared.runs import items_of_runs
from errata.sources.shared.scores import answer_of, case_of, score_row, status_of_value
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    moment_since_1970,
    non_empty,
    number,
    plain,
    rest,
    sequence,
    text,
)

_ROW = frozenset(
    ("id", "input", "output", "expected", "scores", "metadata", "tags", "error", "exc_info", "metrics", "experiment_id",
     "project_id", "origin")
)  # fmt: skip
SCORER_ERRORS = "scorer_errors"
SCORE = "score"
STEPS_CAP = 10_000
_KINDS: dict[str, tuple[ActorRole, StepKind]] = {
    "llm": ("assistant", "model_call"),
    "tool": ("tool", "tool_result"),
    "function": ("tool", "tool_result"),
    SCORE: ("judge", "score"),
}


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    file = survey(path)
    runs = runs_of(file, path)
    convert = partial(items_of, runs, file.experiments, CaseNumbering())
    yield from items_of_runs(
        runs, groups_of(path), convert, which=lambda group: experiment_of(group.data[0]), source=NAME
    )


def items_of(
    runs: dict[str, Run], experiments: dict[str, BraintrustExperiment], numbering: CaseNumbering, group: Row
) -> Iterator[Item]:
    # a span that is in an export twice was made, and paid, once
    rows, copies = split_copies(group.data, "a span", source=NAME)
    row = root_of(rows)
    of = experiment_of(row)
    run = runs[of]
    name = _name(row.data)
    index = numbering.next((run.id, name))
    case = case_of(
        run,
        name,
        row.data.get("input"),
        row.data.get("expected"),
        tags=tuple(map(as_text, sequence(row.data.get("tags")))),
        extra=rest(mapping(row.data.get("origin")), ("id",)),
        ref=row.ref,
    )
    if numbering.is_news(case):
        yield case
    yield _attempt(run, experiments[of].seen.main, (name, index), row, rows)
    yield from (replace(copy, run=run.id) for copy in copies)


def _name(row: dict[str, Any]) -> str:
    """The id of the dataset record, else a fingerprint of the input: equal for all trials of a case."""
    record = text(mapping(row.get("origin")).get("id"))
    if record or row.get("input") is not None:
        return record or f"input-{fingerprint(plain(row['input']), size=6)}"
    raise ValueError("a row without an input")


def _attempt(run: Run, main: str, who: tuple[str, int], row: Row, rows: tuple[Row, ...]) -> Attempt:
    fields, (name, index) = row.data, who
    metadata, metrics = mapping(fields.get("metadata")), mapping(fields.get("metrics"))
    error = _error(fields, row.ref)
    spans = [one for one in rows if one is not row and isinstance(one.data, dict)]
    made = score_row(
        "error" if error else "completed", _checks(fields, spans, row.ref), (error,) if error else (), main
    )
    start, end = number(metrics.get("start")), number(metrics.get("end"))
    output = fields.get("output")
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=text(fields.get("id")),
        index=index,
        native_status=made.status,
        output=Output(text=answer_of(output), structured=None if isinstance(output, str) else plain(output)),
        steps=steps_of(spans),
        usage=UsageByRole(subject=_usage(fields, spans)),
        started_at=moment_since_1970(start),
        finished_at=moment_since_1970(end),
        duration=end - start if start is not None and end is not None else None,
        extra=rest(fields, _ROW) | non_empty(metadata=rest(metadata, (SCORER_ERRORS,)), metrics=metrics),
        ref=row.ref,
        **made.attempt_fields,
    )


def _error(fields: dict[str, Any], ref: SourceRef) -> ErrorInfo | None:
    error, traceback = fields.get("error"), text(fields.get("exc_info"))
    if not error and not traceback:
        return None
    shown = text(mapping(error).get("message")) if isinstance(error, dict) else as_text(error) if error else ""
    return error_of(raised_as(shown or traceback), "subject", traceback=traceback, ref=ref.below("error"))


def _checks(fields: dict[str, Any], spans: list[Row], ref: SourceRef) -> list[Check]:
    """A scorer that raised has a traceback and no score; a scorer with a null score skipped the row."""
    scores = mapping(fields.get("scores"))
    broken = mapping(mapping(fields.get("metadata")).get(SCORER_ERRORS)) | _broken_spans(spans, scores)
    names = dict.fromkeys((*scores, *broken))
    return [_check(name, order, scores, broken, ref) for order, name in enumerate(names)]


def _check(name: str, order: int, scores: dict[str, Any], broken: dict[str, Any], ref: SourceRef) -> Check:
    value, raised = scores.get(name), as_text(broken[name]) if name in broken and scores.get(name) is None else ""
    here = ref.below("metadata", SCORER_ERRORS, name) if raised else ref.below("scores", name)
    return Check(
        name=name,
        status="error" if raised else status_of_value(value),
        order=order,
        kind="criterion",
        value=value if isinstance(value, bool) else number(value),
        error=error_of(raised_as(raised), "scoring", traceback=raised if "\n" in raised else "", ref=here)
        if raised
        else None,
        ref=here,
    )


def _broken_spans(spans: list[Row], scores: dict[str, Any]) -> dict[str, Any]:
    """In a trace each scorer is a span with its own error."""
    broken = [one.data for one in spans if kind_of(one.data) == SCORE and one.data.get("error")]
    named = {text(mapping(one.get("span_attributes")).get("name")): one["error"] for one in broken}
    return {name: error for name, error in named.items() if name and name not in scores}


def _usage(fields: dict[str, Any], spans: list[Row]) -> Usage:
    """Tokens of the row or, if it has none, of its model calls; scorers' tokens are in their own spans."""
    own = [mapping(fields.get("metrics"))]
    calls = [mapping(one.data.get("metrics")) for one in spans if kind_of(one.data) == "llm"]
    of = own if number(own[0].get("tokens")) or number(own[0].get("prompt_tokens")) else calls
    cost = total_cost(cost_number(one.get("estimated_cost")) for one in of)
    return Usage(
        input=total_of(count(one.get("prompt_tokens")) for one in of),
        output=total_of(count(one.get("completion_tokens")) for one in of),
        total=total_of(count(one.get("tokens")) for one in of),
        cost=cost,
        cost_source="unknown" if cost is None else "estimated",
    )


def kind_of(span: dict[str, Any]) -> str:
    return text(mapping(span.get("span_attributes")).get("type"))


def steps_of(spans: list[Row]) -> tuple[Step, ...]:
    """Ordered by start."""
    ordered = sorted(spans, key=lambda one: number(mapping(one.data.get("metrics")).get("start")) or 0)[:STEPS_CAP]
    at = {text(one.data.get("span_id")): index for index, one in enumerate(ordered)}
    return tuple(_step(one, index, at) for index, one in enumerate(ordered))


def _step(row: Row, index: int, at: dict[str, int]) -> Step:
    span = JsonFields(row.data)
    span.drop("root_span_id")
    attributes, metrics = mapping(span.take("span_attributes")), mapping(span.take("metrics"))
    role, kind = _KINDS.get(kind_of(row.data), ("environment", "log"))
    above = [at[one] for one in sequence(span.take("span_parents")) if isinstance(one, str) and one in at]
    output, error = span.take("output"), span.take("error")
    phase: Phase = "scoring" if role == "judge" else "tool" if role == "tool" else "subject"
    return Step(
        index=index,
        actor=Actor(role=role, name=text(attributes.get("name"))),
        kind=kind,
        parent=above[0] if above and above[0] != index else None,
        text=answer_of(output) or ("" if output is None else as_text(output)),
        error=error_of(raised_as(as_text(error)), phase, ref=row.ref) if error else None,
        started_at=moment_since_1970(metrics.get("start")),
        ended_at=moment_since_1970(metrics.get("end")),
        model=text(mapping(span.get("metadata")).get("model")),
        span_id=text(span.take("span_id")),
        ref=row.ref,
        extra=rest(span.rest()) | non_empty(type=kind_of(row.data), metrics=metrics),
    )
