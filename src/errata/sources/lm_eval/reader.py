"""Results and samples → runs with lm-eval's own numbers: one per task, or per group that has a number."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from errata.model import Artefact, CodeVersion, Item, Reported, Run, Scorer, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, children, convert_each, head_of, json_file, of_run, unreadable
from errata.sources.lm_eval import HEAD, NAME, SAMPLES_FILE, is_samples, results_of
from errata.sources.lm_eval.results import ResultsDocument, TaskPlan
from errata.sources.lm_eval.samples import DocumentKey, Task, items_of
from errata.sources.shared.json_rows import long_document
from errata.sources.shared.row_groups import ItemGroups, read_groups
from errata.sources.shared.values import (
    as_text,
    indented_json,
    mapping,
    moment_since_1970,
    non_empty,
    rest,
    settings,
    text,
)

_PER_TASK = ("configs", "versions", "n-shot", "higher_is_better", "n-samples", "task_hashes")
_ENVIRONMENT = ("pretty_env_info", "transformers_version", "lm_eval_version", "upper_git_hash")
_CONTEXT = ("system_instruction", "chat_template")
_HOMES = frozenset(
    (*_PER_TASK, *_ENVIRONMENT, *_CONTEXT, "results", "groups", "group_subtasks", "config", "date", "git_hash",
     "model_name")
)  # fmt: skip


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
        yield unreadable(NAME, read.ref, "expected an object")
        return
    yield from _read_results(ResultsDocument(read.data, read.ref), path)


def _read_samples(path: Path) -> Iterator[Item]:
    task, results = task_of_file(path.name), ResultsDocument({}, SourceRef(file=path.name))
    run = run_of_samples(task, path, results)
    yield run
    yield from of_run(run.id, _rows(Task(run, results, TaskPlan(task, (task,)), task), path))


def _read_results(results: ResultsDocument, path: Path) -> Iterator[Item]:
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
        yield unreadable(NAME, SourceRef(file=file.name), "samples of a task that is not in the results")


def samples_of(results: Path) -> list[Path]:
    """The sample files of these results; a file whose first row is damaged is recognised by its name."""
    rows = [child for child in children(results.parent) if child.suffix in (".jsonl", ".json") and child != results]
    samples = [child for child in rows if SAMPLES_FILE.fullmatch(child.name) or is_samples(head_of(child, HEAD))]
    return [child for child in samples if results_of(child) == results]


def task_of_file(name: str) -> str:
    match = SAMPLES_FILE.fullmatch(name)
    return match["task"] if match else name.rpartition(".")[0] or name


def _named_after(task: str, files: dict[str, Path]) -> Path | None:
    """Older versions named a file after the model and the task, without a separator."""
    names = [name for name in files if name.endswith(f"_{task}")]
    return files.pop(names[0]) if len(names) == 1 else None


def _rows(task: Task, path: Path) -> Iterator[Item]:
    """One row per line; older versions wrote a list, in a file with the same name."""
    if not head_of(path, 64).lstrip().startswith(b"["):
        rows = read_groups(path, DocumentKey, DocumentKey.key, source=NAME, root=path.parent)
    else:
        document = long_document(path, "", source=NAME, root=path.parent)
        if isinstance(document, Unreadable):
            yield document
            return
        rows = ItemGroups(document, DocumentKey, DocumentKey.key).together()
    yield from convert_each(rows, partial(items_of, task), source=NAME)


def run_of(results: ResultsDocument, plan: TaskPlan, path: Path) -> Run:
    document = results.document
    config = mapping(document.get("config"))
    sizes = [results.size(task) for task in plan.tasks]
    sample_count = sum(size or 0 for size in sizes) if any(size is not None for size in sizes) else None
    return Run(
        native_id=_native_id(document, plan, path),
        group=moment_since_1970(document.get("date")) or path.stem,
        source=SourceInfo(name=NAME, format_version=text(document.get("lm_eval_version"))),
        name=_alias(results, plan),
        subject=_subject(document, config),
        variant=_variant(document, plan),
        suite=plan.name,
        suite_version=_of_task(document, "versions", plan.name),
        expected_cases=sample_count,
        measured_attempts=sample_count,
        measured_unit="cases",
        started_at=moment_since_1970(document.get("date")),
        reported=tuple(_reported(results, plan)),
        scorers=tuple(_scorers(results, plan)),
        context=tuple(_context(results, plan)),
        code=CodeVersion(commit=text(document["git_hash"])) if text(document.get("git_hash")) else None,
        environment=rest({name: document.get(name) for name in _ENVIRONMENT}),
        origin=str(path.parent),
        extra=_extra(results, plan, config),
        ref=results.ref.below("results", plan.name),
    )


def run_of_samples(task: str, path: Path, results: ResultsDocument) -> Run:
    """Samples without results: neither the model nor the reported numbers are known."""
    return Run(
        native_id=path.stem,
        source=SourceInfo(name=NAME),
        suite=task,
        origin=str(path.parent),
        ref=results.ref,
    )


def _native_id(document: dict[str, Any], plan: TaskPlan, path: Path) -> str:
    since = moment_since_1970(document.get("date"))
    return f"{plan.name}_{since}" if since else f"{plan.name}_{path.stem}"


def _alias(results: ResultsDocument, plan: TaskPlan) -> str:
    alias = text(results.entries.get(plan.name, {}).get("alias")).strip(" -")
    return alias if alias != plan.name else ""


def _subject(document: dict[str, Any], config: dict[str, Any]) -> Subject:
    arguments = _arguments(config.get("model_args"))
    model = text(document.get("model_name")) or as_text(arguments.get("pretrained") or arguments.get("model") or "")
    params = {"model_args": arguments, "gen_kwargs": config.get("gen_kwargs")}
    return Subject(model=model, provider=text(config.get("model")), params=settings(rest(params)))


def _arguments(arguments: Any) -> dict[str, Any]:
    """As a mapping, or as typed: `pretrained=gpt2,dtype=auto`."""
    if isinstance(arguments, str):
        pairs = (pair.partition("=") for pair in arguments.split(",") if pair)
        return {name.strip(): value for name, _, value in pairs}
    return mapping(arguments)


def _variant(document: dict[str, Any], plan: TaskPlan) -> dict[str, str]:
    shots = {_of_task(document, "n-shot", task) for task in plan.tasks}
    return {"num_fewshot": shots.pop()} if len(shots) == 1 and shots != {""} else {}


def _of_task(document: dict[str, Any], field: str, task: str) -> str:
    value = mapping(document.get(field)).get(task)
    return as_text(value) if value is not None else ""


def _reported(results: ResultsDocument, plan: TaskPlan) -> Iterator[Reported]:
    """The numbers of a group's tasks are listed after the number of the group."""
    for name in dict.fromkeys((plan.name, *plan.tasks)):
        own = name == plan.name
        for at, measure in enumerate(results.measures(name)):
            yield Reported(
                name=measure.name if own else f"{name}/{measure.name}",
                metric=results.averages(plan if own else TaskPlan(name, (name,)), measure),
                filter=measure.filter,
                value=measure.value,
                stderr=measure.stderr,
                n=None if plan.is_group and own else results.size(name),
                headline=own and at == 0,
                ref=results.ref.below("results", name, measure.key),
            )


