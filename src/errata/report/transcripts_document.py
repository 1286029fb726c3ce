"""`manual_error_review.md`, its CSV and metadata: runs without judgements, and the rows to review first."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.compare.summaries import pattern_of
from errata.model import Attempt, Case
from errata.model.codec import to_whole
from errata.model.output.report.transcripts import (
    Flag,
    FlagKind,
    TranscriptReport,
    TranscriptRow,
    TranscriptRun,
    TranscriptVerdict,
)
from errata.model.run import case_name
from errata.render.document import Block, Code, Document, Line, Section, items, line, marked, paragraph, table
from errata.render.figures import NONE, plural
from errata.render.files import WrittenFile, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report.comparison_files import place_of
from errata.report.comparison_rows import as_json, asked_in, calls_in, turn_of
from errata.report.comparison_sections import calls_line, quoted_line
from errata.report.parts import decisive_words, name_list
from errata.report.shared import finding_facts
from errata.runs.view import RunView
from errata.text.outgoing import cell_for_others, tree_for_others
from errata.text.shell import command_line
from errata.transcript.calls import made_calls, required_calls, same_calls

OWNERS = (
    "real_model_error",
    "grader_or_strict_matching_issue",
    "reference_or_ground_truth_issue",
    "other_pipeline_or_runtime_issue",
    "mixed_contract_and_model_issue",
)
BUCKETS = (
    "tool_selection_failure",
    "error_recovery_failure",
    "constraint_violation",
    "incomplete_correction",
    "tool_arg_string_normalization",
    "optional_tool_detail_omitted",
    "system_vs_golden_conflict",
    "closing_turn_contract_mismatch",
    "response_contamination",
    "missing_transcript_turn",
    "empty_response_execution_failure",
)
"""Values that a reviewer may write into the columns `owner` and `bucket`."""
_FLAGS: dict[FlagKind, str] = {
    "no_row": "no row",
    "several_rows": "the turn has several rows",
    "empty": "neither a text nor a call",
    "tool_failed": "a tool call failed",
    "no_call": "the reference calls a tool; the model called none",
    "other_calls": "other calls than in the reference",
    "extra_call": "a call that the reference does not have",
}
_PATTERNS = {
    "MODEL_ENDED_SESSION": "the model ended the session here",
    "MODEL_ENDED_SESSION_EARLY": "filled in by the harness: the session was over",
    "EMPTY_RESPONSE": "no answer came",
}
REVIEW = "manual_error_review"
METADATA = "review_metadata.json"
ANSWERS = ("owner", "bucket", "note")
"""Columns that the reviewer fills in."""
COLUMNS = ("run_id", "model_name", "turn", "flags", "user_text", "assistant_text", "tool_calls_json",
           "tool_results_json", "golden_text", "required_calls_json", *ANSWERS)  # fmt: skip
VERDICT = ("verdict_label", "verdict_owner", "verdict_cause", "decisive_step", "decisive_agent")
"""Columns of a table with reviewed rows."""
SHOWN = 200
"""Rows of the table; the CSV has all."""


def transcripts_document(report: TranscriptReport) -> Document:
    return Document(
        title=f"Manual Error Review: {report.suite}, {plural(len(report.runs), 'run')}",
        status="not reviewed" if not report.reviewed else "provisional",
        facts=(
            ("Status", line(f"NOT JUDGED. {_status(report)}, so nothing counts as passed or failed")),
            ("Analysed", line(report.made)),
        ),
        blocks=(
            paragraph(
                "Judging is missing: these runs have transcripts but no judged file. This page "
                "shows what can be seen in the transcripts alone. All rows are in ",
                Code("manual_error_review.csv"),
                " beside this file, with columns to fill in.",
            ),
        ),
        sections=tuple(_sections(report)),
    )


def _status(report: TranscriptReport) -> str:
    if not report.reviewed:
        return "No row has a verdict"
    return f"{len(report.reviewed)} of {plural(len(report.rows), 'row')} reviewed, none judged by the harness"


def _sections(report: TranscriptReport) -> Iterator[Section]:
    yield Section(title="Artefacts", blocks=tuple(_artefacts(report)))
    if report.reviewed:
        yield Section(title="Reviewed rows", blocks=(_reviewed(report),))
    yield Section(title="Rows to review first", blocks=tuple(_first(report)))
    yield Section(title="Next steps", blocks=tuple(_next(report)))


def _artefacts(report: TranscriptReport) -> Iterator[Block]:
    patterns = list(dict.fromkeys(name for one in report.runs for name in one.patterns))
    header = ("run", "model", "rows", f"expected {report.case_word}s", "judged", "missing", "several rows", *patterns)
    rows = [_artefact(one, patterns) for one in report.runs]
    right = ("rows", f"expected {report.case_word}s", "judged", *patterns)
    yield table((*header, "directory"), rows, right=right)
    findings = [f"{one.label}: {finding.text}" for one in report.runs for finding in one.findings]
    if findings:
        yield items(findings)


def _reviewed(report: TranscriptReport) -> Block:
    rows = [
        (
            f"{row.label}, {row.case}",
            verdict.label,
            verdict.owner,
            decisive_words(verdict.decisive_step, verdict.decisive_agent, verdict.second_candidate) or NONE,
            marked(verdict.cause),
        )
        for row in report.reviewed
        if (verdict := row.verdict) is not None
    ]
    return table(("row", "classification", "owner", "decisive step", "cause"), rows)


def _artefact(run: TranscriptRun, patterns: list[str]) -> tuple[str, ...]:
    expected = NONE if run.expected is None else str(run.expected)
    counts = (str(run.patterns.get(name, 0)) for name in patterns)
    gaps = (name_list(run.missing, 8) or "none", name_list(run.repeated, 8) or "none")
    return (run.label, run.model, str(run.rows), expected, "0", *gaps, *counts, run.native_id)


def _first(report: TranscriptReport) -> Iterator[Block]:
    flagged = report.flagged
    if not flagged:
        yield paragraph("No row is flagged. This is not a verdict: review the rows, or have them judged.")
        return
    yield paragraph(
        f"{len(flagged)} of {plural(len(report.rows), 'row')}. Each row is listed for a visible fact; a reviewer "
        "decides whether it is a mistake, and whose."
    )
    header = ("row", "why", "input", "output", "calls and results", "reference")
    yield table(header, [_row(one) for one in flagged[:SHOWN]])
    if len(flagged) > SHOWN:
        yield paragraph(f"{len(flagged) - SHOWN:,} more are in the CSV beside this file.")


def _row(row: TranscriptRow) -> tuple[Line, ...]:
    return (
        line(f"{row.label}, {row.case}"),
        line(flags_words(row)),
        quoted_line(row.input),
        quoted_line(row.output),
        calls_line(row.calls),
        quoted_line(row.expected),
    )


def flags_words(row: TranscriptRow) -> str:
    return "; ".join(map(_flag, row.flags))


def _flag(flag: Flag) -> str:
    if flag.kind == "in_place_of_answer":
        return f"{flag.pattern}: {_PATTERNS.get(flag.pattern, 'there is no answer')}"
    return _FLAGS[flag.kind]


def _next(report: TranscriptReport) -> Iterator[Block]:
    handles = command_line([one.native_id.rpartition("_")[2] for one in report.runs])
    yield items(
        [
            line(
                "Have the runs judged, import them again and run ",
                Code(f"errata report {handles}"),
                " for a report by cause, ",
                Code("deep_error_analysis.md"),
            ),
            line(
                "Or review the rows: fill in ",
                Code("owner"),
                ", ",
                Code("bucket"),
                " and ",
                Code("note"),
                " of the CSV",
            ),
            line("Check the system prompt, the reference and the knowledge base before you call a row wrong"),
        ],
        kind="numbers",
    )
    yield paragraph("Values for ", Code("owner"), ": ", ", ".join(OWNERS), ".")
    yield paragraph("Values for ", Code("bucket"), ": ", ", ".join(BUCKETS), ".")


class TranscriptsWritten(NamedTuple):
    report: TranscriptReport
    written: tuple[WrittenFile, ...]


def write_transcript_review(report: TranscriptReport, *, output: Path | None, html: bool) -> TranscriptsWritten:
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
    verdicts = VERDICT if report.reviewed else ()
    writer.writerow((*COLUMNS, *verdicts))
    for row in report.rows:
        cells = (*_cells(row), *("" for _ in ANSWERS), *(_verdict_cells(row) if verdicts else ()))
        writer.writerow([cell_for_others(cell) for cell in cells])
    return table.getvalue()


def _cells(row: TranscriptRow) -> tuple[str, ...]:
    texts = (row.input, row.output, row.calls_json, row.results_json, row.expected, row.required_json)
    return (row.run, row.model, row.case, flags_words(row), *texts)


def _verdict_cells(row: TranscriptRow) -> tuple[str, ...]:
    verdict = row.verdict
    if verdict is None:
        return ("",) * len(VERDICT)
    step = "" if verdict.decisive_step is None else str(verdict.decisive_step)
    return (verdict.label, verdict.owner, verdict.cause, step, verdict.decisive_agent)


def metadata(report: TranscriptReport) -> str:
    """For programs: the runs, what is missing, and the values that the columns take."""
    about = {
        "format": 1,
        "made": report.made,
        "suite": report.suite,
        "judging": "missing",
        "rows": len(report.rows),
        "flagged_rows": len(report.flagged),
        "runs": [
            {
                "run": run.native_id,
                "model": run.model,
                "rows": run.rows,
                "expected": run.expected,
                "judged_rows": 0,
                "missing": list(run.missing),
                "several_rows": list(run.repeated),
                "flagged_rows": run.flagged,
                "in_place_of_an_answer": run.patterns,
            }
            for run in report.runs
        ],
        "files": [f"{REVIEW}.md", f"{REVIEW}.csv"],
        "columns_to_fill_in": list(ANSWERS),
        "owners": list(OWNERS),
        "buckets": list(BUCKETS),
    }
    return msgspec.json.format(msgspec.json.encode(tree_for_others(about)), indent=2).decode("utf-8") + "\n"


def transcript_report(views: Sequence[RunView], *, made: str) -> TranscriptReport:
    """`made` is the day of the analysis."""
    labels = _labels(views)
    rows = [list(_rows(view, label)) for view, label in zip(views, labels, strict=True)]
    first = views[0].run
    are_turns = all(row.turn is not None for some in rows for row in some)
    return TranscriptReport(
        suite=first.suite or first.source.name,
        made=made,
        case_word="turn" if are_turns else "case",
        runs=tuple(_run(*each) for each in zip(views, labels, rows, strict=True)),
        rows=tuple(row for some in rows for row in some),
    )


def _labels(views: Sequence[RunView]) -> list[str]:
    """The model; with a number where it has several runs."""
    models = [view.run.subject.model or view.run.native_id for view in views]
    often, seen = Counter(models), Counter[str]()
    labels = []
    for model in models:
        seen[model] += 1
        labels.append(model if often[model] == 1 else f"{model} run {seen[model]}")
    return labels


def _run(view: RunView, label: str, rows: Sequence[TranscriptRow]) -> TranscriptRun:
    missing = tuple(row.case for row in rows if any(flag.kind == "no_row" for flag in row.flags))
    seen = Counter(row.case for row in rows)
    patterns = Counter(pattern_of(one, view.attributions.get(one.id)) for one in view.attempts(counted=True))
    return TranscriptRun(
        label=label,
        native_id=view.run.native_id,
        model=view.run.subject.model,
        rows=len(rows) - len(missing),
        expected=view.run.expected_cases,
        missing=missing,
        repeated=tuple(case for case, often in seen.items() if often > 1),
        patterns={name: often for name, often in sorted(patterns.items()) if name},
        findings=tuple(finding_facts(view.health.findings, run=label)),
        flagged=sum(bool(row.flags) for row in rows),
    )


def _rows(view: RunView, label: str) -> Iterator[TranscriptRow]:
    cases = view.case_book()
    for attempt in view.attempts(steps=True, by_position=True):
        if attempt.parent is None:
            case = cases.of(attempt)
            pattern = pattern_of(attempt, view.attributions.get(attempt.id))
            yield _row_facts(view, label, attempt, case, tuple(_flags(attempt, case, pattern)))


def _row_facts(
    view: RunView, label: str, attempt: Attempt, case: Case | None, flags: tuple[Flag, ...]
) -> TranscriptRow:
    name = case_name(view.run, attempt.case)
    made = [call for step in attempt.steps for call in step.tool_calls]
    wanted = case.expected if case is not None else None
    golden = wanted.get("golden_text") if isinstance(wanted, dict) else wanted
    required = wanted.get("required_function_call") if isinstance(wanted, dict) else None
    return TranscriptRow(
        run=view.run.native_id,
        label=label,
        model=view.run.subject.model,
        case=turn_of(name) or name,
        turn=int(turn) if (turn := turn_of(name)) else None,
        flags=flags,
        input=asked_in(case, attempt),
        output=attempt.output.text or attempt.output.answer or "",
        calls=tuple(calls_in(attempt)),
        calls_json=as_json([{"name": one.name, "args": one.arguments or one.arguments_raw} for one in made]),
        results_json=as_json([{"name": one.name, "response": to_whole(one.result)} for one in made if one.result]),
        expected="" if golden is None else as_json(golden),
        required_json="" if required is None else as_json(required),
        verdict=_verdict(view, attempt),
    )


def _verdict(view: RunView, attempt: Attempt) -> TranscriptVerdict | None:
    review = view.standings.get(attempt.id)
    if review is None:
        return None
    return msgspec.convert(review.standing.verdict, TranscriptVerdict, from_attributes=True)


def _flags(attempt: Attempt, case: Case | None, pattern: str) -> Iterator[Flag]:
    """Facts that a person should see first; a verdict is made of none of them."""
    if attempt.execution == "missing":
        yield Flag(kind="no_row")
        return
    if pattern:
        yield Flag(kind="in_place_of_answer", pattern=pattern)
    if attempt.duplicate_of is not None or attempt.superseded_by is not None:
        yield Flag(kind="several_rows")
    calls = [call for step in attempt.steps for call in step.tool_calls]
    if not (attempt.output.text or "").strip() and not calls and not pattern:
        yield Flag(kind="empty")
    if any(call.error is not None or (call.result is not None and call.result.is_error) for call in calls):
        yield Flag(kind="tool_failed")
    if not pattern:
        yield from _against_the_reference(attempt, case)


def _against_the_reference(attempt: Attempt, case: Case | None) -> Iterator[Flag]:
    required = required_calls(case.expected) if case is not None and isinstance(case.expected, dict | list) else ()
    made = made_calls(attempt)
    if required and not made:
        yield Flag(kind="no_call")
    elif required and not same_calls(made, required):
        yield Flag(kind="other_calls")
    elif made and not required and case is not None and case.expected is not None:
        yield Flag(kind="extra_call")
