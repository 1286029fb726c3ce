"""A row, or the spans of a trace → its case and its attempt with steps."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from errata.model import (
    Actor,
    Attempt,
    Check,
    ErrorInfo,
    Item,
    Output,
    Run,
    SourceInfo,
    SourceRef,
    Step,
    Subject,
    Unreadable,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.identity import fingerprint
from errata.model.usage import total_cost, total_of
from errata.model.words import ActorRole, Phase, StepKind
from errata.sources.base import Row, decode, head_of
from errata.sources.braintrust import NAME
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import ItemGroups, read_groups, split_copies
from errata.sources.shared.runs import CaseNumbering, hash_of_content, items_of_runs
from errata.sources.shared.scores import ScorerCounts, answer_of, case_of, score_row, status_of_value
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
from errata.text.lazy_regex import lazy_regex


class BraintrustExperiment:
    def __init__(self, ref: SourceRef, scorers: Iterable[str]) -> None:
        self.ref = ref
        self.seen = ScorerCounts(scorers)
        self.models: set[str] = set()
        self.project = ""

    def add(self, root: dict[str, Any], rows: tuple[Row, ...]) -> None:
        for name, value in mapping(root.get("scores")).items():
            self.seen.add(name, value)
        for name in mapping(mapping(root.get("metadata")).get("scorer_errors")):
            self.seen.add(name, None)
        self.project = self.project or text(root.get("project_id"))
        for row in rows:
            model = text(mapping(mapping(row.data).get("metadata")).get("model"))
            if model and len(self.models) < MODELS_CAP:
                self.models.add(model)


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
    return error_of(raised_as(shown or traceback), "", traceback=traceback, ref=ref.below("error"))


def _checks(fields: dict[str, Any], spans: list[Row], ref: SourceRef) -> list[Check]:
    """A scorer that raised has a traceback and no score; a scorer with a null score skipped the row."""
    scores = mapping(fields.get("scores"))
    of_row = mapping(mapping(fields.get("metadata")).get(SCORER_ERRORS))
    broken = {name: BrokenScorer(error, ref.below("metadata", SCORER_ERRORS, name)) for name, error in of_row.items()}
    broken |= _broken_spans(spans, scores)
    names = dict.fromkeys((*scores, *broken))
    return [_check(name, order, scores, broken.get(name), ref) for order, name in enumerate(names)]


class BrokenScorer(NamedTuple):
    error: Any
    ref: SourceRef


def _check(name: str, order: int, scores: dict[str, Any], broken: BrokenScorer | None, ref: SourceRef) -> Check:
    value = scores.get(name)
    raised = as_text(broken.error) if broken and value is None else ""
    here = broken.ref if broken and raised else ref.below("scores", name)
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


def _broken_spans(spans: list[Row], scores: dict[str, Any]) -> dict[str, BrokenScorer]:
    """In a trace each scorer is a span with its own error."""
    broken = [span for span in spans if kind_of(span.data) == SCORE and span.data.get("error")]
    named = {text(mapping(span.data.get("span_attributes")).get("name")): span for span in broken}
    return {
        name: BrokenScorer(span.data["error"], span.ref.below("error"))
        for name, span in named.items()
        if name and name not in scores
    }


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
    phases: dict[str, Phase] = {"judge": "scoring", "tool": "tool", "assistant": "subject"}
    return Step(
        index=index,
        actor=Actor(role=role, name=text(attributes.get("name"))),
        kind=kind,
        parent=above[0] if above and above[0] != index else None,
        text=answer_of(output) or ("" if output is None else as_text(output)),
        error=error_of(raised_as(as_text(error)), phases.get(role, ""), ref=row.ref) if error else None,
        started_at=moment_since_1970(metrics.get("start")),
        ended_at=moment_since_1970(metrics.get("end")),
        model=text(mapping(span.get("metadata")).get("model")),
        span_id=text(span.take("span_id")),
        ref=row.ref,
        extra=rest(span.rest()) | non_empty(type=kind_of(row.data), metrics=metrics),
    )


# --- the rows of a file grouped by trace, and a first pass over them → the runs of its experiments


MODELS_CAP = 2
_SUMMARY = frozenset(("project_name", "experiment_name", "experiment_id", "experiment_url", "scores", "comparison"))
HEAD = 64 * 1024
_LISTED = lazy_regex(rb'(?<!\\)"(results|events|data)"\s*:\s*\[')


class ExperimentFile(NamedTuple):
    experiments: dict[str, BraintrustExperiment]
    summary: dict[str, Any]


def survey(path: Path) -> ExperimentFile:
    summary, ref = _summary(path)
    names = mapping(summary.get("scores")).keys()
    experiments: dict[str, BraintrustExperiment] = {}
    for group in groups_of(path):
        if isinstance(group, Row) and any(isinstance(row.data, dict) for row in group.data):
            root = root_of(group.data)
            experiments.setdefault(experiment_of(root), BraintrustExperiment(root.ref, names)).add(
                root.data, group.data
            )
    return ExperimentFile(experiments or {"": BraintrustExperiment(ref, names)}, summary)


def experiment_of(row: Row) -> str:
    return text(row.data.get("experiment_id"))


def _summary(path: Path) -> tuple[dict[str, Any], SourceRef]:
    ref = SourceRef(file=path.name)
    document = document_at(path)
    if not isinstance(document, LongDocument):
        return {}, ref
    try:
        return mapping(document.field("summary")), ref.below("summary")
    except (KeyError, ValueError):
        return {}, ref


def runs_of(file: ExperimentFile, path: Path) -> dict[str, Run]:
    return {name: _run(name, experiment, file.summary, path) for name, experiment in file.experiments.items()}


def _run(ident: str, experiment: BraintrustExperiment, summary: dict[str, Any], path: Path) -> Run:
    name = text(summary.get("experiment_name"))
    known_as = text(summary.get("experiment_id")) or ident
    ref = SourceRef(file=path.name, pointer="/summary") if summary else experiment.ref
    return Run(
        native_id=_native(name, known_as, path),
        external_id=known_as,
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=next(iter(experiment.models)) if len(experiment.models) == 1 else ""),
        suite=text(summary.get("project_name")) or experiment.project,
        reported=experiment.seen.reported(ref, _summary_scores(summary)),
        scorers=experiment.seen.scorers,
        origin=str(path.parent),
        extra=rest(summary, _SUMMARY) | non_empty(url=summary.get("experiment_url"), scores=_further(summary)),
        ref=experiment.ref,
    )


def _native(name: str, known_as: str, path: Path) -> str:
    """A local experiment has only the name of its project, which all experiments of the project share."""
    if known_as:
        return name or known_as
    return f"{name or path.stem}-{hash_of_content(path)}"


def _summary_scores(summary: dict[str, Any]) -> dict[str, float | None]:
    return {name: number(mapping(told).get("score")) for name, told in mapping(summary.get("scores")).items()}


def _further(summary: dict[str, Any]) -> dict[str, Any]:
    """Improvements and regressions against another experiment."""
    scores = {name: rest(mapping(score), ("name", "score")) for name, score in mapping(summary.get("scores")).items()}
    return {
        name: score
        for name, score in scores.items()
        if any(score.get(key) for key in ("improvements", "regressions", "diff"))
    }


class _Trace(msgspec.Struct):
    root_span_id: Any = None

    def key(self) -> Any:
        return self.root_span_id if isinstance(self.root_span_id, str) and self.root_span_id else None


def groups_of(path: Path) -> Iterator[Row | Unreadable]:
    """One `Row` per trace; its data are the rows of the trace."""
    document = document_at(path)
    if document is None:
        yield from read_groups(path, _Trace, _Trace.key, source=NAME, root=path.parent)
    elif isinstance(document, Unreadable):
        yield document
    else:
        yield from ItemGroups(document, _Trace, _Trace.key).together()


def document_at(path: Path) -> LongDocument | Unreadable | None:
    """None for a file of lines."""
    head = head_of(path, HEAD).lstrip()
    if head.startswith(b"["):
        return long_document(path, "", source=NAME, root=path.parent)
    if _is_line(head):
        return None
    listed = _LISTED.search(head)
    return long_document(path, listed[1].decode() if listed else "results", source=NAME, root=path.parent)


def _is_line(head: bytes) -> bool:
    """Whether the first line is a row, and not a document or its beginning."""
    line, end, _ = head.partition(b"\n")
    try:
        first = decode(line)
    except ValueError:
        # a damaged row is followed by other rows; a document continues in the next line
        return line.strip() != b"{" and (bool(end) or b'"summary"' not in line) and b'"results"' not in line
    return isinstance(first, dict) and not any(
        isinstance(first.get(key), list) for key in ("results", "events", "data")
    )


def root_of(rows: tuple[Row, ...]) -> Row:
    """The root span of a trace; it need not come first."""
    objects = [row for row in rows if isinstance(row.data, dict)]
    return next((row for row in objects if _is_root(row.data)), objects[0])


def _is_root(row: dict[str, Any]) -> bool:
    return row.get("is_root") is True or (
        row.get("span_id") is not None and row.get("span_id") == row.get("root_span_id")
    )
