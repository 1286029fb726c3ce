"""A batch folder: `batch_summary.json` of either generation, thread logs, and one folder per experiment."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.model import Attempt, Case, Item, Run, case_key
from errata.sources.scylla.append_only import entries_told, is_append_only
from errata.sources.scylla.batch_run import Batch, run_of
from errata.sources.scylla.experiment import open_experiment, task_artefacts, task_text
from errata.sources.scylla.layout import NAME
from errata.sources.scylla.runs_of_batch import children_of, with_runs
from errata.sources.scylla.sessions import number_sessions
from errata.sources.scylla.summary_rows import rows_told, summary_rows
from errata.sources.scylla.tests_of_batch import SUITE, attempt_of
from errata.sources.scylla.thread_log import Logs, read_logs
from errata.sources.scylla.values import test_of
from errata.sources.shared.documents import Documents, folders
from errata.sources.shared.facts import UNFINISHED
from errata.sources.shared.values import mapping, sequence, text


def read_batch(root: Path, summary_path: Path) -> Iterator[Item]:
    """`root` is the folder, or the summary itself where it lies alone."""
    batch = _open(root, summary_path)
    run = run_of(batch)
    attempts = _attempts(batch, run)
    yield run
    yield from batch.logs.problems
    yield from batch.documents.problems()
    yield from _cases(batch, run, attempts)
    for attempt in attempts:
        yield from with_runs(_with_log(batch, attempt), attempts, batch.experiments, batch.documents)
    yield from children_of(attempts, batch.experiments, batch.documents)
    yield from batch.documents.problems()


def _open(root: Path, summary_path: Path) -> Batch:
    alone = root == summary_path
    documents = Documents(root.parent if alone else root, NAME)
    summary = documents.get(summary_path)
    logs = Logs() if alone else read_logs(root)
    number_sessions(logs.blocks)
    found = [] if alone else [folder for folder in folders(root) if _is_experiment(folder)]
    experiments = [open_experiment(folder, documents) for folder in found]
    return Batch(root, documents, summary, documents.ref(summary_path), logs, experiments, is_append_only(summary))


def _is_experiment(folder: Path) -> bool:
    return test_of(folder.name) != folder.name or (folder / "checkpoint.json").is_file()


def _attempts(batch: Batch, run: Run) -> list[Attempt]:
    """One attempt per test and session, each pointing to the one that took its place."""
    rows = summary_rows(batch.summary, batch.summary_ref, batch.documents)
    if batch.append_only:
        told = [(entry.attempt(run.id), entry.block) for entry in entries_told(rows, batch.logs)]
    else:
        of_rows = rows_told(rows, batch.logs, planned=batch.planned, completed_at=batch.summary.get("completed_at"))
        told = [(attempt_of(run.id, one), one.block) for one in of_rows]
    batch.logged = {attempt.id: block.ref for attempt, block in told if block}
    made = [attempt for attempt, _ in told]
    made += _unlisted(batch, run, {attempt.case for attempt in made})
    latest: dict[str, Attempt] = {}
    for attempt in made:
        known_latest = latest.get(attempt.case)
        if known_latest is None or (attempt.session or 0) > (known_latest.session or 0):
            latest[attempt.case] = attempt
    return [_superseded(attempt, latest[attempt.case]) for attempt in made]


def _unlisted(batch: Batch, run: Run, cases: set[str]) -> list[Attempt]:
    """Experiments that neither the summary nor a log speaks of: begun, and never accounted for."""
    of_case = {case_key(SUITE, experiment.test): experiment for experiment in batch.experiments}
    facts = UNFINISHED._asdict()
    return [
        Attempt(run=run.id, case=case, session=1, native_status=one.checkpoint.status, ref=one.ref, **facts)
        for case, one in of_case.items()
        if case not in cases
    ]


def _with_log(batch: Batch, attempt: Attempt) -> Attempt:
    """What its thread logged while it ran. Read only now: all attempts of a batch are held at once."""
    place = batch.logged.get(attempt.id)
    log = batch.documents.passage(place, "log") if place else None
    return msgspec.structs.replace(attempt, artefacts=(*attempt.artefacts, log)) if log else attempt


def _superseded(attempt: Attempt, latest: Attempt) -> Attempt:
    if attempt.session == latest.session:
        return attempt
    return msgspec.structs.replace(attempt, superseded_by=latest.id)


def _cases(batch: Batch, run: Run, attempts: list[Attempt]) -> Iterator[Item]:
    """One case per test. The task is read from the newest experiment of it."""
    newest = {experiment.test: experiment for experiment in batch.experiments}
    names = {
        text(row.get("test_id")): row.get("test_name") for row in map(mapping, sequence(batch.summary.get("results")))
    }
    for key in dict.fromkeys(attempt.case for attempt in attempts):
        test = key.removeprefix(f"{SUITE}/")
        experiment = newest.get(test)
        task = task_artefacts(experiment, batch.documents) if experiment else ()
        yield Case(
            run=run.id,
            suite=SUITE,
            native_id=test,
            name=text(names.get(test)),
            input=task_text(task),
            artefacts=task,
            ref=batch.documents.ref(experiment.folder / "prompt.md") if task and experiment else batch.summary_ref,
        )
