"""The files below a folder, and the trajectories among them: found by instance and read one at a time."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import SourceRef
from errata.sources.base import BYTE_ORDER_MARK, LINE_CAP, READ_SIZE, children, decode, describe, folders, is_file
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import mapping
from errata.sources.swe_bench import (
    Kind,
    is_instance_folder,
    is_log_folder,
    kind_of_file,
    mini_swe_agent,
    openhands,
    swe_agent,
)
from errata.sources.swe_bench.trajectory import AgentTrajectory

_READERS: dict[Kind, Callable[[dict[str, Any], SourceRef], AgentTrajectory]] = {
    "swe-agent": swe_agent.trajectory_of,
    "mini-swe-agent": mini_swe_agent.trajectory_of,
    "openhands": openhands.trajectory_of,
}
TRAJECTORY_CAP = 128 * 1024 * 1024
_ENDINGS = (".traj.json", ".traj", ".json", ".jsonl")
OUTPUT = "output.jsonl"
"""OpenHands's selection among its attempts, with a line per instance."""
DEPTH = 6
FOLDERS_CAP = 20_000


class SweBenchFiles(NamedTuple):
    root: Path
    """All paths are relative to this folder."""
    files: dict[Kind, list[Path]]
    logs: list[Path]
    """Folders of one model in one run, each with a folder per instance."""

    def of(self, *kinds: Kind, below: Path | None = None) -> list[Path]:
        paths = [path for kind in kinds for path in self.files.get(kind, [])]
        return paths if below is None else [path for path in paths if below in path.parents]


class TrajectoryPlace(NamedTuple):
    path: Path
    kind: Kind
    line: int = 0
    """The line in a file with a line per instance; 0 for a file of its own."""
    at: int = 0


class Trajectories:
    """The trajectories of each instance. A separate file is named after its instance, a line contains it."""

    def __init__(self, files: SweBenchFiles, documents: Documents) -> None:
        self._documents = documents
        self._places: dict[str, list[TrajectoryPlace]] = {}
        self._damaged: set[TrajectoryPlace] = set()
        for kind in ("swe-agent", "mini-swe-agent"):
            for path in files.of(kind):
                self._places.setdefault(instance_of(path), []).append(TrajectoryPlace(path, kind))
        for path in _final(files.of("openhands")):
            for instance, place in self._lines(path):
                self._places.setdefault(instance, []).append(place)

    def instances(self) -> Iterator[str]:
        return iter(self._places)

    def places(self, instance: str, below: Path) -> list[TrajectoryPlace]:
        return [place for place in self._places.get(instance, []) if below in place.path.parents]

    def read(self, place: TrajectoryPlace) -> AgentTrajectory | None:
        """None if it can't be read; that is reported once, however often it is read."""
        if place in self._damaged:
            return None
        try:
            trajectory = self._read_line(place) if place.line else self._read_file(place)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            self._documents.refuse(self._documents.ref(place.path), describe(error))
            trajectory = None
        if trajectory is None:
            self._damaged.add(place)
        return trajectory

    def _read_file(self, place: TrajectoryPlace) -> AgentTrajectory | None:
        document = self._documents.get(place.path, cap=TRAJECTORY_CAP)
        return _READERS[place.kind](document, self._documents.ref(place.path)) if document else None

    def _read_line(self, place: TrajectoryPlace) -> AgentTrajectory | None:
        file_ref = self._documents.ref(place.path)
        ref = SourceRef(file=file_ref.file, line=place.line)
        try:
            with place.path.open("rb") as file:
                file.seek(place.at)
                return openhands.trajectory_of(mapping(decode(file.readline(LINE_CAP))), ref)
        except (OSError, ValueError) as error:
            self._documents.refuse(ref, describe(error))
            return None

    def _lines(self, path: Path) -> Iterator[tuple[str, TrajectoryPlace]]:
        at = number = 0
        with path.open("rb", buffering=READ_SIZE) as file:
            while line := file.readline(LINE_CAP + 1):
                number += 1
                instance = "" if line.isspace() else self._instance(line, path, number)
                if instance:
                    yield instance, TrajectoryPlace(path, "openhands", number, at)
                at += len(line)

    def _instance(self, line: bytes, path: Path, number: int) -> str:
        try:
            return _row.decode(line.removeprefix(BYTE_ORDER_MARK)).instance_id
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            name = self._documents.ref(path).file
            self._documents.refuse(SourceRef(file=name, line=number), describe(ValueError(str(error))))
            return ""


class _InstanceRow(msgspec.Struct):
    instance_id: str


_row = msgspec.json.Decoder(_InstanceRow)


def instance_of(path: Path) -> str:
    for ending in _ENDINGS:
        if path.name.endswith(ending):
            return path.name.removesuffix(ending)
    return path.name


def name_alone(path: Path) -> str:
    """The name of a run that only has trajectories: its folder, with the instance if it is one of several."""
    # SWE-agent gives each of them a folder of its own
    if path.is_dir():
        return f"{path.parent.name}.{path.name}" if is_file(path / f"{path.name}.traj") else path.name
    instance = instance_of(path)
    folder = path.parent.parent if path.parent.name == instance else path.parent
    return folder.name if path.name == OUTPUT else f"{folder.name}.{instance}"


def _final(files: list[Path]) -> list[Path]:
    """OpenHands also keeps the results of each attempt; `output.jsonl` holds its selection among them."""
    chosen = [path for path in files if "critic_attempt" not in path.name]
    folders = {path.parent for path in chosen}
    return chosen + sorted((path for path in files if path.parent not in folders), reverse=True)


def survey(path: Path) -> SweBenchFiles:
    """Everything below a folder; for a file, only that file."""
    if path.is_file():
        kind = kind_of_file(path)
        return SweBenchFiles(path.parent, {kind: [path]} if kind else {}, [])
    files = SweBenchFiles(path, {}, [])
    for folder in islice(_below(path, 0), FOLDERS_CAP):
        if is_log_folder(folder):
            files.logs.append(folder)
        for file in children(folder):
            if file.is_file() and (kind := kind_of_file(file)) is not None and kind != "instance":
                files.files.setdefault(kind, []).append(file)
    return files


def _below(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if depth < DEPTH:
        for child in folders(folder):
            if not is_instance_folder(child):
                yield from _below(child, depth + 1)
