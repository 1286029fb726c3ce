"""`report` and `issues`: the facts of runs, then the documents about them, then the files that people keep."""

from collections.abc import Sequence
from pathlib import Path

from errata.buckets.suggest import bucket_if_needed
from errata.compare.compare_runs import Wish, compare_runs
from errata.report.comparison_collect import comparison_report
from errata.report.comparison_files import ComparisonWritten, write_comparison_report
from errata.report.run_collect import run_report
from errata.report.run_files import RunWritten, write_run_report
from errata.runs.report_of_run import report_of
from errata.runs.view import RunView


def report_run(view: RunView, *, day: str, folder: Path, file: Path | None = None, html: bool = False) -> RunWritten:
    """`day` is the day of the analysis."""
    report = run_report(view, made=day)

    def find_earlier() -> Path | None:
        found = report_of(view.stored, view.store, named=folder if folder.is_dir() else None)
        return found.path if found is not None else None

    return write_run_report(report, day=day, folder=folder, file=file, html=html, find_earlier=find_earlier)


def report_comparison(
    views: Sequence[RunView], *, day: str, output: Path | None, html: bool = False, common: bool = False
) -> ComparisonWritten:
    """`common` compares runs of unequal suites, on the cases that they share."""
    store = views[0].store
    comparison = compare_runs([view.stored for view in views], store, Wish(common=common, least=1))
    bucket_if_needed([one.runs[0] for one in comparison.runs], store)
    report = comparison_report(views, comparison, made=day)
    return write_comparison_report(report, views, output=output, html=html)
