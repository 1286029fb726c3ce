"""A first pass over the rows → their experiments: mostly one, with its evaluators and its model."""

from pathlib import Path
from typing import Any

from errata.model import Run, SourceInfo, SourceRef, Subject
from errata.sources.base import Row
from errata.sources.langsmith import NAME
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.runs import hash_of_content
from errata.sources.shared.scores import ScorerCounts
from errata.sources.shared.values import mapping, moment, non_empty, sequence, text

MODELS_CAP = 2


class LangSmithExperiment:
    def __init__(self, ref: SourceRef) -> None:
        self.ref = ref
        self.scorers_seen = ScorerCounts()
        self.models: set[tuple[str, str]] = set()
        self.datasets: set[str] = set()
        self.started: list[str] = []
        self.ended: list[str] = []
        self.metadata: dict[str, Any] = {}

    def add(self, row: dict[str, Any]) -> None:
        run, metadata = mapping(row.get("run")), metadata_of(mapping(row.get("run")))
        self.metadata = self.metadata or non_empty(
            session_id=run.get("session_id"), repetitions=metadata.get("num_repetitions")
        )
        for feedback in feedback_of(row):
            self.scorers_seen.add(text(feedback.get("key")), feedback.get("score"))
        model = text(metadata.get("ls_model_name")) or text(metadata.get("model"))
        if model and len(self.models) < MODELS_CAP:
            self.models.add((model, text(metadata.get("ls_provider"))))
        dataset = text(mapping(row.get("example")).get("dataset_id"))
        if dataset and len(self.datasets) < MODELS_CAP:
            self.datasets.add(dataset)
        begun, ended = moment(run.get("start_time")), moment(run.get("end_time"))
        self.started = [min([*self.started, begun])] if begun else self.started
        self.ended = [max([*self.ended, ended])] if ended else self.ended


def survey(path: Path) -> dict[str, LangSmithExperiment]:
    experiments: dict[str, LangSmithExperiment] = {}
    for row in json_rows(path, source=NAME, root=path.parent):
        if isinstance(row, Row) and isinstance(row.data, dict):
            name = experiment_name_of(mapping(row.data.get("run")))
            experiments.setdefault(name, LangSmithExperiment(row.ref)).add(row.data)
    return experiments or {"": LangSmithExperiment(SourceRef(file=path.name))}


def experiment_name_of(run: dict[str, Any]) -> str:
    return text(run.get("session_name")) or text(run.get("session_id"))


def metadata_of(run: dict[str, Any]) -> dict[str, Any]:
    return mapping(mapping(run.get("extra")).get("metadata"))


def feedback_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluator feedback: a list, or an object with one."""
    results = row.get("evaluation_results")
    listed = mapping(results).get("results") if isinstance(results, dict) else results
    return [one for one in map(mapping, sequence(listed)) if text(one.get("key"))]


def runs_of(experiments: dict[str, LangSmithExperiment], path: Path) -> dict[str, Run]:
    return {name: _run(name, one, path) for name, one in experiments.items()}


def _run(name: str, experiment: LangSmithExperiment, path: Path) -> Run:
    model, provider = next(iter(experiment.models)) if len(experiment.models) == 1 else ("", "")
    return Run(
        native_id=name or f"{path.stem}-{hash_of_content(path)}",
        external_id=text(experiment.metadata.get("session_id")),
        source=SourceInfo(name=NAME),
        name=name,
        subject=Subject(model=model, provider=provider),
        suite=next(iter(experiment.datasets)) if len(experiment.datasets) == 1 else "",
        started_at=next(iter(experiment.started), None),
        finished_at=next(iter(experiment.ended), None),
        # no file has these numbers: LangSmith shows the mean of each evaluator
        reported=experiment.scorers_seen.reported(experiment.ref),
        scorers=experiment.scorers_seen.scorers,
        origin=str(path.parent),
        extra=non_empty(repetitions=experiment.metadata.get("repetitions")),
        ref=experiment.ref,
    )
