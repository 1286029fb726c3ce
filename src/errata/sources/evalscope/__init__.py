"""evalscope: the folder of a run, with predictions, reviews and reports, or one file of predictions or reviews."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item
from errata.sources.base import Row, json_lines, of_run
from errata.sources.evalscope.layout import NAME, Config, Dataset, Subset, config_of, datasets_of, name_alone
from errata.sources.evalscope.recognition import explain, kind_of, recognise
from errata.sources.evalscope.reports import Report
from errata.sources.evalscope.runs import run_of
from errata.sources.evalscope.sample import Reading
from errata.sources.evalscope.subsets import Samples
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import mapping

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "evalscope: the folder of a run, or one file of predictions or reviews"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if path.is_dir():
        config = config_of(path)
        for dataset in datasets_of(path, config):
            yield from _dataset(path, dataset, config)
        return
    alone = Subset("", path, None) if kind_of(path) == "predictions" else Subset("", None, path)
    yield from _dataset(path.parent, Dataset("", path.stem, None, (alone,)), Config(1, name_alone(path), ()))


def _dataset(root: Path, dataset: Dataset, config: Config) -> Iterator[Item]:
    documents = Documents(root, NAME)
    report = _report(root, dataset, documents)
    run = run_of(root, dataset, report, config, _measured(root, dataset))
    yield run
    yield from of_run(run.id, documents.problems())
    for subset in dataset.subsets:
        reading = Reading(run, report, subset.name, len(dataset.subsets) == 1, config.repeats)
        yield from of_run(run.id, Samples(root, subset, reading).items())


def _report(root: Path, dataset: Dataset, documents: Documents) -> Report:
    if dataset.report is None:
        first = next((one for subset in dataset.subsets for one in (subset.reviews, subset.predictions) if one), root)
        return Report({}, documents.ref(first))
    return Report(documents.get(dataset.report), documents.ref(dataset.report))


def _measured(root: Path, dataset: Dataset) -> list[str]:
    """The names of the values that the first sample has."""
    for subset in dataset.subsets:
        for row in json_lines(subset.reviews, source=NAME, root=root) if subset.reviews else ():
            if isinstance(row, Row) and isinstance(row.data, dict):
                value = mapping(mapping(mapping(row.data.get("sample_score")).get("score")).get("value"))
                if value:
                    return list(value)
    return []
