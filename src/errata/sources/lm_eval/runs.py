"""A task or a group of the results → its run, with lm-eval's own numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Artefact, Code, Reported, Run, Scorer, SourceInfo, Subject
from errata.sources.lm_eval.layout import NAME
from errata.sources.lm_eval.results import Plan, Results
from errata.sources.shared.values import as_text, known, mapping, moment_since_1970, rest, settings, text

_PER_TASK = ("configs", "versions", "n-shot", "higher_is_better", "n-samples", "task_hashes")
_ENVIRONMENT = ("pretty_env_info", "transformers_version", "lm_eval_version", "upper_git_hash")
_CONTEXT = ("system_instruction", "chat_template")
_HOMES = frozenset(
    (*_PER_TASK, *_ENVIRONMENT, *_CONTEXT, "results", "groups", "group_subtasks", "config", "date", "git_hash",
     "model_name")
)  # fmt: skip


def run_of(results: Results, plan: Plan, path: Path) -> Run:
    document = results.document
    config = mapping(document.get("config"))
    sizes = [results.size(task) for task in plan.tasks]
    measured = sum(size or 0 for size in sizes) if any(size is not None for size in sizes) else None
    return Run(
        native_id=_native_id(document, plan, path),
        group=moment_since_1970(document.get("date")) or path.stem,
        source=SourceInfo(name=NAME, format_version=text(document.get("lm_eval_version"))),
        name=_alias(results, plan),
        subject=_subject(document, config),
        variant=_variant(document, plan),
        suite=plan.name,
        suite_version=_of_task(document, "versions", plan.name),
        expected_cases=measured,
        measured_attempts=measured,
        started_at=moment_since_1970(document.get("date")),
        reported=tuple(_reported(results, plan)),
        scorers=tuple(_scorers(results, plan)),
        context=tuple(_context(results, plan)),
        code=Code(commit=text(document["git_hash"])) if text(document.get("git_hash")) else None,
        environment=rest({name: document.get(name) for name in _ENVIRONMENT}),
        origin=str(path.parent),
        extra=_extra(results, plan, config),
        ref=results.ref.below("results", plan.name),
    )


def run_of_samples(task: str, path: Path, results: Results) -> Run:
    """Of rows alone: neither the model nor any number of theirs is known."""
    return Run(
        native_id=path.stem,
        source=SourceInfo(name=NAME),
        suite=task,
        origin=str(path.parent),
        ref=results.ref,
    )


def _native_id(document: dict[str, Any], plan: Plan, path: Path) -> str:
    since = moment_since_1970(document.get("date"))
    return f"{plan.name}_{since}" if since else f"{plan.name}_{path.stem}"


def _alias(results: Results, plan: Plan) -> str:
    told = text(results.entries.get(plan.name, {}).get("alias")).strip(" -")
    return told if told != plan.name else ""


def _subject(document: dict[str, Any], config: dict[str, Any]) -> Subject:
    given = _arguments(config.get("model_args"))
    model = text(document.get("model_name")) or as_text(given.get("pretrained") or given.get("model") or "")
    asked = {"model_args": given, "gen_kwargs": config.get("gen_kwargs")}
    return Subject(model=model, provider=text(config.get("model")), params=settings(rest(asked)))


def _arguments(told: Any) -> dict[str, Any]:
    """As a mapping, or as they were typed: `pretrained=gpt2,dtype=auto`."""
    if isinstance(told, str):
        pairs = (pair.partition("=") for pair in told.split(",") if pair)
        return {name.strip(): value for name, _, value in pairs}
    return mapping(told)


def _variant(document: dict[str, Any], plan: Plan) -> dict[str, str]:
    shots = {_of_task(document, "n-shot", task) for task in plan.tasks}
    return {"num_fewshot": shots.pop()} if len(shots) == 1 and shots != {""} else {}


def _of_task(document: dict[str, Any], field: str, task: str) -> str:
    told = mapping(document.get(field)).get(task)
    return as_text(told) if told is not None else ""


def _reported(results: Results, plan: Plan) -> Iterator[Reported]:
    """What the tasks of a group come to is kept beside the number of the group."""
    for name in dict.fromkeys((plan.name, *plan.tasks)):
        own = name == plan.name
        for at, measure in enumerate(results.measures(name)):
            yield Reported(
                name=measure.name if own else f"{name}/{measure.name}",
                metric=results.averages(plan if own else Plan(name, (name,)), measure),
                filter=measure.filter,
                value=measure.value,
                stderr=measure.stderr,
                n=None if plan.is_group and own else results.size(name),
                headline=own and at == 0,
                ref=results.ref.below("results", name, measure.key),
            )


def _scorers(results: Results, plan: Plan) -> Iterator[Scorer]:
    for name in dict.fromkeys(measure.name for task in plan.tasks for measure in results.measures(task)):
        lower = any(results.lower_is_better(task, name) for task in plan.tasks)
        yield Scorer(name=name, lower_is_better=lower)


def _context(results: Results, plan: Plan) -> Iterator[Artefact]:
    for name in _CONTEXT:
        told = results.document.get(name)
        if told:
            yield _artefact(name, told if isinstance(told, str) else _pretty(told))
    configs = {task: results.config(task) for task in plan.tasks if results.config(task)}
    for task, config in configs.items():
        yield _artefact(f"{task}.json", _pretty(settings(config)), config=True)


def _artefact(path: str, told: str, *, config: bool = False) -> Artefact:
    return Artefact(role="config" if config else "context", path=path, text=told, size=len(told.encode()))


def _pretty(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def _extra(results: Results, plan: Plan, config: dict[str, Any]) -> dict[str, Any]:
    document = results.document
    names = dict.fromkeys((plan.name, *plan.tasks))
    of_tasks = {
        field: {name: told[name] for name in names if name in told}
        for field in (*_PER_TASK[1:], "group_subtasks")
        if (told := mapping(document.get(field)))
    }
    entries = {name: rest(results.entries.get(name, {}), _measured(results, name)) for name in names}
    configured: dict[str, Any] = settings(rest(config, ("model", "model_args", "gen_kwargs")))
    shared: dict[str, Any] = settings(rest(document, _HOMES))
    return shared | known(config=configured, entries=rest(entries), **rest(of_tasks))


def _measured(results: Results, name: str) -> set[str]:
    """The keys of an entry that stand in `reported`."""
    found = set()
    for measure in results.measures(name):
        found |= {measure.key, measure.key.replace(measure.name, f"{measure.name}_stderr", 1)}
    return found
