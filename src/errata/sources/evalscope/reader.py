"""The datasets of a folder, each a run with the samples of its subsets, including samples without a row."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from errata.model import Attempt, Item, case_key
from errata.sources.base import Row, convert_each, json_lines, of_run, unreadable
from errata.sources.evalscope import NAME, kind_of
from errata.sources.evalscope.attempts import EvalscopeSample, Index, SubsetContext, items_of
from errata.sources.evalscope.runs import (
    Config,
    Dataset,
    EvalscopeReport,
    Subset,
    config_of,
    datasets_of,
    name_alone,
    run_of,
)
from errata.sources.shared.documents import Documents
from errata.sources.shared.row_groups import Lines, lines_of, repeated_rows
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import mapping


class Samples:
    """Reviews with their predictions, then predictions that were never reviewed."""

    def __init__(self, root: Path, subset: Subset, context: SubsetContext) -> None:
        self._root, self._subset, self._context = root, subset, context
        self._seen: set[int] = set()
        self._cases = CaseNumbering()

    def items(self) -> Iterator[Item]:
        with ExitStack() as stack:
            opened = (self._lines(path, stack) for path in (self._subset.predictions, self._subset.reviews))
            predictions, reviews = opened
            if reviews is not None:
                yield from convert_each(reviews.together(), partial(self._reviewed, predictions), source=NAME)
            if predictions is not None:
                yield from convert_each(predictions.together(), self._only_predicted, source=NAME)
            yield from self._absent([one for one in (predictions, reviews) if one is not None])

    def _lines(self, path: Path | None, stack: ExitStack) -> Lines | None:
        try:
            lines = lines_of(path, Index, Index.key, source=NAME, root=self._root) if path else None
            return stack.enter_context(lines) if lines else None
        except OSError:
            return None

    def _reviewed(self, predictions: Lines | None, row: Row) -> Iterator[Item]:
        """Of repeated rows the last one is the newest."""
        review = row.data[-1]
        name = f"index {review.data['index']}"
        matches = predictions.of(review.data["index"]) if predictions is not None else ()
        sample = EvalscopeSample(matches[-1] if matches else None, review)
        yield from items_of(self._context, self._seen, self._cases, sample)
        yield from repeated_rows(row.data, f"the review of {name}", source=NAME)
        yield from repeated_rows(matches, f"the prediction of {name}", source=NAME)
        if predictions is not None and not matches:
            yield unreadable(NAME, review.ref, f"the review of {name} has no prediction: their numbers may differ")

    def _only_predicted(self, row: Row) -> Iterator[Item]:
        yield from items_of(self._context, self._seen, self._cases, EvalscopeSample(row.data[-1], None))
        yield from repeated_rows(row.data, f"the prediction of index {row.data[-1].data['index']}", source=NAME)

    def _absent(self, files: list[Lines]) -> Iterator[Attempt]:
        """Requested samples without a row: errors if the report counts as many errors, else missing.

        If more samples were measured than there are rows, the missing ones are unknown; the run has their number.
        """
        context = self._context
        requested = context.report.requested(context.subset) or 0
        there = sum(1 for number in range(requested) if any(number in file for file in files))
        if context.report.succeeded(context.subset) > there:
            return
        errored = requested - there and context.report.errored(context.subset) >= requested - there
        for number in range(requested):
            name, index = context.case(number // context.repeats), number % context.repeats + 1
            if hash((name, index)) not in self._seen and not any(number in file for file in files):
                yield Attempt(
                    run=context.run.id,
                    case=case_key(context.run.suite, name),
                    index=index,
                    execution="error" if errored else "missing",
                    measurement="not_run",
                    outcome="none",
                    native_status="errored" if errored else "",
                    ref=context.report.ref.below("execution_summary", "subsets", context.subset),
                )


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
    run = run_of(root, dataset, report, config, _value_names(root, dataset))
    yield run
    yield from of_run(run.id, documents.problems())
    for subset in dataset.subsets:
        context = SubsetContext(run, report, subset.name, len(dataset.subsets) == 1, config.repeats)
        yield from of_run(run.id, Samples(root, subset, context).items())


def _report(root: Path, dataset: Dataset, documents: Documents) -> EvalscopeReport:
    if dataset.report is None:
        first = next((one for subset in dataset.subsets for one in (subset.reviews, subset.predictions) if one), root)
        return EvalscopeReport({}, documents.ref(first))
    return EvalscopeReport(documents.get(dataset.report), documents.ref(dataset.report))


def _value_names(root: Path, dataset: Dataset) -> list[str]:
    for subset in dataset.subsets:
        for row in json_lines(subset.reviews, source=NAME, root=root) if subset.reviews else ():
            if isinstance(row, Row) and isinstance(row.data, dict):
                value = mapping(mapping(mapping(row.data.get("sample_score")).get("score")).get("value"))
                if value:
                    return list(value)
    return []
