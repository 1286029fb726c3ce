"""What `errata report` prints after each profile: JSON, or a few lines, short enough for a chat."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from errata.cli.output import money, plural, put, put_command, put_json, say
from errata.cli.paths import place_of
from errata.cli.report import ReportOptions
from errata.cli.table import put_parts
from errata.model.output.report import (
    BatchReportOutput,
    ComparisonReportOutput,
    RunReportOutput,
    TranscriptReportOutput,
)
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunReport
from errata.render.document import Document
from errata.render.files import WrittenFile
from errata.report.batch_prose import batch_answer, batch_warning, category_title
from errata.report.comparison_document import chance_words, doubts_words
from errata.report.comparison_files import ComparisonWritten
from errata.report.comparison_sections import model_in_short
from errata.report.parts import name_list, percent
from errata.report.run_advice import advice_words
from errata.report.run_document import GROUPS, OFFER, passed_of
from errata.report.run_files import REPORTS, RunWritten
from errata.report.run_prose import WORKED, answer_of
from errata.report.step_summary import of_batch, of_comparison, of_run, of_transcripts
from errata.report.transcripts_document import TranscriptsWritten, flags_words
from errata.runs.view import RunView
from errata.verbs.report import BatchWritten, report_batch, report_comparison, report_run, report_transcripts

FOLDER = "analysis"
OLD = 6
PAGES = ("README.md", "analysis.md", "failures/summary.md", "issues/epic.md", "file_issues.sh")
"""What is told of the folder where there is little room."""
ADVICE, DOUBTS, SHARED, ROWS = 4, 3, 8, 8


def names_of(written: Sequence[WrittenFile]) -> list[str]:
    """As people know the files from where they stand."""
    return [place_of(str(one.path.absolute())) for one in written]


def _paths(written: Sequence[WrittenFile]) -> tuple[str, ...]:
    return tuple(str(one.path) for one in written)


def write_run(view: RunView, wish: ReportOptions) -> Document:
    output = wish.output
    file = output if output is not None and output.suffix == ".md" else None
    folder = output if output is not None and file is None else Path(REPORTS)
    made = report_run(view, day=wish.day, folder=folder, file=file, html=wish.html)
    if wish.json:
        put_json(
            RunReportOutput(
                run=view.run.native_id, run_id=view.run.id, written=_paths(made.written), report=made.report
            )
        )
    elif wish.in_words:
        show_run(made, view.handle)
    return of_run(made.report, names_of(made.written))


def show_run(made: RunWritten, handle: str) -> None:
    report = made.report
    subject = report.subject
    rate = f" ({percent(subject.passed / subject.total)})" if subject.judged and subject.total else ""
    put(f"{handle} · {subject.model or 'unknown model'} · {passed_of(subject)}{rate}", hang=2)
    if not made.written:
        nothing = report.nothing_failed
        ends = ", and no" if nothing is not None and nothing.state == "all_passed" else ". No"
        put(f"{answer_of(report).removesuffix('.')}{ends} report was written.", hang=2)
        return
    reading = report.reading
    if reading.failures:
        state = "PROVISIONAL: owners come from rules" if reading.status == "provisional" else "reviewed"
        put(f"{state}; {reading.read} of {plural(reading.failures, 'failure')} read")
    put()
    put(answer_of(report))
    _show_counts(report)
    put()
    for one, name in zip(made.written, names_of(made.written), strict=True):
        put_parts("wrote", [name], "" if one.change == "new" else one.change)
    put(OFFER)


def _show_counts(report: RunReport) -> None:
    labels = Counter(one.label or one.owner for one in report.failures if not one.machinery)
    machinery = sum(one.machinery for one in report.failures)
    parts = [f"{label} {often}" for label, often in labels.most_common()]
    put_parts("labels", [*parts, *([f"not classified (infrastructure) {machinery}"] if machinery else [])] or ["none"])
    repeats = [one.case for one in report.failures if one.repeat]
    if repeats:
        put_parts("repeats", [f"{len(repeats)} of {len(report.failures)}: {name_list(repeats, 4)}"])
    for action in report.actions:
        put_parts("action", [f"{action.date} {action.path or action.what}: {WORKED[action.worked]}"])
    fresh = [one for one in report.advice if one.done is None and one.group in ("eval", "config")]
    for one in fresh[:ADVICE]:
        put_parts("advice", [f"{GROUPS[one.group].lower()}: {advice_words(one)}"])


def write_comparison(views: Sequence[RunView], wish: ReportOptions) -> Document:
    made = report_comparison(views, day=wish.day, output=wish.output, html=wish.html, common=wish.common)
    if wish.json:
        put_json(ComparisonReportOutput(written=_paths(made.written), rows=made.rows, report=made.report))
    elif wish.in_words:
        show_comparison(made)
    return of_comparison(made.report, names_of(made.written))


def show_comparison(made: ComparisonWritten) -> None:
    report = made.report
    reading = report.reading
    final = sum(one.status == "final" for one in report.modes)
    buckets = f"{final} of {plural(len(report.modes), 'bucket')} final"
    state = "final" if final == len(report.modes) else f"PROVISIONAL: {buckets}, the others are made by rules"
    put(f"{plural(len(report.runs), 'run')}, {plural(report.failed_rows, 'failed row')}, {reading.read} read: {state}.")
    for model in report.models:
        put(f"{model.name}: {model_in_short(model)}", hang=2)
    if len(report.runs) > 1:
        put_parts("all", _shared(report) or [f"no {report.case_word} fails in every run"])
    put_parts("chance", [chance_words(report.pairs, are_turns=report.case_word == "turn")])
    for doubt in islice(doubts_words(report), DOUBTS):
        put_parts("doubt", [doubt])
    for one, name in zip(made.written, names_of(made.written), strict=True):
        count = [plural(made.rows, "row")] if one.path.suffix in (".jsonl", ".csv") else []
        put_parts("wrote", [name, *count])
    put(OFFER)


def _shared(report: ComparisonReport) -> list[str]:
    cases = report.failed_by_all_runs
    told = [f"{case} {report.asks.get(case, '')}".strip() for case in cases[:SHARED]]
    return [*told, f"and {len(cases) - SHARED:,} more"] if len(cases) > SHARED else told


def write_batch(view: RunView, wish: ReportOptions, *, several: bool = False) -> Document:
    """Into the folder that was asked for; of several batches, each into one of its own below it."""
    made = report_batch(view, day=wish.day, folder=wish.output or Path(FOLDER), own_folder=several)
    if made.left_over:
        say(
            f"{plural(len(made.left_over), 'file')} of an earlier report lie there still: "
            f"{name_list(made.left_over, OLD)}"
        )
    if wish.json:
        put_json(
            BatchReportOutput(run=view.run.native_id, run_id=view.run.id, folder=str(made.folder), report=made.report)
        )
    elif wish.in_words:
        show_batch(made)
    return of_batch(made.report, [place_of(str((made.folder / name).absolute())) for name in PAGES])


def show_batch(made: BatchWritten) -> None:
    report, place = made.report, place_of(str(made.folder.absolute()))
    put(f"{report.name} · {report.model or 'unknown model'} · {report.passed}/{len(report.tests)} passed")
    if report.reading.status == "provisional":
        put(
            f"PROVISIONAL: categories come from rules; {report.reading.read} of {report.reading.failures} failures read"
        )
    put()
    put(batch_answer(report))
    if warning := batch_warning(report):
        put(warning)
    for one in report.categories:
        put_parts(one.letter, [f"{len(one.tests)}× {category_title(one)}", one.owner], money(one.cost, 2))
    put_parts("cost", [f"{money(report.cost, 2)} in all", f"{money(report.cost_of_passes, 2)} on passes"])
    if report.mean_cost_of_pass is not None:
        mean, middle = money(report.mean_cost_of_pass, 2), money(report.median_cost_of_pass, 2)
        put_parts("CoP", [f"mean {mean}", f"median {middle}", f"{report.priced_passes} passes"])
    put()
    new = sum(one.change != "unchanged" for one in made.written)
    put_parts("wrote", [place, f"{len(made.written)} files, {new} new or changed"])
    put_command("next", [f"{place}/file_issues.sh", "--dry-run"], "shows what would be filed")
    put("Nothing was filed and nothing else was changed.")


def write_transcripts(views: Sequence[RunView], wish: ReportOptions) -> Document:
    made = report_transcripts(views, day=wish.day, output=wish.output, html=wish.html)
    if wish.json:
        put_json(TranscriptReportOutput(written=_paths(made.written), report=made.report))
    elif wish.in_words:
        show_transcripts(made)
    return of_transcripts(made.report, names_of(made.written))


def show_transcripts(made: TranscriptsWritten) -> None:
    report = made.report
    put(f"{plural(len(report.runs), 'run')}, {plural(len(report.rows), 'row')}: NOT JUDGED")
    put("No row has a verdict: nothing is counted as passed, and nothing as failed.")
    put()
    for run in report.runs:
        patterns = [f"{name} {often}" for name, often in run.patterns.items()]
        missing = [f"missing {', '.join(run.missing)}"] if run.missing else []
        put_parts("run", [run.label, plural(run.rows, "row"), *missing, *patterns, f"{run.flagged} to read first"])
    for row in report.flagged[:ROWS]:
        put_parts("row", [f"{row.label}, {row.case}: {flags_words(row)}"])
    if len(report.flagged) > ROWS:
        put_parts("", [f"and {len(report.flagged) - ROWS} more"])
    put()
    for name in names_of(made.written):
        put_parts("wrote", [name])
    put("Nothing else was changed. Have the runs judged, or read the rows by hand.")
