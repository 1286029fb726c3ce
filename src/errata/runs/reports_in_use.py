"""The earlier reports that a run is seen with: those of the folder that was named, else those that lie around it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import msgspec

from errata.memory.reading import is_report, read_report
from errata.memory.reading.cases import Vocabulary
from errata.memory.reading.labels import LabelWords
from errata.memory.relation import RelatedReports, group_by_relation
from errata.memory.report_cache import ReportCache
from errata.memory.report_files import ReportFile, ReportFiles, find_reports, folders_for
from errata.memory.spelling import CaseNames
from errata.model import Run, StoredRun
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorReport
from errata.store.database import Store
from errata.store.named_cases import case_keys
from errata.store.runs import all_runs
from errata.triage.rulesets import rules_in_use

MOST_CASES = 20_000
"""Of larger suites only those names are found in a sentence that look like names."""

_named: ContextVar[Path | None] = ContextVar("reports", default=None)


class Reports(msgspec.Struct, frozen=True):
    """The reports around one run, by what they are to it."""

    shelf: ReportFiles
    shelved: RelatedReports
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


def named_reports() -> Path | None:
    """The folder that was named; none where reports are looked for around each run."""
    return _named.get()


def shelf_for(run: Run) -> ReportFiles:
    return find_reports(folders_for([Path(run.origin)] if run.origin else [], cwd=Path.cwd(), named=_named.get()))


def reports_for(
    stored: StoredRun, store: Store, shelf: ReportFiles, *, wanted: Callable[[ReportFile], bool] = lambda _: True
) -> Reports:
    """What the files say, those that are wanted."""
    keys = case_keys(store, pk=stored.pk)
    read = _Reader(store, keys)
    found = [read(file) for file in shelf.files if wanted(file)]
    read.kept.save()
    runs = [one.run for one in all_runs(store)]
    shelved = group_by_relation([one for one in found if is_report(one)], stored.run, began=began(stored), runs=runs)
    return Reports(shelf, shelved, CaseNames(keys, suite=stored.run.suite))


def began(stored: StoredRun) -> str:
    """When the run did; where its log does not tell, it was before it was imported."""
    return stored.run.started_at or stored.imported_at


class _Reader:
    """Reads reports with the labels that are in use and the names of a run's cases; what was read before is kept."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        names = tuple(label.name for taxonomy in rules_in_use().taxonomies for label in taxonomy.label)
        known = frozenset(keys) if len(keys) <= MOST_CASES else frozenset[str]()
        self._labels, self._cases = _labels(names), _vocabulary(known)
        self._words = fingerprint(names, sorted(known))
        self.kept = _kept(store.path.with_name(f"{store.path.name}.reports"))

    def __call__(self, file: ReportFile) -> PriorReport:
        return self.kept.get(fingerprint(file.digest, file.name, self._words, size=16), lambda: self._read(file))

    def _read(self, file: ReportFile) -> PriorReport:
        below = file.path.relative_to(file.folder).as_posix()
        told = {"path": file.name, "below": below, "digest": file.digest}
        return read_report(file.text, **told, labels=self._labels, cases=self._cases)


@lru_cache(maxsize=4)
def _kept(path: Path) -> ReportCache:
    return ReportCache(path)


@lru_cache(maxsize=8)
def _labels(names: tuple[str, ...]) -> LabelWords:
    return LabelWords(names)


@lru_cache(maxsize=8)
def _vocabulary(keys: frozenset[str]) -> Vocabulary:
    return Vocabulary(keys)
