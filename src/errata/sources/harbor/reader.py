"""Read a Harbor job folder, a single trial, and the trials without a folder."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.model import Attempt, Item, Run, case_key
from errata.sources.base import Numbering, of_run
from errata.sources.harbor import NAME, kind_of, terminal_bench
from errata.sources.harbor.attempts import TrialContext, attempts_of, case_of, unfinished
from errata.sources.harbor.runs import EvalKey, HarborTrial, Job, glance, run_of, trials_of
from errata.sources.shared.documents import Documents
from errata.sources.shared.facts import MISSING, NOT_MADE, Facts
from errata.sources.shared.values import last_part, mapping, sequence, text

NAMED = 32
"""The name of a trial contains this many characters of its task's name."""


def read_path(path: Path) -> Iterator[Item]:
    kind = kind_of(path)
    if kind == "terminal-bench" or path.is_file():
        yield from terminal_bench.read(path)
    elif kind == "trial":
        yield from read_trial(path)
    else:
        yield from read_job(path)


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
    """A single trial is a run of its own, so that it does not replace its job."""
    documents = Documents(folder, NAME, keep="end")
    trial = glance(str(folder), documents)
    if trial is None:
        yield from documents.problems()
        return
    job = Job(folder, [trial], documents)
    made = run_of(job, trial.group)
    result, own = job.result, text(job.result.get("id")) or trial.name
    source = text(mapping(mapping(result.get("config")).get("source_trial")).get("trial_id"))
    job.result = {}
    run = msgspec.structs.replace(
        made,
        id="",
        native_id=own,
        group=trial.job,
        works_of=(source,) if source else (),
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


def _trials(job: Job, run: Run, trials: list[HarborTrial], documents: Documents) -> Iterator[Item]:
    numbering = Numbering()
    digests: dict[str, str] = {}
    for trial in sorted(trials, key=lambda trial: (trial.task, trial.name, trial.folder_name)):
        case, index = case_key(run.suite, trial.task), numbering.next(trial.task)
        ref = documents.ref(trial.file, trial.pointer)
        context = TrialContext(run, case, index, ref, trial.place, trial.names)
        result = trial.inline or documents.get(trial.file)
        if not trial.has_result:
            file = f"{trial.place}{os.sep}config.json"
            ref, config = documents.ref(file), documents.get(file)
            yield unfinished(trial.task, config, context._replace(ref=ref), documents)
            yield from documents.problems()
            continue
        if trial.task not in digests:
            digests[trial.task] = text(result.get("task_checksum"))
            yield case_of(run, trial.task, result, context.ref)
        counted = context._replace(
            counted=job.counted(trial, result), again="requeue" if trial.name in job.requeued else None
        )
        yield from attempts_of(result, counted, documents, digests[trial.task])
        yield from documents.problems()


def without_folder(job: Job, group: EvalKey, run: Run) -> Iterator[Attempt]:
    """Trials of a job without a folder: never started, or ended by an exception.

    Only for jobs with a single run. Measured trials without a folder are not included: the run has their number.
    """
    tasks = {last_part(trial.task): trial.task for trial in job.groups[group]}
    made = Counter(last_part(trial.task) for trial in job.groups[group])
    for at, name, index in _never_begun(job, group, made):
        yield _attempt(run, tasks.get(last_part(name), name), index, MISSING, "lock.json", f"/trials/{at}")
    named = {short[:NAMED]: short for short in (*map(last_part, map(_planned, _locks(job))), *tasks)}
    for trial, kind in job.broken(group).items():
        task = named.get(_task(trial), _task(trial))
        made[task] += 1
        place = job.ref.below("stats", "evals", job.eval_of(group)[0], "exception_stats", kind).pointer
        attempt = _attempt(run, tasks.get(task, task), made[task], NOT_MADE, job.ref.file, place)
        yield msgspec.structs.replace(attempt, native_id=trial, native_status=kind, reported_counted=False)


def _never_begun(job: Job, group: EvalKey, made: Counter[str]) -> Iterator[tuple[int, str, int]]:
    """Position in the lock, task and attempt number of each planned trial that the job never ran."""
    gone = Counter(map(_task, job.unseen(group)))
    planned, locks = Numbering(), _locks(job)
    for at, locked in enumerate(locks if job.ended(group) < len(locks) else ()):
        name = _planned(locked)
        short, index = last_part(name), planned.next(last_part(name))
        if not name or index <= made[short]:
            continue
        if gone[short[:NAMED]] > 0:
            gone[short[:NAMED]] -= 1
        else:
            yield at, name, index


def _attempt(run: Run, task: str, index: int, facts: Facts, file: str, pointer: str) -> Attempt:
    return Attempt(
        run=run.id,
        case=case_key(run.suite, task),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        ref=msgspec.structs.replace(run.ref, file=file, pointer=pointer) if run.ref else None,
    )


def _locks(job: Job) -> list[object]:
    return sequence(job.lock.get("trials"))


def _planned(locked: object) -> str:
    task = mapping(mapping(locked).get("task"))
    return text(task.get("name")) or text(task.get("path"))


def _task(trial: str) -> str:
    return trial.rpartition("__")[0]
