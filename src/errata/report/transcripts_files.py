"""Runs without a judge → `manual_error_review.md`, `.csv` and `review_metadata.json`."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.model import StoredRun
from errata.model.output.report.transcripts import BUCKETS, OWNERS, Row, TranscriptReport
from errata.render.files import Written, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report.comparison_files import place_of
from errata.report.transcripts_collect import transcript_report
from errata.report.transcripts_document import transcripts_document
from errata.store.database import Store
from errata.text.private import for_others, tree_for_others
from errata.text.spreadsheet import one_kind_of_line_end, quoted

REVIEW = "manual_error_review"
METADATA = "review_metadata.json"
ANSWERS = ("owner", "bucket", "note")
"""What the reader fills in."""
COLUMNS = ("run_id", "model_name", "turn", "flags", "user_text", "assistant_text", "tool_calls_json",
           "tool_results_json", "golden_text", "required_calls_json", *ANSWERS)  # fmt: skip


class TranscriptsWritten(NamedTuple):
    report: TranscriptReport
    written: tuple[Written, ...]


def write_transcript_review(
    runs: Sequence[StoredRun], store: Store, *, day: str, output: Path | None, html: bool
) -> TranscriptsWritten:
    report = transcript_report(runs, store, made=day)
    folder = place_of(output, report.suite)[0]
    document = transcripts_document(report)
    written = [write_file(folder, f"{REVIEW}.md", to_markdown(document))]
    if html:
        written.append(write_file(folder, f"{REVIEW}.html", to_html(document)))
    written.append(write_file(folder, f"{REVIEW}.csv", as_table(report)))
    written.append(write_file(folder, METADATA, metadata(report)))
    return TranscriptsWritten(report, tuple(written))


def as_table(report: TranscriptReport) -> str:
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in report.rows:
        writer.writerow(
            [quoted(for_others(one_kind_of_line_end(cell))) for cell in (*_cells(row), *("" for _ in ANSWERS))]
        )
    return table.getvalue()


def _cells(row: Row) -> tuple[str, ...]:
    said = (row.input, row.output, row.calls_json, row.results_json, row.expected, row.required_json)
    return (row.run, row.model, row.case, "; ".join(row.flags), *said)


def metadata(report: TranscriptReport) -> str:
    """For programs: what was looked at, what is missing, and which words the columns take."""
    told = {
        "format": 1,
        "made": report.made,
        "suite": report.suite,
        "judging": "missing",
        "rows": len(report.rows),
        "flagged_rows": len(report.flagged),
        "runs": [
            {
                "run": one.native_id,
                "model": one.model,
                "rows": one.rows,
                "expected": one.expected,
                "judged_rows": 0,
                "missing": list(one.missing),
                "several_rows": list(one.repeated),
                "flagged_rows": one.flagged,
                "in_place_of_an_answer": one.patterns,
            }
            for one in report.runs
        ],
        "files": [f"{REVIEW}.md", f"{REVIEW}.csv"],
        "columns_to_fill_in": list(ANSWERS),
        "owners": list(OWNERS),
        "buckets": list(BUCKETS),
    }
    return msgspec.json.format(msgspec.json.encode(tree_for_others(told)), indent=2).decode("utf-8") + "\n"
