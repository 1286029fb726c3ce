"""`report` and `issues`: the facts of runs, then the documents about them, then the files that people keep."""

from pathlib import Path

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
