"""Read a run of convex-evals: saved answers, else the output of a local run."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import (
    Artefact,
    Attempt,
    Case,
    Check,
    ErrorInfo,
    Item,
    Run,
    SourceInfo,
    SourceRef,
    Subject,
    Unreadable,
    attempt_id,
    case_key,
)
from errata.model.identity import fingerprint
from errata.sources.base import Numbering, Row, convert_each, describe, of_run, relative, unreadable
from errata.sources.convex_evals import NAME, RUN_LOG, LocalOutput, answer_files, find_output, numbered_folders
from errata.sources.convex_evals.answers import KINDS, RunAnswers, SavedAnswer, Statement, collect, read_answer
from errata.sources.convex_evals.files import EvalArtefacts, Storage, from_bytes, output_role, raw_response
from errata.sources.convex_evals.runs import HEADLINE, moment, run_of, usage_of
from errata.sources.convex_evals.steps import (
    SUITE,
    checks_of,
    facts,
    generation_error,
    not_counted,
    read_log,
    with_steps_never_started,
)
from errata.sources.shared.facts import MISSING
from errata.sources.shared.values import mapping, plain, rest, seconds, text
from errata.text.lazy_regex import lazy_regex

FILE_CAP = 16 * 1024 * 1024
_LEFT_OUT = ("node_modules", "_generated")
"""The harness does not upload these either."""


def read_path(path: Path) -> Iterator[Item]:
    root = path if path.is_dir() else path.parent
    answers = [read_answer(file, root) for file in answer_files(path)]
    runs, lost = collect(answer for answer in answers if isinstance(answer, SavedAnswer))
    if not runs and (outputs := find_output(path)):
        yield from read_output(path, outputs)
        return
    storage = Storage(root)
    for run_answers in runs:
        run = run_of(run_answers, root, part=run_answers.part if path.is_file() else "")
        yield run
        yield from of_run(run.id, _read_run(run, run_answers, storage))
    yield from lost
    yield from (answer for answer in answers if isinstance(answer, Unreadable))


def _read_run(run: Run, run_answers: RunAnswers, storage: Storage) -> Iterator[Item]:
    numbering = Numbering()
    evals = run_answers.evals()
    for statements in evals.values():
        # outside of `convert_each`: a hostile archive stops the import
        files = storage.files_of(statements)
        yield from files.damaged
        row = Row([statement.document for statement in statements], statements[0].ref)
        yield from convert_each([row], partial(_items_of, run, statements, files, numbering), source=NAME)
    present = {str(statement.document.get("evalPath")) for statements in evals.values() for statement in statements}
    for path, ref in run_answers.planned.items():
        if path not in present:
            yield from missing(run, path, ref)


def _items_of(
    run: Run, statements: list[Statement], files: EvalArtefacts, numbering: Numbering, _: Row
) -> Iterator[Item]:
    evaluation = eval_of(statements, files)
    index = numbering.next(evaluation.path)
    if index == 1:
        yield case_of(run, evaluation)
    yield attempt_of(run, evaluation, index)


def read_output(path: Path, places: list[LocalOutput]) -> Iterator[Item]:
    for place in places:
        evals = [folder for category in numbered_folders(place.folder) for folder in numbered_folders(category)]
        run = Run(
            native_id=place.results or fingerprint([folder.name for folder in evals]),
            group=place.results if len(places) > 1 else "",
            source=SourceInfo(name=NAME),
            subject=Subject(model=place.model),
            suite=SUITE,
            reported=(HEADLINE,),
            origin=str(path),
            extra={"answers": ["local output"]},
            ref=SourceRef(file=relative(place.folder, path)),
        )
        yield run
        for folder in evals:
            yield from of_run(run.id, _local_eval(run, folder, path))


def _local_eval(run: Run, folder: Path, root: Path) -> Iterator[Item]:
    path = f"{folder.parent.name}/{folder.name}"
    files = list(_local_files(folder, root))
    artefacts = [file for file in files if isinstance(file, Artefact)]
    ref = SourceRef(file=relative(folder / RUN_LOG, root))
    case = Case(run=run.id, suite=SUITE, native_id=path, name=folder.name, category=folder.parent.name, ref=ref)
    yield case
    yield _local_attempt(case, artefacts, ref)
    yield from (file for file in files if isinstance(file, Unreadable))


def _local_attempt(case: Case, artefacts: list[Artefact], ref: SourceRef) -> Attempt:
    text = next((artefact.text for artefact in artefacts if artefact.role == "log"), None)
    log = read_log(text or "", ref)
    judged = facts(log.kind, log.reason, log.checks)
    done = log.kind in ("passed", "failed")
    return Attempt(
        run=case.run,
        case=case.key,
        execution=judged.execution,
        measurement=judged.measurement,
        outcome=judged.outcome,
        native_status=log.kind,
        native_reason=log.reason,
        reported=float(log.kind == "passed") if done else None,
        reported_counted=not not_counted(log.reason) if done else None,
        output=raw_response(artefacts),
        errors=log.errors,
        checks=tuple(with_steps_never_started(log.checks)),
        artefacts=tuple(artefacts),
        ref=ref,
    )


def _local_files(folder: Path, root: Path) -> Iterator[Artefact | Unreadable]:
    for path in _walk(folder):
        ref = SourceRef(file=relative(path, root))
        try:
            if path.stat().st_size > FILE_CAP:
                yield unreadable(NAME, ref, f"larger than {FILE_CAP // 2**20} MB")
                continue
            yield from_bytes(relative(path, folder), path.read_bytes(), output_role, ref)
        except OSError as error:
            yield unreadable(NAME, ref, describe(error))


def _walk(folder: Path) -> Iterator[Path]:
    """Files in order; links are skipped, because they may lead out of the folder."""
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return
    for child in children:
        if child.is_symlink() or child.name in _LEFT_OUT or child.name.startswith((".env", "bun.lock")):
            continue
        if child.is_file():
            yield child
        elif child.is_dir() and not child.name.startswith("."):
            yield from _walk(child)


# --- one eval of a run → its case and its attempt


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
        stop_reason=_stop_reason(statement.status, evaluation.files.output),
        reported=float(kind == "passed") if done else None,
        reported_counted=not not_counted(reason) if done else None,
        output=raw_response(evaluation.files.output),
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
            return checks_of(statement.steps, statement.ref.below("failedStep"), is_one=True)
        place = (statement.answer.ref if statement.kind == "debug" else statement.ref).below("steps")
        return with_steps_never_started(checks_of(statement.steps, place), pipeline=_pipeline(evaluation.files.source))
    return []


def _errors(kind: str, reason: str, checks: list[Check], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    errors = [check.error for check in checks if check.error]
    never_generated = not any(check.failed for check in checks)
    if kind == "failed" and not errors and (never_generated or not_counted(reason)):
        return (generation_error(reason, ref),)
    return tuple(errors)


# `[generate] finishReason=length outputTokens=16384`
_FINISHED = lazy_regex(r"^\[\w+\] .{0,200}?\bfinish_?[rR]eason[\"']?[=:] ?[\"']?(?P<word>[\w-]+)", re.MULTILINE)


def _stop_reason(status: dict[str, Any], output: list[Artefact]) -> str:
    """Why the model stopped, in the provider's word: the harness keeps it beside the cost, or in its log."""
    raw = mapping(mapping(status.get("usage")).get("raw"))
    words = (text(raw.get(key)) for key in ("finish_reason", "finishReason", "stop_reason"))
    logs = (_FINISHED.search(one.text) for one in output if one.role == "log" and one.text)
    return next(filter(None, (*words, *(match["word"] for match in logs if match))), "")


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
