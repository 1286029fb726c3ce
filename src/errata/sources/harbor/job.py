"""Reading a job folder of Harbor, or one trial of it alone."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.model import Attempt, Item, Run, case_key
from errata.sources.base import Numbering, of_run
from errata.sources.harbor.job_run import Job, run_of
from errata.sources.harbor.layout import NAME
from errata.sources.harbor.trial import Place, attempts_of, case_of, unfinished
from errata.sources.harbor.trials import Group, Trial, glance, trials_of
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import last_part, mapping, sequence, text


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
    yield from _never_begun(job, runs)


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


def _never_begun(job: Job, runs: dict[Group, Run]) -> Iterator[Item]:
    """Trials that the lock plans and no folder holds; only where one run can be meant."""
    if len(runs) != 1:
        return
    ((group, run),) = runs.items()
    trials = job.groups[group]
    tasks = {last_part(trial.task): trial.task for trial in trials}
    made = Counter(last_part(trial.task) for trial in trials)
    planned = Numbering()
    for at, locked in enumerate(sequence(job.lock.get("trials"))):
        task = mapping(mapping(locked).get("task"))
        name = text(task.get("name")) or text(task.get("path"))
        index = planned.next(last_part(name))
        if name and index > made[last_part(name)]:
            yield Attempt(
                run=run.id,
                case=case_key(run.suite, tasks.get(last_part(name), name)),
                index=index,
                execution="missing",
                measurement="not_run",
                outcome="none",
                ref=msgspec.structs.replace(run.ref, file="lock.json", pointer=f"/trials/{at}") if run.ref else None,
            )
