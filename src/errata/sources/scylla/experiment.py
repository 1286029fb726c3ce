"""An experiment folder: its configuration, its checkpoint, its reports, and its runs in any of the three layouts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, SourceRef
from errata.sources.scylla.checkpoint import Checkpoint, RunState
from errata.sources.scylla.run_folder import RunPlace
from errata.sources.scylla.values import test_of
from errata.sources.shared.documents import Documents, folders
from errata.sources.shared.values import last_part, mapping, sequence, text

CORNERS = ("", "completed", "in_progress", ".failed")
_TIER = re.compile(r"T\d{1,3}$")
_RUN = re.compile(r"run_(\d{1,6})")


class Experiment(NamedTuple):
    folder: Path
    config: dict[str, Any]
    checkpoint: Checkpoint
    report: dict[str, Any]
    ref: SourceRef

    @property
    def name(self) -> str:
        """As the harness named the folder, whatever it is called now."""
        return last_part(self.checkpoint.data.get("experiment_dir")) or self.folder.name

    @property
    def test(self) -> str:
        stated = text(self.checkpoint.data.get("experiment_id")) or text(self.config.get("experiment_id"))
        return test_of(stated or self.name)

    @property
    def summary(self) -> dict[str, Any]:
        return mapping(self.report.get("summary"))

    @property
    def models(self) -> list[str]:
        return [text(model) for model in sequence(self.config.get("models")) if text(model)]

    @property
    def judges(self) -> dict[str, str]:
        named = [text(model) for model in sequence(self.config.get("judge_models")) if text(model)]
        return {f"judge_{place:02}": model for place, model in enumerate(named, 1)}


def open_experiment(folder: Path, documents: Documents) -> Experiment:
    path = folder / "checkpoint.json"
    checkpoint = Checkpoint(documents.get(path))
    if checkpoint.data and not checkpoint.supported:
        said = checkpoint.version or "no version"
        documents.refuse(
            documents.ref(path, pointer="/version"), f"checkpoint {said} is not supported: 2.0, 3.0, 3.1 are"
        )
        checkpoint = Checkpoint({key: checkpoint.data.get(key) for key in ("experiment_id", "experiment_dir")})
    config = documents.get(folder / "config" / "experiment.json")
    return Experiment(folder, config, checkpoint, documents.get(folder / "report.json"), documents.ref(path))


def run_places(experiment: Experiment) -> Iterator[RunPlace]:
    """Every run, on disk or only in the checkpoint, ordered by tier, subtest and number."""
    found = [*_on_disk(experiment)]
    live = {place[:3] for place in found if place.corner != ".failed"}
    # a run that was made again has the state of the later try
    found = [
        place._replace(state=RunState()) if place.corner == ".failed" and place[:3] in live else place
        for place in found
    ]
    known_places = {place[:3] for place in found}
    for tier, subtest, number in experiment.checkpoint.runs():
        if (tier, subtest, number) not in known_places:
            state = experiment.checkpoint.state_of(tier, subtest, number)
            found.append(RunPlace(tier, subtest, number, None, state=state))
    yield from sorted(found, key=lambda place: (*place[:3], CORNERS.index(place.corner), str(place.folder)))


def task_artefacts(experiment: Experiment, documents: Documents) -> tuple[Artefact, ...]:
    folder = experiment.folder
    made = (
        documents.artefact(folder / "prompt.md", "task"),
        documents.artefact(folder / "criteria.md", "grader"),
        documents.artefact(folder / "rubric.yaml", "grader"),
        # holds paths of the experiment, so it is no part of the task's digest
        documents.artefact(folder / "judge_prompt.md", "context"),
    )
    return tuple(artefact for artefact in made if artefact is not None)


def task_text(artefacts: tuple[Artefact, ...]) -> str | None:
    return next((artefact.text for artefact in artefacts if artefact.role == "task"), None)


def manifest(experiment: Experiment, tier: str, subtest: str, documents: Documents) -> Artefact | None:
    for corner in CORNERS:
        path = experiment.folder / corner / tier / subtest / "config_manifest.json"
        if made := documents.artefact(path, "config"):
            return made
    return None


def looks_like_runs(folder: Path) -> bool:
    """Some `T0/00/run_01` with a result, an agent or a task in it."""
    tiers = (folder / corner / f"T{number}" for corner in CORNERS for number in range(7))
    for tier in tiers:
        if tier.is_dir():
            for subtest in subtest_folders(tier)[:3]:
                for run in folders(subtest)[:3]:
                    if _RUN.match(run.name) and any((run / name).exists() for name in ("run_result.json", "agent")):
                        return True
    return False


def _on_disk(experiment: Experiment) -> Iterator[RunPlace]:
    for corner in CORNERS:
        for tier in tier_folders(experiment.folder / corner):
            for subtest in subtest_folders(tier):
                for folder in folders(subtest):
                    if name := _RUN.match(folder.name):
                        number = int(name[1])
                        state = experiment.checkpoint.state_of(tier.name, subtest.name, number)
                        yield RunPlace(tier.name, subtest.name, number, folder, corner, state)


def tier_folders(folder: Path) -> list[Path]:
    return [child for child in folders(folder) if _TIER.match(child.name)]


def subtest_folders(tier: Path) -> list[Path]:
    return [child for child in folders(tier) if re.fullmatch(r"\w+", child.name)]
