"""Reading a job folder of Harbor, or one trial of it alone."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.model import Item, Run, case_key
from errata.sources.base import Numbering, of_run
from errata.sources.harbor.job_run import Job, run_of
from errata.sources.harbor.layout import NAME
from errata.sources.harbor.trial import Place, attempts_of, case_of, unfinished
from errata.sources.harbor.trials import Trial, glance, trials_of
from errata.sources.harbor.without_folder import without_folder
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import text


def read_job(folder: Path) -> Iterator[Item]:
    documents = Documents(folder, NAME, keep="end")
    trials, lost = trials_of(folder, documents)
    job = Job(folder, trials, documents)
    runs = {group: run_of(job, group) for group in job.groups}
    yield from runs.values()
    yield from lost
    yield from documents.problems()
    for group, run in runs.items():
        yield from of_run(run.id, _trials(job, run, job.groups[group], documents))
    if len(runs) == 1:
        ((group, run),) = runs.items()
        yield from without_folder(job, group, run)


def read_trial(folder: Path) -> Iterator[Item]:
    """Alone it is a run of its own: it must not stand for the job that it was made in."""
    documents = Documents(folder, NAME, keep="end")
    trial = glance(folder, documents)
    if trial is None:
        yield from documents.problems()
        return
    job = Job(folder, [trial], documents)
    made = run_of(job, trial.group)
    result, own = job.result, text(job.result.get("id")) or trial.name
    job.result = {}
    run = msgspec.structs.replace(
        made,
        id="",
        native_id=own,
        group=trial.job,
        name=trial.name,
        native_status="",
        reported=(),
        expected_cases=1,
        ref=documents.ref(folder / ("result.json" if result else "config.json")),
        extra={},
        context=(),
    )
    yield run
    yield from _trials(job, run, [trial], documents)


def _trials(job: Job, run: Run, trials: list[Trial], documents: Documents) -> Iterator[Item]:
    numbering = Numbering()
    digests: dict[str, str] = {}
    for trial in sorted(trials, key=lambda trial: (trial.task, trial.name, trial.folder.name)):
        case, index = case_key(run.suite, trial.task), numbering.next(trial.task)
        file = job.folder / "result.json" if trial.inline else trial.folder / "result.json"
        place = Place(run, case, index, documents.ref(file, trial.pointer), trial.folder)
        result = trial.inline or documents.get(file)
        if not trial.has_result:
            ref = documents.ref(trial.folder / "config.json")
            config = documents.get(trial.folder / "config.json")
            yield unfinished(trial.task, config, place._replace(ref=ref), documents)
            yield from documents.problems()
            continue
        if trial.task not in digests:
            digests[trial.task] = text(result.get("task_checksum"))
            yield case_of(run, trial.task, result, place.ref)
        counted = place._replace(counted=job.counted(trial, result))
        yield from attempts_of(result, counted, documents, digests[trial.task])
        yield from documents.problems()
