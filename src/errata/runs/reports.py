"""The earlier reports of a run: those of the folder that was named, else those around it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import msgspec

from errata.memory.actions import ReportLocation
from errata.memory.known_gaps import gaps_of_model, gaps_of_others, mentions_gaps
from errata.memory.report_files import (
    FOLDER,
    RelatedReports,
    ReportFile,
    ReportFiles,
    RunReports,
    find_reports,
    folders_for,
    group_by_relation,
    is_about,
    parse_file_name,
)
from errata.memory.spelling import CaseSpellings, is_gap, same_model, same_run
from errata.memory.stored import gaps_in_store, later_verdicts, outcomes_of_runs
from errata.memory.words import LabelWords
from errata.model import Run, StoredRun
from errata.model.action import RecordedGap
from errata.model.prior_report import PriorReport
from errata.settings.store_location import home_of
from errata.store.database import Store
from errata.store.elsewhere import case_keys, failure_keys_of
from errata.store.runs import all_runs
from errata.triage.rulesets import rules_in_use

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
    return _named_folder.get()


def report_files_for(run: Run, store: Store) -> ReportFiles:
    """Around the run, beside the store whatever the working folder is, and in the working folder."""
    return report_files_around([run], store)


def report_files_around(runs: Iterable[Run], store: Store) -> ReportFiles:
    """The same for several runs; of those in one folder, it is looked at once."""
    beside = {Path(run.origin).parent: Path(run.origin) for run in runs if run.origin}
    origins = [home_of(store.path) / FOLDER, *beside.values()]
    return find_reports(folders_for(origins, cwd=Path.cwd(), named=_named_folder.get()))


def reports_for(
    stored: StoredRun, store: Store, files: ReportFiles, *, wanted: Callable[[ReportFile], bool] = lambda _: True
) -> RunReports:
    """Parse the files that are wanted, and group them by their relation to the run."""
    keys = case_keys(store, pk=stored.pk)
    chosen = [file for file in files.files if wanted(file)]
    related = RelatedReports()
    if chosen:
        runs = all_runs(store)
        reports = [_with_others(report, runs, store) for report in parse_reports(chosen, keys)]
        others = [_dated(other) for other in runs]
        related = group_by_relation(reports, stored.run, began=began(stored), runs=others)
    return RunReports(files, related, CaseSpellings(keys, suite=stored.run.suite))


def _with_others(report: PriorReport, runs: Sequence[StoredRun], store: Store) -> PriorReport:
    """With the failures that one statement labels and no line names, where the report's run is in the store."""
    its_runs = [stored for stored in runs if is_about(report, stored.run)] if report.others else []
    if report.others is None or not its_runs:
        return report
    failed = {case for outcomes in outcomes_of_runs(its_runs, store).values() for case in outcomes.failed}
    names = CaseSpellings(failed, suite=its_runs[0].run.suite)
    cases = sorted(failed.difference(*(names.find(failure.case) for failure in report.failures)))
    others = (msgspec.structs.replace(report.others, case=case) for case in cases)
    gaps = cases if is_gap(report.others.label) else []
    return msgspec.structs.replace(report, failures=(*report.failures, *others), gaps=(*report.gaps, *gaps))


def report_of(stored: StoredRun, store: Store, *, named: Path | None = None) -> ReportLocation | None:
    """The newest report about the run, by its content, else by its file name; in the named folder or around the run."""
    run = stored.run
    with reports_at(named) if named else nullcontext():
        files = report_files_for(run, store)
    related = reports_for(stored, store, files).related if files.files else RelatedReports()
    own = {one.path for one in related.own}
    of_others = {one.path for one in related.all if one.run_id} - own
    by_text = (one for one in files.files if one.name in own)
    unknown = (one for one in files.files if one.name not in of_others)
    by_name = (one for one in unknown if same_run(_run_in_name(one), run.native_id, run.external_id))
    file = next(by_text, None) or next(by_name, None)
    return ReportLocation(file.path, file.folder) if file else None


