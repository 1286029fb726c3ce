"""The earlier reports of a run: those of the folder that was named, else those around it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from errata.memory.actions import ReportLocation
from errata.memory.known_gaps import gaps_in_reports, mentions_gaps
from errata.memory.reading import is_report, read_report
from errata.memory.reading.cases import Vocabulary
from errata.memory.reading.head import parse_file_name
from errata.memory.reading.labels import LabelWords
from errata.memory.relation import RunReports, group_by_relation
from errata.memory.report_cache import ReportCache
from errata.memory.report_files import ReportFile, ReportFiles, find_reports, folders_for
from errata.memory.spelling import CaseSpellings, same_run
from errata.memory.stored import gaps_in_store
from errata.model import Run, StoredRun
from errata.model.action import RecordedGap
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorReport
from errata.store.database import Store
from errata.store.named_cases import case_keys
from errata.store.runs import all_runs
from errata.triage.rulesets import rules_in_use

MOST_CASES = 20_000
"""In larger suites, only names that look like cases are recognised in a sentence."""

_named_folder: ContextVar[Path | None] = ContextVar("reports", default=None)


@contextmanager
def reports_at(folder: Path | None) -> Iterator[None]:
    """Use the reports of this folder inside the context; with none, those around each run."""
    if folder is not None:
        folders_for((), cwd=Path.cwd(), named=folder)  # a wrong folder is reported before anything is done
    token = _named_folder.set(folder)
    try:
        yield
    finally:
        _named_folder.reset(token)


def named_reports() -> Path | None:
    """The folder that was named; none where reports are looked for around each run."""
    return _named_folder.get()


def report_files_for(run: Run) -> ReportFiles:
    origins = [Path(run.origin)] if run.origin else []
    return find_reports(folders_for(origins, cwd=Path.cwd(), named=_named_folder.get()))


def reports_for(
    stored: StoredRun, store: Store, files: ReportFiles, *, wanted: Callable[[ReportFile], bool] = lambda _: True
) -> RunReports:
    """Parse the files that are wanted, and group them by their relation to the run."""
    keys = case_keys(store, pk=stored.pk)
    reader = _Reader(store, keys)
    reports = [reader.read(file) for file in files.files if wanted(file)]
    reader.cache.save()
    runs = [one.run for one in all_runs(store)]
    only_reports = [report for report in reports if is_report(report)]
    related = group_by_relation(only_reports, stored.run, began=began(stored), runs=runs)
    return RunReports(files, related, CaseSpellings(keys, suite=stored.run.suite))


def report_of(stored: StoredRun, store: Store, *, named: Path | None = None) -> ReportLocation | None:
    """The newest report about the run, by what it says, else by its name; in the named folder or around the run."""
    run = stored.run
    with reports_at(named) if named else nullcontext():
        files = report_files_for(run)
    own = {one.path for one in reports_for(stored, store, files).related.own} if files.files else set()
    by_text = (one for one in files.files if one.name in own)
    by_name = (one for one in files.files if same_run(_run_in_name(one), run.native_id, run.external_id))
    file = next(by_text, None) or next(by_name, None)
    return ReportLocation(file.path, file.folder) if file else None


def _run_in_name(file: ReportFile) -> str:
    return parse_file_name(file.path.relative_to(file.folder).as_posix()).run


def recorded_gaps(stored: StoredRun, store: Store) -> dict[str, tuple[RecordedGap, ...]]:
    """Cases of the run with a known gap on record: in the store, or in earlier reports about any model."""
    records = gaps_in_store(stored, store)
    files = report_files_for(stored.run)
    if any(map(mentions_gaps, files.files)):
        for key, found in gaps_in_reports(reports_for(stored, store, files, wanted=mentions_gaps)).items():
            records[key] = (*records.get(key, ()), *found)
    return records


def began(stored: StoredRun) -> str:
    """When the run started; where its log does not say, it was before it was imported."""
    return stored.run.started_at or stored.imported_at


class _Reader:
    """Parses reports with the labels in use and the names of a run's cases, through a cache."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        names = tuple(label.name for taxonomy in rules_in_use().taxonomies for label in taxonomy.label)
        known = frozenset(keys) if len(keys) <= MOST_CASES else frozenset[str]()
        self._labels, self._cases = _labels(names), _vocabulary(known)
        self._words = fingerprint(names, sorted(known))
        self.cache = _cache(store.path.with_name(f"{store.path.name}.reports"))

    def read(self, file: ReportFile) -> PriorReport:
        return self.cache.get(fingerprint(file.digest, file.name, self._words, size=16), lambda: self._parse(file))

    def _parse(self, file: ReportFile) -> PriorReport:
        below = file.path.relative_to(file.folder).as_posix()
        names = {"path": file.name, "below": below, "digest": file.digest}
        return read_report(file.text, **names, labels=self._labels, cases=self._cases)


@lru_cache(maxsize=4)
def _cache(path: Path) -> ReportCache:
    return ReportCache(path)


@lru_cache(maxsize=8)
def _labels(names: tuple[str, ...]) -> LabelWords:
    return LabelWords(names)


@lru_cache(maxsize=8)
def _vocabulary(keys: frozenset[str]) -> Vocabulary:
    return Vocabulary(keys)
