"""What `errata report --json` and `errata issues --json` print: the facts of a report, and where it was written."""

from errata.model.output.report.batch import BatchReport
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunReport
from errata.model.output.report.transcripts import TranscriptReport
from errata.model.record import Struct


class RunReportOutput(Struct):
    run: str
    run_id: str
    written: tuple[str, ...]
    """Paths; none where nothing failed."""
    report: RunReport


class ComparisonReportOutput(Struct):
    written: tuple[str, ...]
    rows: int
    """Failed rows that were written beside the report."""
    report: ComparisonReport


class BatchReportOutput(Struct):
    run: str
    run_id: str
    folder: str
    report: BatchReport


class TranscriptReportOutput(Struct):
    written: tuple[str, ...]
    report: TranscriptReport


SHAPES: dict[str, type] = {
    "report --profile run": RunReportOutput,
    "report --profile comparison": ComparisonReportOutput,
    "report --profile batch": BatchReportOutput,
    "report (transcripts)": TranscriptReportOutput,
    "issues": BatchReportOutput,
}
