"""A report in a screenful, for the page of a CI run: scores, owners, new failures, top causes, and the files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from errata.model.output.report.batch import BatchReport
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunFailure, RunReport
from errata.model.output.report.shared import ReviewCoverage
from errata.model.output.report.transcripts import TranscriptReport
from errata.render.document import Block, Code, Document, Line, Strong, items, line, marked, paragraph, table
from errata.render.figures import money, plural
from errata.report.batch_prose import batch_answer, batch_warning, category_title, stated_scores
from errata.report.comparison_document import short_words
from errata.report.comparison_front import scores_table
from errata.report.comparison_sections import is_provisional, mode_title
from errata.report.parts import FAILED_ROW, batch_name, name_list, score_table
from errata.report.run_document import passed_of
from errata.report.run_failure_section import label_of
from errata.report.run_prose import answer_of, short_of
from errata.report.shared import (
    ScoreDoubts,
    doubt_words,
    doubts_of_batch,
    doubts_of_comparison,
    doubts_of_run,
)

CAUSES, FAILURES, NAMED = 5, 20, 8


def of_run(report: RunReport, files: Sequence[str]) -> Document:
    subject = report.subject
    return Document(
        title=f"{subject.model or subject.native_id}: {passed_of(report)}",
        blocks=(
            *_state(report.reading, provisional=report.reading.status == "provisional"),
            *_doubt(doubts_of_run(report)),
            paragraph(answer_of(report)),
            score_table(report.scores),
            *([items(_lines_of_run(report))] if report.failures or report.values is None else []),
            *_failures(report.failures),
            *_files(files),
        ),
    )


def _lines_of_run(report: RunReport) -> Iterator[Line]:
    owners = Counter(one.owner for one in report.failures).most_common()
    yield line(Strong("Owners"), ": ", ", ".join(f"{owner} {often}" for owner, often in owners) or "nothing failed")
    new = [one.case for one in report.failures if not one.repeat]
    again = [one.case for one in report.failures if one.repeat]
    since = report.since
    if since is not None and not since.model:
        yield line(Strong(f"Regressed since run {since.run[:8]}"), ": ", _listed(since.regressed))
    yield line(Strong("New failures"), ": ", _listed(new))
    yield line(Strong("Failed before"), ": ", _listed(again))
    back = [one.case for one in report.failures if one.repeat.should_be_gone]
    if back:
        yield line(Strong("Should already be fixed"), ": ", _listed(back))
    causes = [f"{one.title} ({one.rows})" for one in report.patterns[:CAUSES]]
    yield line(Strong("Top causes"), ": ", marked("; ".join(causes)) or "no two failures share a cause")


def _listed(cases: Sequence[str]) -> str:
    return f"{len(cases)}: {name_list(cases, NAMED)}" if cases else "none"


def _failures(failures: Sequence[RunFailure]) -> Iterator[Block]:
    if not failures:
        return
    rows = [(one.case, label_of(one), one.owner, marked(short_of(one))) for one in failures[:FAILURES]]
    yield table(("failure", "classification", "owner", "why"), rows)
    if len(failures) > FAILURES:
        yield paragraph(f"{len(failures) - FAILURES:,} more are in the report.")


def of_comparison(report: ComparisonReport, files: Sequence[str]) -> Document:
    graded = report.of_numbers and not report.failed_rows
    failed = "" if graded else f", {plural(report.failed_rows, 'failed row')}"
    causes = [(mode_title(one), str(one.rows), ", ".join(one.owners), one.status) for one in report.modes[:CAUSES]]
    return Document(
        title=f"{report.suite}: {plural(len(report.runs), 'run')}{failed}",
        blocks=(
            *_state(report.reading, FAILED_ROW, provisional=is_provisional(report)),
            *_doubt(doubts_of_comparison(report)),
            items(map(marked, short_words(report))),
            scores_table(report),
            *([] if graded else [table(("top causes", "rows", "owner", "status"), causes, right=("rows",))]),
            *_files(files),
        ),
    )


def of_batch(report: BatchReport, files: Sequence[str]) -> Document:
    causes = [
        (
            f"{category.letter}. {category_title(category)}",
            str(len(category.tests)),
            category.owner,
            money(category.cost, 2),
        )
        for category in report.categories[:CAUSES]
    ]
    again = [line(Strong("Passed before, not now"), ": ", _listed(report.hidden_passes))] if report.sessions else []
    return Document(
        title=f"{batch_name(report)}: {report.passed}/{len(report.tests)} passed",
        blocks=(
            *_state(report.reading, provisional=report.reading.status == "provisional"),
            *_doubt(doubts_of_batch(report)),
            paragraph(Strong(batch_warning(report)), " ", batch_answer(report)),
            score_table(stated_scores(report.scores)),
            *([table(("failures", "tests", "owner", "cost"), causes, right=("tests", "cost"))] if causes else []),
            *([items(again)] if again else []),
            *_files(files),
        ),
    )


def of_transcripts(report: TranscriptReport, files: Sequence[str]) -> Document:
    rows = [
        (run.label, str(run.rows), str(run.flagged), name_list(run.missing, NAMED) or "none") for run in report.runs
    ]
    return Document(
        title=f"{report.suite}: {plural(len(report.runs), 'run')}, not judged",
        blocks=(
            paragraph(Strong("NOT JUDGED."), " No row has a verdict, so nothing counts as passed or failed."),
            table(("run", "rows", "to review first", "missing"), rows, right=("rows", "to review first")),
            *_files(files),
        ),
    )


def _doubt(doubts: ScoreDoubts) -> Iterator[Block]:
    if words := doubt_words(doubts):
        yield paragraph(Strong(words))


def _state(reading: ReviewCoverage, unit: str = "failure", *, provisional: bool) -> Iterator[Block]:
    if provisional:
        by_rules = reading.failures - reading.read - reading.inherited
        rest = "the rest comes from rules" if by_rules else "not every cause is final"
        if not by_rules and reading.final < reading.read:
            rest = f"{reading.read - reading.final} of them still need a second review"
        read = f"{reading.read} of {plural(reading.failures, unit)} reviewed"
        yield paragraph(Strong("PROVISIONAL."), f" {read}; {rest}.")


def _files(files: Iterable[str]) -> Iterator[Block]:
    lines = [line(Code(one)) for one in files]
    yield from (paragraph("Written:"), items(lines)) if lines else (paragraph("Nothing was written."),)
