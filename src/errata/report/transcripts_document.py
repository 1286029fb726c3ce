"""`manual_error_review.md`: runs that nobody judged, and which of their rows a person should read first."""

from collections.abc import Iterator

from errata.model.output.report.transcripts import BUCKETS, OWNERS, Row, Run, TranscriptReport
from errata.render.document import Block, Code, Document, Line, Section, items, line, paragraph, table
from errata.report.comparison_causes import calls_line, quoted
from errata.report.parts import NONE, named, plural

SHOWN = 200
"""Rows of the table; the CSV has all."""


def transcripts_document(report: TranscriptReport) -> Document:
    return Document(
        title=f"Manual Error Review: {report.suite}, {plural(len(report.runs), 'run')}",
        status="not reviewed",
        facts=(
            ("Status", line("NOT JUDGED. No row has a verdict: nothing here is passed, and nothing is failed")),
            ("Analysed", line(report.made)),
        ),
        blocks=(
            paragraph(
                "Judging is missing: these runs have transcripts and no judged file. What follows is what the "
                "transcripts show by themselves, for whoever reads them or has them judged. All rows are in ",
                Code("manual_error_review.csv"),
                " beside this file, with columns to fill in.",
            ),
        ),
        sections=tuple(_sections(report)),
    )


def _sections(report: TranscriptReport) -> Iterator[Section]:
    yield Section(title="Artefacts", blocks=tuple(_artefacts(report)))
    yield Section(title="Rows to read first", blocks=tuple(_first(report)))
    yield Section(title="How to go on", blocks=tuple(_next(report)))


def _artefacts(report: TranscriptReport) -> Iterator[Block]:
    patterns = list(dict.fromkeys(name for one in report.runs for name in one.patterns))
    header = ("run", "model", "rows", f"expected {report.case_word}s", "judged", "missing", "several rows", *patterns)
    rows = [_artefact(one, patterns) for one in report.runs]
    right = ("rows", f"expected {report.case_word}s", "judged", *patterns)
    yield table((*header, "directory"), rows, right=right)
    told = [f"{one.label}: {finding}" for one in report.runs for finding in one.findings]
    if told:
        yield items(told)


def _artefact(run: Run, patterns: list[str]) -> tuple[str, ...]:
    expected = NONE if run.expected is None else str(run.expected)
    counts = (str(run.patterns.get(name, 0)) for name in patterns)
    gaps = (named(run.missing, 8) or "none", named(run.repeated, 8) or "none")
    return (run.label, run.model, str(run.rows), expected, "0", *gaps, *counts, run.native_id)


def _first(report: TranscriptReport) -> Iterator[Block]:
    flagged = report.flagged
    if not flagged:
        yield paragraph("No row stands out. That is no verdict: read them, or have them judged.")
        return
    yield paragraph(
        f"{len(flagged)} of {plural(len(report.rows), 'row')}. A row stands here for a fact that can be seen; "
        "whether it is a mistake, and whose, is for a reader to say."
    )
    header = ("row", "why", "input", "output", "calls and results", "reference")
    yield table(header, [_row(one) for one in flagged[:SHOWN]])
    if len(flagged) > SHOWN:
        yield paragraph(f"{len(flagged) - SHOWN:,} more stand in the table beside this file.")


def _row(row: Row) -> tuple[Line, ...]:
    return (
        line(f"{row.label}, {row.case}"),
        line("; ".join(row.flags)),
        quoted(row.input),
        quoted(row.output),
        calls_line(row.calls),
        quoted(row.expected),
    )


def _next(report: TranscriptReport) -> Iterator[Block]:
    handles = " ".join(one.native_id.rpartition("_")[2] for one in report.runs)
    yield items(
        [
            line(
                "Have the runs judged, import them again and run ",
                Code(f"errata report {handles}"),
                ": then this is a report by cause, ",
                Code("deep_error_analysis.md"),
            ),
            line(
                "Or read the rows: fill in ", Code("owner"), ", ", Code("bucket"), " and ", Code("note"), " of the CSV"
            ),
            line("Check the system prompt, the reference and the knowledge base together before a row is called wrong"),
        ],
        kind="numbers",
    )
    yield paragraph("Words for ", Code("owner"), ": ", ", ".join(OWNERS), ".")
    yield paragraph("Words for ", Code("bucket"), ": ", ", ".join(BUCKETS), ".")