def _run_in_name(file: ReportFile) -> str:
    return parse_file_name(file.path.relative_to(file.folder).as_posix()).run


def recorded_gaps(stored: StoredRun, store: Store) -> dict[str, tuple[RecordedGap, ...]]:
    """Cases of the run with a known gap on record: in the store, or in earlier reports about any model."""
    records = gaps_in_store(stored, store)
    files = report_files_for(stored.run, store)
    if any(map(mentions_gaps, files.files)):
        for key, gap in _standing_gaps(stored, store, files):
            records[key] = (*records.get(key, ()), gap)
    return records


def _standing_gaps(stored: StoredRun, store: Store, files: ReportFiles) -> Iterator[tuple[str, RecordedGap]]:
    """Those of reports that no later verdict contradicts."""
    # a report without the word may still call a former gap something else
    reports = reports_for(stored, store, files)
    gaps = [(key, gap) for key, some in gaps_of_model(reports).items() for gap in some]
    gaps += _gaps_elsewhere(stored, store, reports)
    verdicts = later_verdicts(stored, store, {key for key, _ in gaps}) if gaps else {}
    for key, gap in gaps:
        models = (stored.run.subject.model, gap.model)
        about = [one for one in verdicts.get(key, ()) if any(same_model(one.model, model) for model in models)]
        if not any(one.at[:10] > gap.date and one.label != "KNOWN_GAP" for one in about):
            yield key, gap


def _gaps_elsewhere(stored: StoredRun, store: Store, reports: RunReports) -> Iterator[tuple[str, RecordedGap]]:
    if not reports.related.others:
        return
    runs = {one.run.id: one for one in all_runs(store, suite=stored.run.suite)} if stored.run.suite else {}
    for key, gap, run in gaps_of_others(reports, stored.run, [one.run for one in runs.values()]):
        keys = frozenset(sign.exact for _, _, sign in failure_keys_of(store, [runs[run.id].pk], [key]))
        if gap.checks and keys:
            yield key, msgspec.structs.replace(gap, keys=keys)


def _dated(stored: StoredRun) -> Run:
    """A run whose log has no date counts from the day it was imported."""
    run = stored.run
    return run if run.started_at else msgspec.structs.replace(run, started_at=stored.imported_at[:10])


def began(stored: StoredRun) -> str:
    """When the run started; where its log does not say, it was before it was imported."""
    return stored.run.started_at or stored.imported_at


# --- earlier reports, parsed with the labels in use and the names of a run's cases, through a cache


MOST_CASES = 20_000
"""In larger suites, only names that look like cases are recognised in a sentence."""


def parse_reports(files: Iterable[ReportFile], keys: Sequence[str]) -> list[PriorReport]:
    """Files that are about a run; `keys` are the cases whose names they may use."""
    # every triage asks for gaps, and few runs have a report beside them
    from errata.memory.reading.report import is_report  # noqa: PLC0415

    names = tuple(label.name for taxonomy in rules_in_use().taxonomies for label in taxonomy.label)
    known = frozenset(keys) if len(keys) <= MOST_CASES else frozenset[str]()

    reports = []
    for file in files:
        below = file.path.relative_to(file.folder).as_posix()
        report = _parsed(file.text, file.name, below, file.digest, names, known)
        if is_report(report):
            reports.append(msgspec.structs.replace(report, written=file.written))
    return reports


@lru_cache(maxsize=512)
def _parsed(
    text: str, name: str, below: str, digest: str, names: tuple[str, ...], known: frozenset[str]
) -> PriorReport:
    """Kept for other stores, too: a server or a test that opens many of them meets the same reports again."""
    from errata.memory.reading.report import read_report  # noqa: PLC0415 as above

    return read_report(text, path=name, below=below, digest=digest, labels=_labels(names), cases=_spellings(known))


@lru_cache(maxsize=8)
def _labels(names: tuple[str, ...]) -> LabelWords:
    return LabelWords(names)


@lru_cache(maxsize=8)
def _spellings(keys: frozenset[str]) -> CaseSpellings:
    return CaseSpellings(keys)
