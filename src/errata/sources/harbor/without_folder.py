"""What a job tells of trials that left no folder: planned and never begun, or broken. Only where one run can be meant.

What was measured and has no folder is none of them: the run says how many, and nobody knows more of it.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from errata.model import Attempt, Run, case_key
from errata.sources.base import Numbering
from errata.sources.harbor.job_run import Job
from errata.sources.harbor.trials import Group
from errata.sources.shared.facts import MISSING, NOT_MADE, Facts
from errata.sources.shared.values import last_part, mapping, sequence, text

NAMED = 32
"""So many letters of its task the name of a trial has."""


def without_folder(job: Job, group: Group, run: Run) -> Iterator[Attempt]:
    tasks = {last_part(trial.task): trial.task for trial in job.groups[group]}
    made = Counter(last_part(trial.task) for trial in job.groups[group])
    for at, name, index in _never_begun(job, group, made):
        yield _attempt(run, tasks.get(last_part(name), name), index, MISSING, "lock.json", f"/trials/{at}")
    named = {short[:NAMED]: short for short in (*map(last_part, map(_planned, _locks(job))), *tasks)}
    for trial, kind in job.broken(group).items():
        task = named.get(_task(trial), _task(trial))
        made[task] += 1
        place = job.ref.below("stats", "evals", job.eval_of(group)[0], "exception_stats", kind).pointer
        told = _attempt(run, tasks.get(task, task), made[task], NOT_MADE, job.ref.file, place)
        yield msgspec.structs.replace(told, native_id=trial, native_status=kind, reported_counted=False)


def _never_begun(job: Job, group: Group, made: Counter[str]) -> Iterator[tuple[int, str, int]]:
    """Where in the lock, which task, and for the how manieth time; not what the job says was made, folder or no."""
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
