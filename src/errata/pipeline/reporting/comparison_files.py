"""A comparison → `deep_error_analysis.md` and its rows, in the folder of the comparison or below `results/`."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from errata.model import StoredRun
from errata.pipeline.exporting import are_judged_turns, exported
from errata.pipeline.packeting import Packing
from errata.pipeline.reporting.comparison import comparison_report
from errata.pipeline.reporting.writing import Written, write_file
from errata.report.facts.comparison import ComparisonReport
from errata.report.html import to_html
from errata.report.markdown import to_markdown
from errata.report.paths import slug
from errata.report.profiles.comparison import comparison_document
from errata.review.budget import UNLIMITED
from errata.review.redaction import redacted
from errata.review.tables import write_rows, write_table
from errata.store.database import Store

RESULTS = "results"
REPORT = "deep_error_analysis.md"
ROWS = "failure_review_rows"


class ComparisonWritten(NamedTuple):
    report: ComparisonReport
    written: tuple[Written, ...]
    rows: int


def write_comparison_report(
    runs: Sequence[StoredRun], store: Store, *, day: str, output: Path | None, html: bool, common: bool = False
) -> ComparisonWritten:
    report = comparison_report(runs, store, made=day, common=common)
    folder, name = place_of(output, report.suite)
    document = comparison_document(report)
    written = [write_file(folder, name, to_markdown(document))]
    if html:
        written.append(write_file(folder, f"{name.removesuffix('.md')}.html", to_html(document)))
    lines, table, count = _rows(runs, store)
    written += [write_file(folder, f"{ROWS}.jsonl", lines), write_file(folder, f"{ROWS}.csv", table)]
    return ComparisonWritten(report, tuple(written), count)


def place_of(output: Path | None, suite: str) -> tuple[Path, str]:
    """Folder and file: what was asked for, else below `results/`."""
    if output is None:
        return Path(RESULTS) / slug(suite), REPORT
    return (output.parent, output.name) if output.suffix == ".md" else (output, REPORT)


def _rows(runs: Sequence[StoredRun], store: Store) -> tuple[str, str, int]:
    """Raw, for who wants to read them; with all that a row has, whatever the budget of a packet."""
    packing = Packing(budget=UNLIMITED)
    judged = are_judged_turns(runs)
    lines, table = io.StringIO(), io.StringIO(newline="")
    count = write_rows(exported(runs, store, packing=packing), lines, redact=redacted)
    write_table(exported(runs, store, packing=packing), table, judged=judged, redact=redacted, answers=False)
    return lines.getvalue(), table.getvalue(), count
