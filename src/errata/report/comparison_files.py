"""A comparison → `deep_error_analysis.md` and its rows, in the folder of the comparison or below `results/`."""

import csv
import heapq
import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Attempt, Attribution, Case, Run
from errata.model.attribution import suggested_label
from errata.model.codec import to_whole
from errata.model.identity import split_attempt_id
from errata.model.output.report.comparison import ComparisonReport
from errata.model.run import case_name
from errata.render.files import WrittenFile, details_name, slug, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.render.paging import paged
from errata.report.comparison_document import comparison_document
from errata.report.comparison_rows import as_json, asked_in, is_failed_row, turn_of
from errata.review.tables import JUDGED, VERDICT, verdict_cells
from errata.review.transcript import calls_made, results_got
from errata.runs.names import are_judged_turns
from errata.runs.review_context import question_for
from errata.runs.view import RunView
from errata.text.outgoing import cell_for_others, for_others, tree_for_others
from errata.triage.reasons import reason_of

RESULTS = "results"
REPORT = "deep_error_analysis.md"
ROWS = "failure_review_rows"
OTHERS = ("run", "model", "case", "category", "outcome", "failed_checks", "error", "task", "output", "expected",
          "judge_reasoning", "tool_calls_json", "tool_results_json", "suggested_label", "suggested_owner")  # fmt: skip
"""The columns where cases are not judged turns."""
_SCORES = {"pass": True, "fail": False}


class ComparisonWritten(NamedTuple):
    report: ComparisonReport
    written: tuple[WrittenFile, ...]
    rows: int


def write_comparison_report(
    report: ComparisonReport,
    views: Sequence[RunView],
    *,
    output: Path | None,
    html: bool,
    cases: Collection[str] | None = None,
) -> ComparisonWritten:
    """`views` are the runs that were compared; `cases` those that the report is about, where not all are."""
    folder, name = place_of(output, report.suite)
    document = comparison_document(report)
    beside = details_name(name)
    pages = paged(document, beside)
    written = [write_file(folder, name, to_markdown(pages.main))]
    if pages.details is not None:
        written.append(write_file(folder, beside, to_markdown(pages.details)))
    if html:
        written.append(write_file(folder, f"{name.removesuffix('.md')}.html", to_html(document)))
    rows = failure_rows(views, cases)
    written += [write_file(folder, f"{ROWS}.jsonl", rows.lines), write_file(folder, f"{ROWS}.csv", rows.table)]
    return ComparisonWritten(report, tuple(written), rows.written)


def place_of(output: Path | None, suite: str) -> tuple[Path, str]:
    """Folder and file: what was asked for, else below `results/`."""
    if output is None:
        return Path(RESULTS) / slug(suite), REPORT
    return (output.parent, output.name) if output.suffix == ".md" else (output, REPORT)


class FailureRows(NamedTuple):
    lines: str
    table: str
    written: int


def failure_rows(views: Sequence[RunView], cases: Collection[str] | None = None) -> FailureRows:
    """By model, then turn; raw, but for secrets and people."""
    columns = (*(JUDGED if are_judged_turns([view.stored for view in views]) else OTHERS), *VERDICT)
    lines, table = io.StringIO(), io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for row in _in_order([_failed_rows(view, columns, cases) for view in views]):
        lines.write(f"{json.dumps(row)}\n")
        writer.writerow([cell_for_others(str(row[name])) for name in columns])
        count += 1
    return FailureRows(lines.getvalue(), table.getvalue(), count)


class _Sorted(NamedTuple):
    key: tuple[str, int, str]
    row: dict[str, Any]


def _in_order(streams: Iterable[Iterator[_Sorted]]) -> Iterator[dict[str, Any]]:
    """Two runs of one model beside each other; each stream is in the order of its turns."""
    return (one.row for one in heapq.merge(*streams, key=lambda one: one.key))


def _failed_rows(view: RunView, columns: Sequence[str], cases: Collection[str] | None) -> Iterator[_Sorted]:
    book = view.case_book()
    model = view.run.subject.model
    make = _judged if columns[0] == JUDGED[0] else _other
    for attempt in view.attempts(counted=True, steps=True, by_position=True):
        if is_failed_row(attempt) and (cases is None or attempt.case in cases):
            key = (model, -1 if attempt.position is None else attempt.position, attempt.id)
            row = make(view.run, attempt, book.of(attempt), view.attributions.get(attempt.id))
            review = view.standings.get(attempt.id)
            row |= verdict_cells(review.standing if review is not None else None)
            yield _Sorted(key, {name: _outgoing(row[name]) for name in columns})


def _outgoing(value: Any) -> Any:
    return for_others(value) if isinstance(value, str) else value


def _judged(run: Run, attempt: Attempt, case: Case | None, attribution: Attribution | None) -> dict[str, Any]:
    counted = [check for check in attempt.checks if check.counts]
    return {
        "model_name": run.subject.model,
        "turn": "" if attempt.position is None else attempt.position,
        "failed_dimensions": ",".join(attempt.failed_checks),
        "error_mode_candidate": suggested_label(attribution, question_for(run.source.name).taxonomy),
        "user_text": asked_in(case, attempt),
        "assistant_text": attempt.output.text or "",
        "judge_reasoning": _reasoning(attempt),
        "scores_json": _sorted({check.name: _SCORES.get(check.status) for check in counted}),
        "tool_calls_json": _sorted(calls_made(attempt.steps)),
        "tool_results_json": _sorted(results_got(attempt.steps)),
        "run_id": run.native_id,
        "follows_turn": turn_of(case_name(run, split_attempt_id(attempt.follows).case)) if attempt.follows else "",
    }


def _other(run: Run, attempt: Attempt, case: Case | None, attribution: Attribution | None) -> dict[str, Any]:
    expected = case.expected if case is not None else None
    return {
        "run": run.native_id,
        "model": run.subject.model,
        "case": case_name(run, attempt.case),
        "category": case.category if case is not None else "",
        "outcome": attempt.outcome,
        "failed_checks": ",".join(attempt.failed_checks),
        "error": reason_of(attempt, attribution).text,
        "task": asked_in(case, attempt),
        "output": attempt.output.text or attempt.output.answer or "",
        "expected": "" if expected is None else as_json(expected),
        "judge_reasoning": _reasoning(attempt),
        "tool_calls_json": _sorted(calls_made(attempt.steps)),
        "tool_results_json": _sorted(results_got(attempt.steps)),
        "suggested_label": next(iter(attribution.suggested_labels.values()), "") if attribution is not None else "",
        "suggested_owner": attribution.owner if attribution is not None else "",
    }


def _reasoning(attempt: Attempt) -> str:
    """One judge as it is; of several each under its name."""
    explained = [one for one in attempt.judgements if one.reasoning]
    if len(attempt.judgements) <= 1:
        return explained[0].reasoning if explained else ""
    return "\n".join(f"[judge_reasoning/{one.judge}]\n{one.reasoning.rstrip()}" for one in explained)


def _sorted(value: Any) -> str:
    return json.dumps(tree_for_others(to_whole(value)), sort_keys=True)
