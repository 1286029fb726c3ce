"""A comparison → `deep_error_analysis.md` and its rows, in the folder of the comparison or below `results/`."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model.output.report.comparison import ComparisonReport
from errata.render.files import Written, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.render.slugs import slug
from errata.report.comparison_document import comparison_document
from errata.report.failure_rows import failure_rows
from errata.runs.view import RunView

RESULTS = "results"
REPORT = "deep_error_analysis.md"
ROWS = "failure_review_rows"


class ComparisonWritten(NamedTuple):
    report: ComparisonReport
    written: tuple[Written, ...]
    rows: int


def write_comparison_report(
    report: ComparisonReport, views: Sequence[RunView], *, output: Path | None, html: bool
) -> ComparisonWritten:
    folder, name = place_of(output, report.suite)
    document = comparison_document(report)
    written = [write_file(folder, name, to_markdown(document))]
    if html:
        written.append(write_file(folder, f"{name.removesuffix('.md')}.html", to_html(document)))
    compared = {one.native_id for one in report.runs}
    rows = failure_rows([view for view in views if view.run.native_id in compared])
    written += [write_file(folder, f"{ROWS}.jsonl", rows.lines), write_file(folder, f"{ROWS}.csv", rows.table)]
    return ComparisonWritten(report, tuple(written), rows.written)


def place_of(output: Path | None, suite: str) -> tuple[Path, str]:
    """Folder and file: what was asked for, else below `results/`."""
    if output is None:
        return Path(RESULTS) / slug(suite), REPORT
    return (output.parent, output.name) if output.suffix == ".md" else (output, REPORT)
