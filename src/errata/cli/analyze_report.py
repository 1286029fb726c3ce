"""The report that `errata analyze` leaves: of every run in which something failed."""

from datetime import UTC, datetime
from pathlib import Path

from errata.runs.summary import Analysis
from errata.store.database import Store


def write_report_of(analysis: Analysis, store: Store) -> Path | None:
    """Into the folder of reports; nothing where all passed."""
    from errata.report.run_files import REPORTS
    from errata.runs.reports_in_use import named_reports
    from errata.runs.view import RunView
    from errata.verbs.report import report_run

    if not analysis.stored.counts.failures:
        return None
    day = datetime.now(UTC).date().isoformat()
    made = report_run(RunView(analysis.stored, store), day=day, folder=named_reports() or Path(REPORTS))
    return made.written[0].path if made.written else None
