"""Read a run of convex-evals: saved answers, else the output of a local run."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Artefact, Attempt, Case, Item, Output, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Numbering, Row, convert_each, describe, of_run, relative, unreadable
from errata.sources.convex_evals import NAME, RUN_LOG, LocalOutput, answer_files, find_output, numbered_folders
from errata.sources.convex_evals.answers import RunAnswers, SavedAnswer, Statement, collect, read_answer
from errata.sources.convex_evals.evals import attempt_of, case_of, eval_of, missing
from errata.sources.convex_evals.files import EvalArtefacts, Storage, from_bytes, output_role, raw_response
from errata.sources.convex_evals.runs import HEADLINE, run_of
from errata.sources.convex_evals.steps import SUITE, facts, not_counted, read_log, with_steps_never_started

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
        output=Output(text=raw_response(artefacts)),
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
