"""The rows of an experiment → cases and attempts, with the runs below a run as steps.

Evaluators are asked of runs that crashed, too; their own crash is a comment.
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
    SourceRef,
    Step,
    Usage,
    UsageByRole,
    case_key,
)
from errata.model.words import ActorRole, Execution, StepKind
from errata.sources.base import Numbering, Row
from errata.sources.langsmith import NAME
from errata.sources.langsmith.experiments import Experiment, experiment_named, feedback_of, metadata_of, runs_of, survey
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.runs import items_of_runs
from errata.sources.shared.scores import RowScore, answer_of, case_of, score_row, status_of_value
from errata.sources.shared.steps import nested_steps
from errata.sources.shared.values import as_text, count, mapping, moment, name_of, non_empty, number, plain, rest, text

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
    convert = partial(items_of, runs, experiments, Numbering())
    yield from items_of_runs(runs, rows, convert, which=lambda row: experiment_named(row.data["run"]), source=NAME)


def items_of(
    runs: dict[str, Run], experiments: dict[str, Experiment], numbering: Numbering, row: Row
) -> Iterator[Item]:
    told, example = mapping(row.data["run"]), mapping(row.data.get("example"))
    of = experiment_named(told)
    run = runs[of]
    name = name_of(example.get("id") or told.get("reference_example_id") or told.get("id"))
    index = numbering.next((run.id, name))
    if index == 1:
        yield case_of(
            run,
            name,
            example.get("inputs", told.get("inputs")),
            example.get("outputs"),
            extra=rest(example, _EXAMPLE) | _other(example, run),
            ref=row.ref.below("example"),
        )
    yield _attempt(run, experiments[of].seen.main, name, index, row)


def _attempt(run: Run, main: str, name: str, index: int, row: Row) -> Attempt:
    told, example = row.data["run"], mapping(row.data.get("example"))
    error = _error(told.get("error"), row.ref.below("run", "error"))
    checks = [_check(one, order, row.ref) for order, one in enumerate(feedback_of(row.data))]
    made = score_row(_execution(told), checks, (error,) if error else (), main)
    outputs = told.get("outputs")
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        native_id=text(told.get("id")),
        index=index,
        native_status=text(told.get("status")) or made.status,
        output=Output(text=answer_of(outputs), structured=plain(outputs) if _is_answer(outputs) else None),
        steps=steps_of(told, row.ref.below("run")),
        usage=UsageByRole(subject=_usage(told)),
        started_at=moment(told.get("start_time")),
        finished_at=moment(told.get("end_time")),
        extra=rest(told, _RUN) | _metadata(told) | _asked(told, example, name) | _verdict(made, told),
        ref=row.ref,
        **made.attempt_fields,
    )


def _execution(told: dict[str, Any]) -> Execution:
    if told.get("error"):
        return "error"
    return "unfinished" if told.get("end_time") is None and not _is_answer(told.get("outputs")) else "completed"


def _is_answer(outputs: Any) -> bool:
    """A run that crashed has `{"output": null}`."""
    return any(value is not None for value in outputs.values()) if isinstance(outputs, dict) else outputs is not None


def _error(told: Any, ref: SourceRef) -> ErrorInfo | None:
    """The exception as Python shows it, then its traceback."""
    if not told:
        return None
    shown, _, traceback = as_text(told).partition("\n\n")
    return error_of(raised_as(shown), "subject", traceback=traceback, ref=ref)


def _check(feedback: dict[str, Any], order: int, ref: SourceRef) -> Check:
    told = JsonFields(feedback)
    score, label, comment = told.take("score"), told.take("value"), text(told.take("comment"))
    value = score if score is not None else label
    here = ref.below("evaluation_results", order)
    broke = value is None and (mapping(told.get("extra")).get("error") is True or _is_exception(comment))
    word = value if isinstance(value, bool | str) or value is None else number(value)
    return Check(
        name=text(told.require("key")),
        status="error" if broke else status_of_value(value),
        order=order,
        kind="criterion",
        value=as_text(value) if word is None and value is not None else word,
        explanation="" if broke else comment,
        error=error_of(raised_as(comment), "scoring", ref=here) if broke else None,
        extra=rest(told.rest()) | non_empty(said=label if score is not None else None),
        ref=here,
    )


def _is_exception(comment: str) -> bool:
    return raised_as(comment).type.endswith(("Error", "Exception", "Timeout"))


def _usage(told: dict[str, Any]) -> Usage:
    tokens: dict[str, Any] = {home: count(told.get(name)) for home, name in _TOKENS.items()}
    cost = number(told.get("total_cost"))
    return Usage(cost=cost, cost_source="unknown" if cost is None else "reported", **tokens)


def _metadata(told: dict[str, Any]) -> dict[str, Any]:
    return non_empty(metadata=rest(metadata_of(told))) | rest(mapping(told.get("extra")), ("metadata",))


def _asked(told: dict[str, Any], example: dict[str, Any], name: str) -> dict[str, Any]:
    """What the example says already is not told again."""
    inputs, of = told.get("inputs"), told.get("reference_example_id")
    return non_empty(inputs=inputs if inputs != example.get("inputs") else None, example=of if of != name else None)


def _verdict(made: RowScore, told: dict[str, Any]) -> dict[str, Any]:
    return non_empty(verdict=made.status if told.get("status") else None, session_id=told.get("session_id"))


def _other(example: dict[str, Any], run: Run) -> dict[str, Any]:
    return non_empty(dataset=example.get("dataset_id") if example.get("dataset_id") != run.suite else None)


def steps_of(run: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    return nested_steps(run, "child_runs", _step, ref)


def _step(told: dict[str, Any], index: int, parent: int | None, ref: SourceRef) -> Step:
    child = JsonFields(told)
    child.drop("child_runs")
    run_type, inputs, said, error = map(child.take, ("run_type", "inputs", "outputs", "error"))
    role, kind = _KINDS.get(text(run_type), ("environment", "log"))
    shown = as_text(error).partition("\n\n")[0] if error else ""
    return Step(
        index=index,
        actor=Actor(role=role, name=text(child.take("name"))),
        kind=kind,
        parent=parent,
        text=answer_of(said) or ("" if said is None else as_text(said)),
        error=error_of(raised_as(shown), "tool" if role == "tool" else "subject", ref=ref) if shown else None,
        started_at=moment(child.take("start_time")),
        ended_at=moment(child.take("end_time")),
        span_id=text(child.take("id")),
        ref=ref,
        extra=rest(child.rest()) | non_empty(inputs=inputs, run_type=run_type),
    )
