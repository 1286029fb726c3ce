"""What lies below a folder: reports, folders of logs, predictions and trajectories."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from errata.sources.shared.documents import children, folders, is_file
from errata.sources.swe_bench.kinds import TRAJECTORIES, Kind, kind_of_file
from errata.sources.swe_bench.layout import INSTANCE_LOG, REPORT

DEPTH = 6
FOLDERS_CAP = 20_000
LOOKS = 40


class Survey(NamedTuple):
    root: Path
    """What every place is told relative to."""
    files: dict[Kind, list[Path]]
    logs: list[Path]
    """Folders of one model in one run, with a folder for each instance."""

    def of(self, *kinds: Kind, below: Path | None = None) -> list[Path]:
        found = [path for kind in kinds for path in self.files.get(kind, [])]
        return found if below is None else [path for path in found if below in path.parents]


def survey(path: Path) -> Survey:
    """Of a folder all that lies below it; of a file that file alone, whatever lies beside it."""
    if path.is_file():
        kind = kind_of_file(path)
        return Survey(path.parent, {kind: [path]} if kind else {}, [])
    found = Survey(path, {}, [])
    for folder in islice(_below(path, 0), FOLDERS_CAP):
        if is_log_folder(folder):
            found.logs.append(folder)
        for file in children(folder):
            if file.is_file() and (kind := kind_of_file(file)) is not None and kind != "instance":
                found.files.setdefault(kind, []).append(file)
    return found


def glance(folder: Path) -> Kind | None:
    """What makes a folder a run, by its first few files: a report goes before what it is about."""
    kinds = {kind_of_file(file) for file in islice(filter(Path.is_file, children(folder)), LOOKS)}
    for kind in ("report", "map", *TRAJECTORIES):
        if kind in kinds:
            return kind
    if is_log_folder(folder):
        return "instance"
    for child in islice(folders(folder), LOOKS):
        for name in (f"{child.name}.traj", f"{child.name}.traj.json"):
            if (found := kind_of_file(child / name)) is not None and found in TRAJECTORIES:
                return found
    return None


def is_log_folder(folder: Path) -> bool:
    return any(is_instance_folder(child) for child in islice(folders(folder), LOOKS))


def is_instance_folder(folder: Path) -> bool:
    """Where SWE-bench has evaluated one patch, or tried to."""
    return is_file(folder / INSTANCE_LOG) or kind_of_file(folder / REPORT) == "instance"


def _below(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if depth < DEPTH:
        for child in folders(folder):
            if not is_instance_folder(child):
                yield from _below(child, depth + 1)
