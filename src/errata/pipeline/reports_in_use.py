"""The earlier reports that a run is seen with: those of the folder that was named, else those that lie around it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import msgspec

from errata.memory.finding import ReportFile, Shelf, folders_for, look_into
from errata.memory.reading import is_report, read_report
from errata.memory.reading.cases import Vocabulary
from errata.memory.reading.labels import LabelWords
from errata.memory.recurrence import Shelved, sort_out
from errata.memory.spelling import CaseNames
from errata.model import Run, StoredRun
from errata.model.prior_report import PriorReport
from errata.pipeline.rules import rules_in_use
from errata.store.database import Store
from errata.store.named_cases import case_keys
from errata.store.runs import all_runs

MOST_CASES = 20_000
"""Of larger suites only those names are found in a sentence that look like names."""

_named: ContextVar[Path | None] = ContextVar("reports", default=None)


class Reports(msgspec.Struct, frozen=True):
    """The reports around one run, by what they are to it."""

    shelf: Shelf
    shelved: Shelved
    names: CaseNames
    """The cases of the run."""


@contextmanager
def reports_at(folder: Path | None) -> Iterator[None]:
    """All that happens inside goes by the reports of this folder; by those around each run where it is none."""
    if folder is not None:
        folders_for((), cwd=Path.cwd(), named=folder)  # a slip is told of before anything is done
    token = _named.set(folder)
    try:
        yield
    finally:
        _named.reset(token)


def shelf_for(run: Run) -> Shelf:
    return look_into(folders_for([Path(run.origin)] if run.origin else [], cwd=Path.cwd(), named=_named.get()))


def reports_for(
    stored: StoredRun, store: Store, shelf: Shelf, *, wanted: Callable[[ReportFile], bool] = lambda _: True
) -> Reports:
    """What the files say, those that are wanted."""
    keys = case_keys(store, pk=stored.pk)
    cases = _vocabulary(frozenset(keys)) if len(keys) <= MOST_CASES else None
    labels = _labels(tuple(label.name for taxonomy in rules_in_use().taxonomies for label in taxonomy.label))
    read = [_read(file, cases, labels) for file in shelf.files if wanted(file)]
    runs = [one.run for one in all_runs(store)]
    shelved = sort_out([one for one in read if is_report(one)], stored.run, began=began(stored), runs=runs)
    return Reports(shelf, shelved, CaseNames(keys, suite=stored.run.suite))


def began(stored: StoredRun) -> str:
    """When the run did; where its log does not tell, it was before it was imported."""
    return stored.run.started_at or stored.imported_at


@lru_cache(maxsize=2_048)
def _read(file: ReportFile, cases: Vocabulary | None, labels: LabelWords) -> PriorReport:
    """The same text is read once."""
    below = file.path.relative_to(file.folder).as_posix()
    return read_report(file.text, path=file.name, below=below, digest=file.digest, labels=labels, cases=cases)


@lru_cache(maxsize=8)
def _labels(names: tuple[str, ...]) -> LabelWords:
    return LabelWords(names)


@lru_cache(maxsize=8)
def _vocabulary(keys: frozenset[str]) -> Vocabulary:
    return Vocabulary(keys)
