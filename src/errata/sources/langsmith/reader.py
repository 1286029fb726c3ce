"""The rows of an experiment → cases and attempts, with the runs below a run as steps.

Evaluators also run on runs that crashed; a crash of an evaluator itself is in its comment.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

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
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import ActorRole, Execution, Phase, StepKind
from errata.sources.base import Row
from errata.sources.langsmith import NAME
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.row_groups import Copies, copied_row
from errata.sources.shared.runs import CaseNumbering, hash_of_content, items_of_runs
from errata.sources.shared.scores import RowScore, ScorerCounts, answer_of, case_of, score_row, status_of_value
from errata.sources.shared.steps import nested_steps
from errata.sources.shared.values import (
    as_text,
    count,
    mapping,
    moment,
    name_of,
    non_empty,
    number,
    plain,
    reported_cost,
    rest,
    sequence,
    text,
)


class LangSmithExperiment:
    def __init__(self, ref: SourceRef) -> None:
        self.ref = ref
        self.scorers_seen = ScorerCounts()
        self.models: set[tuple[str, str]] = set()
        self.datasets: set[str] = set()
        self.started: list[str] = []
        self.ended: list[str] = []
        self.metadata: dict[str, Any] = {}

    def add(self, row: dict[str, Any]) -> None:
        run, metadata = mapping(row.get("run")), metadata_of(mapping(row.get("run")))
        self.metadata = self.metadata or non_empty(
            session_id=run.get("session_id"), repetitions=metadata.get("num_repetitions")
        )
        for feedback in feedback_of(row):
            self.scorers_seen.add(text(feedback.get("key")), feedback.get("score"))
        model = text(metadata.get("ls_model_name")) or text(metadata.get("model"))
        if model and len(self.models) < MODELS_CAP:
            self.models.add((model, text(metadata.get("ls_provider"))))
        dataset = text(mapping(row.get("example")).get("dataset_id"))
        if dataset and len(self.datasets) < MODELS_CAP:
            self.datasets.add(dataset)
        begun, ended = moment(run.get("start_time")), moment(run.get("end_time"))
        self.started = [min([*self.started, begun])] if begun else self.started
        self.ended = [max([*self.ended, ended])] if ended else self.ended


_RUN = frozenset(
    ("id", "inputs", "outputs", "error", "start_time", "end_time", "session_name", "session_id", "child_runs", "status",
     "reference_example_id", "prompt_tokens", "completion_tokens", "total_tokens", "total_cost", "extra")
)  # fmt: skip
_TOKENS = {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"}
_EXAMPLE = frozenset(("id", "dataset_id", "inputs", "outputs"))
_KINDS: dict[str, tuple[ActorRole, StepKind]] = {
    "llm": ("assistant", "model_call"),
    "tool": ("tool", "tool_result"),
    "retriever": ("tool", "tool_result"),
}


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    experiments = survey(path)
    runs = runs_of(experiments, path)
    rows = json_rows(path, source=NAME, root=path.parent)
    convert = partial(items_of, runs, experiments, CaseNumbering(), Copies())
    yield from items_of_runs(runs, rows, convert, which=lambda row: experiment_name_of(row.data["run"]), source=NAME)


def items_of(
    runs: dict[str, Run],
    experiments: dict[str, LangSmithExperiment],
    numbering: CaseNumbering,
    copies: Copies,
    row: Row,
) -> Iterator[Item]:
    run_data, example = mapping(row.data["run"]), mapping(row.data.get("example"))
    if run_data.get("id") and copies.includes(as_text(run_data["id"]), row.data):
        yield copied_row(NAME, row.ref, as_text(run_data["id"]))
        return
    experiment = experiment_name_of(run_data)
    run = runs[experiment]
    name = name_of(example.get("id") or run_data.get("reference_example_id") or run_data.get("id"))
    index = numbering.next((run.id, name))
    case = case_of(
        run,
        name,
        example.get("inputs", run_data.get("inputs")),
        example.get("outputs"),
        extra=rest(example, _EXAMPLE) | _other(example, run),
        ref=row.ref.below("example"),
    )
    if numbering.is_news(case):
        yield case
    yield _attempt(run, experiments[experiment].scorers_seen.main, name, index, row)


def _attempt(run: Run, main: str, name: str, index: int, row: Row) -> Attempt:
    run_data, example = row.data["run"], mapping(row.data.get("example"))
    error = _error(run_data.get("error"), row.ref.below("run", "error"))
    checks = [_check(one, order, row.ref) for order, one in enumerate(feedback_of(row.data))]
    score = score_row(_execution(run_data), checks, (error,) if error else (), main)
    outputs = run_data.get("outputs")
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=text(run_data.get("id")),
        index=index,
        native_status=text(run_data.get("status")) or score.status,
        output=Output(text=answer_of(outputs), structured=plain(outputs) if _is_answer(outputs) else None),
        steps=steps_of(run_data, row.ref.below("run")),
        usage=UsageByRole(subject=_usage(run_data)),
        started_at=moment(run_data.get("start_time")),
        finished_at=moment(run_data.get("end_time")),
        extra=rest(run_data, _RUN)
        | _metadata(run_data)
        | _input_differences(run_data, example, name)
        | _verdict(score, run_data),
        ref=row.ref,
        **score.attempt_fields,
    )


def _execution(run_data: dict[str, Any]) -> Execution:
    if run_data.get("error"):
        return "error"
    return "unfinished" if run_data.get("end_time") is None and not _is_answer(run_data.get("outputs")) else "completed"


def _is_answer(outputs: Any) -> bool:
    """A run that crashed has `{"output": null}`."""
    return any(value is not None for value in outputs.values()) if isinstance(outputs, dict) else outputs is not None


def _error(error: Any, ref: SourceRef) -> ErrorInfo | None:
    """The exception as Python prints it, then its traceback."""
    if not error:
        return None
    message, _, traceback = as_text(error).partition("\n\n")
    return error_of(raised_as(message), "", traceback=traceback, ref=ref)


def _check(feedback: dict[str, Any], order: int, ref: SourceRef) -> Check:
    fields = JsonFields(feedback)
    score, label, comment = fields.take("score"), fields.take("value"), text(fields.take("comment"))
    value = score if score is not None else label
    here = ref.below("evaluation_results", order)
    broke = value is None and (mapping(fields.get("extra")).get("error") is True or _is_exception(comment))
    word = value if isinstance(value, bool | str) or value is None else number(value)
    return Check(
        name=text(fields.require("key")),
        status="error" if broke else status_of_value(value),
        order=order,
        kind="criterion",
        value=as_text(value) if word is None and value is not None else word,
        explanation="" if broke else comment,
        error=error_of(raised_as(comment), "scoring", ref=here) if broke else None,
        extra=rest(fields.rest()) | non_empty(said=label if score is not None else None),
        ref=here,
    )


def _is_exception(comment: str) -> bool:
    return raised_as(comment).type.endswith(("Error", "Exception", "Timeout"))


def _usage(run_data: dict[str, Any]) -> Usage:
    tokens: dict[str, Any] = {home: count(run_data.get(name)) for home, name in _TOKENS.items()}
    return Usage(**reported_cost(run_data.get("total_cost")), **tokens)


def _metadata(run_data: dict[str, Any]) -> dict[str, Any]:
    return non_empty(metadata=rest(metadata_of(run_data))) | rest(mapping(run_data.get("extra")), ("metadata",))


def _input_differences(run_data: dict[str, Any], example: dict[str, Any], name: str) -> dict[str, Any]:
    inputs, example_id = run_data.get("inputs"), run_data.get("reference_example_id")
    return non_empty(
        inputs=inputs if inputs != example.get("inputs") else None, example=example_id if example_id != name else None
    )


def _verdict(score: RowScore, run_data: dict[str, Any]) -> dict[str, Any]:
    return non_empty(verdict=score.status if run_data.get("status") else None, session_id=run_data.get("session_id"))


def _other(example: dict[str, Any], run: Run) -> dict[str, Any]:
    return non_empty(dataset=example.get("dataset_id") if example.get("dataset_id") != run.suite else None)


def steps_of(run: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    return nested_steps(run, "child_runs", _step, ref)


_PHASES: dict[str, Phase] = {"tool": "tool", "assistant": "subject"}


def _step(child_run: dict[str, Any], index: int, parent: int | None, ref: SourceRef) -> Step:
    child = JsonFields(child_run)
    child.drop("child_runs")
    run_type, inputs, outputs, error = map(child.take, ("run_type", "inputs", "outputs", "error"))
    role, kind = _KINDS.get(text(run_type), ("environment", "log"))
    message = as_text(error).partition("\n\n")[0] if error else ""
    return Step(
        index=index,
        actor=Actor(role=role, name=text(child.take("name"))),
        kind=kind,
        parent=parent,
        text=answer_of(outputs) or ("" if outputs is None else as_text(outputs)),
        error=error_of(raised_as(message), _PHASES.get(role, ""), ref=ref) if message else None,
        started_at=moment(child.take("start_time")),
        ended_at=moment(child.take("end_time")),
        span_id=text(child.take("id")),
        ref=ref,
        extra=rest(child.rest()) | non_empty(inputs=inputs, run_type=run_type),
    )


# --- a first pass over the rows → their experiments: mostly one, with its evaluators and its model


MODELS_CAP = 2


def survey(path: Path) -> dict[str, LangSmithExperiment]:
    experiments: dict[str, LangSmithExperiment] = {}
    for row in json_rows(path, source=NAME, root=path.parent):
        if isinstance(row, Row) and isinstance(row.data, dict):
            name = experiment_name_of(mapping(row.data.get("run")))
            experiments.setdefault(name, LangSmithExperiment(row.ref)).add(row.data)
    return experiments or {"": LangSmithExperiment(SourceRef(file=path.name))}


def experiment_name_of(run: dict[str, Any]) -> str:
    return text(run.get("session_name")) or text(run.get("session_id"))


def metadata_of(run: dict[str, Any]) -> dict[str, Any]:
    return mapping(mapping(run.get("extra")).get("metadata"))


def feedback_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluator feedback: a list, or an object with one."""
    results = row.get("evaluation_results")
    listed = mapping(results).get("results") if isinstance(results, dict) else results
    return [one for one in map(mapping, sequence(listed)) if text(one.get("key"))]


def runs_of(experiments: dict[str, LangSmithExperiment], path: Path) -> dict[str, Run]:
    return {name: _run(name, one, path) for name, one in experiments.items()}


def _run(name: str, experiment: LangSmithExperiment, path: Path) -> Run:
    model, provider = next(iter(experiment.models)) if len(experiment.models) == 1 else ("", "")
    return Run(
        native_id=name or f"{path.stem}-{hash_of_content(path)}",
        external_id=text(experiment.metadata.get("session_id")),
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=model, provider=provider),
        suite=next(iter(experiment.datasets)) if len(experiment.datasets) == 1 else "",
        started_at=next(iter(experiment.started), None),
        finished_at=next(iter(experiment.ended), None),
        # no file has these numbers: LangSmith shows the mean of each evaluator
        reported=experiment.scorers_seen.reported(experiment.ref),
        scorers=experiment.scorers_seen.scorers,
        origin=str(path.parent),
        extra=non_empty(repetitions=experiment.metadata.get("repetitions")),
        ref=experiment.ref,
    )