def _scorers(results: ResultsDocument, plan: TaskPlan) -> Iterator[Scorer]:
    for name in dict.fromkeys(measure.name for task in plan.tasks for measure in results.measures(task)):
        lower = any(results.lower_is_better(task, name) for task in plan.tasks)
        yield Scorer(name=name, lower_is_better=lower)


def _context(results: ResultsDocument, plan: TaskPlan) -> Iterator[Artefact]:
    for name in _CONTEXT:
        prompt = results.document.get(name)
        if prompt:
            yield _artefact(name, prompt if isinstance(prompt, str) else indented_json(prompt))
    configs = {task: results.config(task) for task in plan.tasks if results.config(task)}
    for task, config in configs.items():
        yield _artefact(f"{task}.json", indented_json(settings(config)), config=True)


def _artefact(path: str, content: str, *, config: bool = False) -> Artefact:
    return Artefact(role="config" if config else "context", path=path, text=content, size=len(content.encode()))


def _extra(results: ResultsDocument, plan: TaskPlan, config: dict[str, Any]) -> dict[str, Any]:
    document = results.document
    names = dict.fromkeys((plan.name, *plan.tasks))
    of_tasks = {
        field: {name: values[name] for name in names if name in values}
        for field in (*_PER_TASK[1:], "group_subtasks")
        if (values := mapping(document.get(field)))
    }
    entries = {name: rest(results.entries.get(name, {}), _measured_keys(results, name)) for name in names}
    configured: dict[str, Any] = settings(rest(config, ("model", "model_args", "gen_kwargs")))
    shared: dict[str, Any] = settings(rest(document, _HOMES))
    return shared | non_empty(config=configured, entries=rest(entries), **rest(of_tasks))


def _measured_keys(results: ResultsDocument, name: str) -> set[str]:
    """The keys of an entry that are in `reported`."""
    keys = set()
    for measure in results.measures(name):
        keys |= {measure.key, measure.key.replace(measure.name, f"{measure.name}_stderr", 1)}
    return keys
