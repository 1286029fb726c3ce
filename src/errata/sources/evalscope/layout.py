"""The folder of an evalscope run: `predictions`, `reviews` and `reports`, each with a folder for every model."""

import re
from pathlib import Path
from typing import NamedTuple

from errata.sources.base import text_file
from errata.sources.shared.documents import children, folders, is_file
from errata.sources.shared.values import last_part

NAME = "evalscope"

CONFIG = "configs/task_config.yaml"
LOG = "logs/eval_log.log"
CONFIG_CAP = 1024 * 1024
_REPEATS = re.compile(r"(?m)^repeats:\s*([1-9]\d{0,5})\s*$")
_WORK = re.compile(r"(?m)^work_dir:\s*['\"]?([^'\"\n]+)")
_DATASETS = re.compile(r"(?m)^datasets:\n((?:- [^\n]+\n)+)")


class Subset(NamedTuple):
    """One part of a dataset: what was answered, and what that was worth."""

    name: str
    predictions: Path | None
    reviews: Path | None


class Dataset(NamedTuple):
    model: str
    name: str
    report: Path | None
    subsets: tuple[Subset, ...]


class Config(NamedTuple):
    """What is taken out of the configuration, which is YAML; the whole is kept as it is."""

    repeats: int
    work: str
    datasets: tuple[str, ...]


def config_of(root: Path) -> Config:
    told = text_file(root / CONFIG, cap=CONFIG_CAP) or ""
    repeats, work, listed = _REPEATS.search(told), _WORK.search(told), _DATASETS.search(told)
    names = [line.removeprefix("- ").strip() for line in listed[1].splitlines()] if listed else []
    return Config(int(repeats[1]) if repeats else 1, last_part(work[1].strip()) if work else "", tuple(names))


def name_alone(path: Path) -> str:
    """Of predictions or reviews without their run: where they lie in its folder, as both are parts of it."""
    above = path.absolute().parents
    parts = [folder.name for folder in above[:3]] if above[1].name in ("predictions", "reviews") else [above[0].name]
    return ".".join((*reversed(parts), path.stem))


def datasets_of(root: Path, config: Config) -> list[Dataset]:
    models = sorted({folder.name for part in ("reports", "reviews", "predictions") for folder in folders(root / part)})
    return [dataset for model in models for dataset in _of_model(root, model, config)]


def _of_model(root: Path, model: str, config: Config) -> list[Dataset]:
    """A file is named after its dataset and the subset: reports and the configuration tell where one ends."""
    reports = {file.stem: file for file in children(root / "reports" / model) if file.suffix == ".json"}
    known = sorted((*reports, *config.datasets), key=len, reverse=True)
    rows: dict[str, dict[str, Subset]] = {name: {} for name in reports}
    for part in ("predictions", "reviews"):
        for file in children(root / part / model):
            if file.suffix != ".jsonl" or not is_file(file):
                continue
            name = next((one for one in known if file.stem.startswith(f"{one}_")), file.stem)
            subset = file.stem.removeprefix(name).removeprefix("_")
            before = rows.setdefault(name, {}).get(subset, Subset(subset, None, None))
            rows[name][subset] = (
                before._replace(predictions=file) if part == "predictions" else before._replace(reviews=file)
            )
    return [Dataset(model, name, reports.get(name), tuple(found.values())) for name, found in sorted(rows.items())]
