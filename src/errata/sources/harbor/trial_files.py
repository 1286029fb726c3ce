"""The files beside a trial's result: what the verifier printed, what the harness logged, what the agent left."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Artefact
from errata.model.words import ArtefactRole
from errata.sources.shared.documents import Documents, files

_GRADING = ("reward", "ctrf")
_LOGS = ("trial.log", "exception.txt")
_RECORDED = (".cast",)


def artefacts_of(folder: Path, documents: Documents) -> tuple[Artefact, ...]:
    """Of a trial, or of one step of it, which has the same folders."""
    return tuple(found for found in _all(folder, documents) if found is not None)


def _all(folder: Path, documents: Documents) -> Iterator[Artefact | None]:
    for file in files(folder / "verifier"):
        role: ArtefactRole = "grader" if any(word in file.name for word in _GRADING) else "log"
        yield documents.artefact(file, role, name=f"verifier/{file.name}")
    for name in _LOGS:
        yield documents.artefact(folder / name, "log", name=name, clean=True)
    for file in files(folder / "agent"):
        if not (file.name.startswith("trajectory") and file.suffix == ".json"):
            yield documents.artefact(file, agent_role(file), name=f"agent/{file.name}", clean=True)
    yield documents.artefact(folder / "artifacts" / "manifest.json", "output", name="artifacts/manifest.json")
    for file in files(folder / "artifacts"):
        if file.name != "manifest.json":
            yield documents.artefact(file, "output", name=f"artifacts/{file.name}")


def agent_role(file: Path) -> ArtefactRole:
    return "transcript" if file.suffix in _RECORDED else "log"
