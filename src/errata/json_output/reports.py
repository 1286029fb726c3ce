"""Reports: each is written where `errata report` writes it; the record holds its facts and its files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from errata.model.output.report import (
    BatchReportOutput,
    ComparisonReportOutput,
    RunReportOutput,
    TranscriptReportOutput,
)
from errata.render.files import WrittenFile
from errata.report.run_files import REPORTS
from errata.runs.view import RunView
from errata.verbs.report import (
    PlannedReport,
    report_batch,
    report_comparison,
    report_run,
    report_transcripts,
    results_folder,
)

ReportOutput = RunReportOutput | ComparisonReportOutput | BatchReportOutput | TranscriptReportOutput
ANALYSIS = "analysis"


def write_reports(planned: Sequence[PlannedReport], *, day: str, output: Path | None) -> Iterator[ReportOutput]:
    several = sum(one.profile == "batch" for one in planned) > 1
    for profile, views in planned:
        if profile == "comparison":
            compared = report_comparison(views, day=day, output=output)
            yield ComparisonReportOutput(written=_paths(compared.written), rows=compared.rows, report=compared.report)
        elif profile == "transcripts":
            unjudged = report_transcripts(views, day=day, output=output)
            yield TranscriptReportOutput(written=_paths(unjudged.written), report=unjudged.report)
        elif profile == "batch":
            yield _batch(views[0], day=day, output=output, several=several)
        else:
            yield _run(views[0], day=day, output=output)


def _run(view: RunView, *, day: str, output: Path | None) -> RunReportOutput:
    file = output if output is not None and output.suffix == ".md" else None
    folder = output if output is not None and file is None else Path(REPORTS)
    made = report_run(view, day=day, folder=folder, file=file)
    return RunReportOutput(run=view.run.native_id, run_id=view.run.id, written=_paths(made.written), report=made.report)


def _batch(view: RunView, *, day: str, output: Path | None, several: bool) -> BatchReportOutput:
    beside = results_folder(view) if output is None else None
    folder = output or (beside or Path()) / ANALYSIS
    made = report_batch(view, day=day, folder=folder, own_folder=several and beside is None)
    return BatchReportOutput(run=view.run.native_id, run_id=view.run.id, folder=str(made.folder), report=made.report)


def _paths(written: Sequence[WrittenFile]) -> tuple[str, ...]:
    return tuple(str(one.path) for one in written)
