"""The report that `errata analyze` leaves: of every run in which something failed."""

from datetime import UTC, datetime
from pathlib import Path

from errata.runs.view import RunView


def write_report_of(view: RunView) -> Path | None:
    """Into the folder of reports; nothing where all passed."""
    from errata.report.collect.run_files import REPORTS, write_run_report
    from errata.runs.reports import named_reports

    if not view.stored.counts.failures:
        return None
    day = datetime.now(UTC).date().isoformat()
    made = write_run_report(view.stored, view.store, day=day, folder=named_reports() or Path(REPORTS))
    return made.written[0].path if made.written else None
