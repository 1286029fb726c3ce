"""What `errata report --json` and `errata issues --json` print: the facts of a report, and where it was written."""

import msgspec

from errata.model.output.report.batch import BatchReport
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunReport
from errata.model.output.report.transcripts import TranscriptReport


class RunReportOutput(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_id: str
    written: tuple[str, ...]
    """Paths; none where nothing failed."""
    report: RunReport


class ComparisonReportOutput(msgspec.Struct, frozen=True, kw_only=True):
    written: tuple[str, ...]
    rows: int
    """Failed rows that were written beside the report."""
    report: ComparisonReport


class BatchReportOutput(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_id: str
    folder: str
    report: BatchReport


class TranscriptReportOutput(msgspec.Struct, frozen=True, kw_only=True):
    written: tuple[str, ...]
    report: TranscriptReport


SHAPES: dict[str, type] = {
    "report --profile run": RunReportOutput,
    "report --profile comparison": ComparisonReportOutput,
    "report --profile batch": BatchReportOutput,
    "report (transcripts)": TranscriptReportOutput,
    "issues": BatchReportOutput,
}
