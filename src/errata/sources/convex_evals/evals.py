"""One eval of a run → its case and its attempt."""

import json
from typing import Any, NamedTuple

from errata.model import Artefact, Attempt, Case, Check, ErrorInfo, Output, Run, SourceRef, attempt_id, case_key
from errata.sources.convex_evals.answers import KINDS, Statement
from errata.sources.convex_evals.files import EvalArtefacts, raw_response
from errata.sources.convex_evals.runs import moment, usage_of
from errata.sources.convex_evals.steps import (
    SUITE,
    checks_of,
    facts,
    generation_error,
    not_counted,
    with_steps_never_started,
)
from errata.sources.shared.facts import MISSING
from errata.sources.shared.values import mapping, plain, rest, seconds, text

_DOCUMENT = (
    "_id",
    "_creationTime",
    "runId",
    "evalPath",
    "category",
    "name",
    "status",
    "task",
    "evalSourceStorageId",
    "steps",
    "failureReason",
    "failedStep",
)
_STATUS = ("kind", "failureReason", "durationMs", "generationDurationMs", "outputStorageId", "usage")


class Eval(NamedTuple):
    """One eval with all statements about it."""

    path: str
    """`category/name`."""
    statements: list[Statement]
    trusted: Statement
    """Its status is used if statements differ."""
    files: EvalArtefacts


def eval_of(statements: list[Statement], files: EvalArtefacts) -> Eval:
    """ValueError if no answer names the eval, or none has a known status."""
    return Eval(_path(statements), statements, _most_trusted(statements), files)


def case_of(run: Run, evaluation: Eval) -> Case:
    tasks = (statement.document.get("task") for statement in evaluation.statements)
    in_files = (artefact.text for artefact in evaluation.files.source if artefact.role == "task")
    categories = (text(statement.document.get("category")) for statement in evaluation.statements)
    above, _, name = evaluation.path.rpartition("/")
    return Case(
        run=run.id,
        suite=SUITE,
        native_id=evaluation.path,
        name=name,
        category=next(filter(None, categories), above),
        input=next((task for task in (*tasks, *in_files) if isinstance(task, str)), None),
        artefacts=tuple(evaluation.files.source),
        ref=evaluation.statements[0].ref,
    )


def attempt_of(run: Run, evaluation: Eval, index: int) -> Attempt:
    statement, case = evaluation.trusted, case_key(SUITE, evaluation.path)
    kind, reason = statement.status["kind"], text(statement.status.get("failureReason"))
    checks = _checks(evaluation)
    judged = facts(kind, reason, checks)
    done = kind in ("passed", "failed")
    return Attempt(
        run=run.id,
        case=case,
        native_id=_id(evaluation),
        index=index,
        duplicate_of=attempt_id(run.id, case) if index > 1 else None,
        execution=judged.execution,
        measurement=judged.measurement,
        outcome=judged.outcome,
        native_status=kind,
        native_reason=reason,
        reported=float(kind == "passed") if done else None,
        reported_counted=not not_counted(reason) if done else None,
        output=Output(text=raw_response(evaluation.files.output)),
        errors=_errors(kind, reason, checks, statement.ref),
        checks=tuple(checks),
        artefacts=tuple(evaluation.files.output),
        usage=usage_of(statement.status),
        started_at=moment(statement.document.get("_creationTime")),
        duration=seconds(statement.status.get("durationMs")),
        durations=_durations(statement.status),
        links=evaluation.files.links,
        extra=_extra(evaluation),
        ref=statement.ref,
    )


def missing(run: Run, path: str, ref: SourceRef) -> tuple[Case, Attempt]:
    """A planned eval without a document."""
    category, _, name = path.rpartition("/")
    execution, measurement, outcome = MISSING
    case = Case(run=run.id, suite=SUITE, native_id=path, name=name, category=category, ref=ref)
    return case, Attempt(
        run=run.id,
        case=case.key,
        execution=execution,
        measurement=measurement,
        outcome=outcome,
        ref=ref,
    )


def _pipeline(source: list[Artefact]) -> str:
    """Evals that are not deployed name theirs in `eval.json`: `"pipeline": "static"`."""
    config = next((artefact.text for artefact in source if artefact.path == "eval.json"), None)
    try:
        return text(mapping(json.loads(config or "null")).get("pipeline"))
    except (ValueError, RecursionError):
        return ""


def _path(statements: list[Statement]) -> str:
    for statement in statements:
        document = statement.document
        if path := text(document.get("evalPath")):
            return path
        if text(document.get("category")) and text(document.get("name")):
            return f"{document['category']}/{document['name']}"
    raise ValueError("an eval without `evalPath`")


def _id(evaluation: Eval) -> str:
    """The id of the eval's document, for further queries to the deployment."""
    return next(
        filter(
            None, (text(statement.document.get("_id")) for statement in (evaluation.trusted, *evaluation.statements))
        ),
        "",
    )


def _most_trusted(statements: list[Statement]) -> Statement:
    for statement in statements:
        if statement.status.get("kind") in KINDS:
            return statement
    raise ValueError("an eval without a known status")


def _checks(evaluation: Eval) -> list[Check]:
    """The steps of the trusted statement, else of the next one with steps."""
    for statement in (evaluation.trusted, *evaluation.statements):
        if statement.steps is None:
            continue
        if statement.kind == "failed":
            # this answer has only one step: the others are unknown, not "not run"
            return checks_of(statement.steps, statement.ref)
        place = (statement.answer.ref if statement.kind == "debug" else statement.ref).below("steps")
        return with_steps_never_started(checks_of(statement.steps, place), pipeline=_pipeline(evaluation.files.source))
    return []


def _errors(kind: str, reason: str, checks: list[Check], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    errors = [check.error for check in checks if check.error]
    never_generated = not any(check.failed for check in checks)
    if kind == "failed" and not errors and (never_generated or not_counted(reason)):
        return (generation_error(reason, ref),)
    return tuple(errors)


def _durations(status: dict[str, Any]) -> dict[str, float]:
    generation = seconds(status.get("generationDurationMs"))
    return {} if generation is None else {"generation": generation}


def _extra(evaluation: Eval) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    for statement in reversed(evaluation.statements):
        extra |= rest(statement.document, _DOCUMENT)
    extra |= rest(evaluation.trusted.status, _STATUS)
    contradicted = [
        _position(statement) for statement in evaluation.statements if _contradicts(statement, evaluation.trusted)
    ]
    if contradicted:
        extra["contradicted_by"] = contradicted
    return extra


def _contradicts(statement: Statement, trusted: Statement) -> bool:
    return statement.status.get("kind") != trusted.status["kind"] or (
        statement.status.get("failureReason") != trusted.status.get("failureReason")
    )


def _position(statement: Statement) -> dict[str, Any]:
    status = {
        key: plain(statement.status.get(key))
        for key in ("kind", "failureReason")
        if statement.status.get(key) is not None
    }
    return {"file": statement.ref.file, **status}
