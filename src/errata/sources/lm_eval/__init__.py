"""lm-evaluation-harness: a results document with the samples beside it, or samples alone."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, SourceRef, Unreadable
from errata.sources.base import Row, convert_each, head_of, json_file, of_run, unreadable
from errata.sources.lm_eval.layout import NAME, task_of_file
from errata.sources.lm_eval.recognition import HEAD, is_samples, read_with, recognise, samples_of
from errata.sources.lm_eval.results import Plan, Results
from errata.sources.lm_eval.runs import run_of, run_of_samples
from errata.sources.lm_eval.samples import Document, Task, items_of
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.row_groups import Items, gathered

__all__ = ["NAME", "TITLE", "read", "read_with", "recognise"]

TITLE = "lm-evaluation-harness: `results_*.json` with its `samples_*.jsonl`, or samples alone"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if is_samples(head_of(path, HEAD)):
        yield from _read_samples(path)
        return
    read = json_file(path, source=NAME, root=path)
    if not isinstance(read, Row):
        yield read
        return
    if not isinstance(read.data, dict):
        yield unreadable(NAME, read.ref, "an object expected")
        return
    yield from _read_results(Results(read.data, read.ref), path)


def _read_samples(path: Path) -> Iterator[Item]:
    task, results = task_of_file(path.name), Results({}, SourceRef(file=path.name))
    run = run_of_samples(task, path, results)
    yield run
    yield from of_run(run.id, _rows(Task(run, results, Plan(task, (task,)), task), path))


def _read_results(results: Results, path: Path) -> Iterator[Item]:
    plans = results.plans()
    if not plans:
        yield unreadable(NAME, results.ref, "no results")
    runs = {plan: run_of(results, plan, path) for plan in plans}
    yield from runs.values()
    files = {task_of_file(file.name): file for file in samples_of(path)}
    for plan, run in runs.items():
        for name in plan.tasks:
            file = files.pop(name, None) or _named_after(name, files)
            if file is not None:
                yield from of_run(run.id, _rows(Task(run, results, plan, name), file))
    for file in files.values():
        yield unreadable(NAME, SourceRef(file=file.name), "samples of a task that the results do not name")


def _named_after(task: str, files: dict[str, Path]) -> Path | None:
    """Once a file was named after the model and the task, in one word."""
    found = [name for name in files if name.endswith(f"_{task}")]
    return files.pop(found[0]) if len(found) == 1 else None


def _rows(task: Task, path: Path) -> Iterator[Item]:
    """One a line; once they were one list, in a file of the same name."""
    if not head_of(path, 64).lstrip().startswith(b"["):
        rows = gathered(path, Document, Document.key, source=NAME, root=path.parent)
    else:
        document = long_document(path, "", source=NAME, root=path.parent)
        if isinstance(document, Unreadable):
            yield document
            return
        rows = Items(document, Document, Document.key).together()
    yield from convert_each(rows, partial(items_of, task), source=NAME)
