"""Group reports by their relation to a run: earlier ones of the same model or of others, its own, later ones."""

from collections.abc import Iterable, Sequence

import msgspec

from errata.memory.report_files import ReportFiles
from errata.memory.spelling import CaseSpellings, same_model, same_run
from errata.model import Run
from errata.model.prior_report import PriorReport, PriorRun
from errata.model.times import moment_of

DAY = len("2026-03-04")
SHORT_PREFIX = 4
"""So few characters of an id name a run only together with its day."""


class RelatedReports(msgspec.Struct, frozen=True, kw_only=True):
    """Reports by their relation to a run; newest first."""

    same_model: tuple[PriorReport, ...] = ()
    others: tuple[PriorReport, ...] = ()
    own: tuple[PriorReport, ...] = ()
    later: tuple[PriorReport, ...] = ()

    @property
    def all(self) -> tuple[PriorReport, ...]:
        return (*self.same_model, *self.others, *self.own, *self.later)


class RunReports(msgspec.Struct, frozen=True):
    files: ReportFiles
    related: RelatedReports
    case_names: CaseSpellings


def group_by_relation(
    reports: Iterable[PriorReport], run: Run, *, began: str, runs: Sequence[Run] = ()
) -> RelatedReports:
    """`began` is the start of the run; `runs` are other runs with known start and suite."""
    groups: dict[str, list[PriorReport]] = {"same_model": [], "others": [], "own": [], "later": []}
    known = _by_beginning(runs)
    for report in sorted(reports, key=lambda one: one.date or one.written, reverse=True):
        parts: dict[str, list[PriorRun]] = {}
        for part in _parts(report):
            near = [one for written in runs_of(part) for one in known.get(_beginning(written), ())]
            its_run = next((one for one in near if is_about(part, one)), None)
            if its_run is None or its_run.suite == run.suite:
                parts.setdefault(_relation_of(part, its_run, run, began), []).extend(part.runs)
        for relation, its_runs in parts.items():
            groups[relation].append(_about_runs(report, its_runs))
    return RelatedReports(**{kind: tuple(some) for kind, some in groups.items()})


def _parts(report: PriorReport) -> list[PriorReport]:
    """A report on several runs, one for each: some may be of other models, or later."""
    if len(report.runs) < 2:
        return [report]
    return [_about_runs(report, [run]) for run in report.runs]


def _about_runs(report: PriorReport, its_runs: Sequence[PriorRun]) -> PriorReport:
    """The part of a report on these of its runs, with what it has on all of them."""
    if len(its_runs) == len(report.runs) and (report.model or len(its_runs) != 1):
        return report
    ids = {"", *(run.id for run in its_runs)}
    failures = tuple(one for one in report.failures if one.run in ids)
    return msgspec.structs.replace(
        report,
        run=", ".join(run.id for run in its_runs),
        model=its_runs[0].model or report.model,
        passed=its_runs[0].passed,
        total=its_runs[0].total,
        runs=tuple(its_runs),
        failures=failures,
        gaps=tuple(case for case in report.gaps if any(one.case == case for one in failures)),
    )


def _by_beginning(runs: Iterable[Run]) -> dict[str, list[Run]]:
    by_prefix: dict[str, list[Run]] = {}
    for run in runs:
        names = (*_names_of(run), run.native_id.rpartition("_")[2])
        for beginning in {_beginning(name) for name in names if name}:
            by_prefix.setdefault(beginning, []).append(run)
    return by_prefix


def _beginning(name: str) -> str:
    return name.strip()[:SHORT_PREFIX].casefold()


def _names_of(run: Run) -> tuple[str, ...]:
    return (run.native_id, run.external_id, run.id, run.name)


def _relation_of(report: PriorReport, its_run: Run | None, run: Run, began: str) -> str:
    if is_about(report, run):
        return "own"
    known = its_run.started_at if its_run is not None else None
    its_days = {one.date for one in report.runs}
    known = known or (max(its_days) if its_days and all(its_days) else None)
    # on the same day the report may be older or newer than the run; the start of its own run decides, if known
    by_run = known is not None and (known < began[:DAY] if len(known) == DAY else moment_of(known) < moment_of(began))
    day = report.date or report.written
    if not ("" < day < began[:DAY] or by_run):
        return "later"
    model = report.model or (its_run.subject.model if its_run is not None else "")
    return "same_model" if same_model(model, run.subject.model, providers=(run.subject.provider,)) else "others"


def is_about(report: PriorReport, run: Run) -> bool:
    """By its id, the beginning of it, or the tail by which people call it; a report may be about several runs."""
    if report.run_id:
        return report.run_id == run.id
    return any(_is_named(written, report.date, run) for written in runs_of(report))


def runs_of(report: PriorReport) -> list[str]:
    return [written.strip() for written in report.run.split(",") if written.strip()]


def _is_named(written: str, date: str, run: Run) -> bool:
    if same_run(written, *_names_of(run)) or (len(written) >= SHORT_PREFIX and run.native_id.endswith(f"_{written}")):
        return True
    short = len(written) >= SHORT_PREFIX and run.native_id.startswith(written)
    return short and date == (run.started_at or "")[:DAY]
