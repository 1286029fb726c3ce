"""The trials of a job at a glance: whose they are, so that runs can be told apart before any is read in full."""

from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Unreadable
from errata.sources.shared.documents import Documents, folders, is_file
from errata.sources.shared.values import last_part, mapping, sequence, text

ADHOC = "adhoc"
"""Harbor's own word for tasks that are of no dataset."""


class Group(NamedTuple):
    """One key of `stats.evals`."""

    agent: str
    model: str
    dataset: str


class Trial(NamedTuple):
    folder: Path
    name: str
    task: str
    group: Group
    native_key: str
    """As `stats.evals` spells it: without the model, where Harbor did not know it."""
    provider: str
    version: str
    job: str
    trials_dir: str
    has_result: bool
    settings: dict[str, Any]
    """Of agent and environment."""
    inline: dict[str, Any] = {}
    """The result, where it stands only in the job's own file."""
    pointer: str = ""


def trials_of(folder: Path, documents: Documents) -> tuple[list[Trial], list[Unreadable]]:
    """In the order of their names, so that equal folders give equal numbers; and what is too damaged to be one."""
    found, lost = [], []
    for child in folders(folder):
        trial = glance(child, documents) if is_trial_folder(child) else None
        problems = list(documents.problems())
        if trial is not None:
            found.append(trial)  # its problems are told when it is read in full
        else:
            lost += problems
    return found, lost


def inline_trials(job: dict[str, Any], folder: Path, seen: set[str]) -> list[Trial]:
    """Those that the job's own file holds and no folder does."""
    found = []
    for at, told in enumerate(sequence(job.get("trial_results"))):
        result = mapping(told)
        name = last_part(result.get("trial_name"))
        if name not in seen and (trial := _trial(folder / (name or "_"), result, mapping(result.get("config")))):
            found.append(trial._replace(inline=result, pointer=f"/trial_results/{at}"))
    return found


def is_trial_folder(folder: Path) -> bool:
    return is_file(folder / "result.json") or is_file(folder / "config.json")


def glance(folder: Path, documents: Documents) -> Trial | None:
    result = documents.get(folder / "result.json")
    return _trial(folder, result, mapping(result.get("config")) or documents.get(folder / "config.json"))


def _trial(folder: Path, result: dict[str, Any], config: dict[str, Any]) -> Trial | None:
    has_result = "task_name" in result or "trial_name" in result
    if not has_result and not {"task", "agent"} & config.keys():
        return None
    task = mapping(config.get("task"))
    return Trial(
        folder=folder,
        name=text(result.get("trial_name")) or text(config.get("trial_name")) or folder.name,
        task=text(result.get("task_name")) or text(task.get("name")) or last_part(task.get("path")) or folder.name,
        has_result=has_result,
        job=text(config.get("job_id")),
        trials_dir=last_part(config.get("trials_dir")),
        settings={"agent": config.get("agent"), "environment": config.get("environment")},
        **_subject(result, config, text(result.get("source")) or text(task.get("source")) or ADHOC),
    )


def model_of(name: str) -> tuple[str, str]:
    """`openai/gpt-5` is a provider and a model."""
    provider, slash, model = name.partition("/")
    return (provider, model) if slash and model else ("", name)


def _subject(result: dict[str, Any], config: dict[str, Any], dataset: str) -> dict[str, Any]:
    info, asked = mapping(result.get("agent_info")), mapping(config.get("agent"))
    told = mapping(info.get("model_info"))
    agent = text(info.get("name")) or text(asked.get("name")) or text(asked.get("import_path"))
    provider, model = model_of(text(asked.get("model_name")))
    named = text(told.get("name"))
    return {
        "group": Group(agent, named or model, dataset),
        "native_key": "__".join(part for part in (agent, named, dataset) if part),
        "provider": text(told.get("provider")) or provider,
        "version": text(info.get("version")),
    }
