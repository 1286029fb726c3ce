"""`errata report` and `errata issues`."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from errata.cli.options import Options, reports_option, shared_options
from errata.cli.output import money, plural, put, put_command, put_json, say, write_out
from errata.cli.render.fields import place_of
from errata.cli.table import put_parts
from errata.errors import ReportError, SettingsError
from errata.model.output.report.comparison import ComparisonReport
from errata.model.output.report.run import RunReport
from errata.model.record import Struct
from errata.render.document import Document
from errata.render.figures import percent
from errata.render.files import WrittenFile
from errata.render.proof import coverage_state
from errata.report.batch_prose import batch_answer, batch_warning, category_title
from errata.report.comparison_differences import number_words
from errata.report.comparison_document import chance_words, doubts_words, unfit_words
from errata.report.comparison_files import ComparisonWritten
from errata.report.comparison_sections import model_in_short
from errata.report.parts import name_list
from errata.report.run_advice import advice_words, heading_of
from errata.report.run_document import passed_of
from errata.report.run_files import RunWritten
from errata.report.run_prose import WORKED, answer_of
from errata.report.shared import ScoreDoubts, doubt_words, doubts_of_batch, doubts_of_comparison, doubts_of_run
from errata.report.step_summary import of_batch, of_comparison, of_run, of_transcripts
from errata.report.transcripts_document import TranscriptsWritten, flags_words
from errata.runs.view import RunView
from errata.text.outgoing import for_user
from errata.text.shell import shell_word
from errata.verbs.report import BatchWritten, is_batch, planned_reports, results_folder, write_reports

if TYPE_CHECKING:
    from errata.verbs.report import PlannedReport


PROFILES = ("run", "comparison", "batch")
VARIABLE = "GITHUB_STEP_SUMMARY"


@click.command("report")
@click.argument("runs", nargs=-1, metavar="RUN…")
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="Default: `batch` for a batch, `comparison` for several runs, else `run`.",
)
@click.option("--html", is_flag=True, help="Also write a static HTML page.")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), help="Folder, or file of a single report.")
@click.option("--date", "day", metavar="DAY", help="Date of the analysis, as 2026-03-09; default: today in UTC.")
@click.option("--comparison-dir", type=click.Path(path_type=Path), help="Comparison folder with `run_results.csv`.")
@click.option(
    "--run-dir", "run_dirs", multiple=True, type=click.Path(path_type=Path), help="Folder of a judged run; repeatable."
)
@click.option("--common", is_flag=True, help="Compare only cases measured in every run, even if the suites differ.")
@click.option("--step-summary", is_flag=True, help="Write a summary to $GITHUB_STEP_SUMMARY, or to stdout if unset.")
@reports_option
@shared_options
def command(
    runs: tuple[str, ...],
    profile: str | None,
    html: bool,
    output: Path | None,
    day: str | None,
    comparison_dir: Path | None,
    run_dirs: tuple[Path, ...],
    common: bool,
    step_summary: bool,
    options: Options,
) -> None:
    """Write a report about runs.

    Profile `run` writes reports/PROVIDER/MODEL/RUN_DAY.md, `comparison` writes results/…/deep_error_analysis.md, and
    `batch` writes analysis/ to the folder of the results, with an issue for each test. A summary is printed. Nothing
    else is changed.
    """
    from errata.verbs.report import planned_reports

    if step_summary and options.json:
        _refuse_beside_json()
    selectors = _selectors(runs, comparison_dir, run_dirs)
    place = output or (comparison_dir if not run_dirs else None)
    in_words = not options.json and not (step_summary and _goes_to_stdout())
    wish = ReportOptions(day=day_of(day), output=place, html=html, common=common, json=options.json, in_words=in_words)
    compared = profile == "comparison" or (profile is None and bool(comparison_dir or run_dirs))
    planned = planned_reports(selectors, options.store, profile=profile, compared=compared)
    if not _may_write(planned, wish):
        say("nothing was written")
        return
    summaries = list(write_all(planned, wish))
    if step_summary:
        _add_summaries(summaries)


class ReportOptions(Struct):
    day: str
    output: Path | None = None
    html: bool = False
    common: bool = False
    json: bool = False
    in_words: bool = True
    """Whether to print a summary; not if JSON or a step summary goes to stdout."""


def _may_write(planned: "Sequence[PlannedReport]", wish: ReportOptions) -> bool:
    """A person is asked before a folder with two pages per case is written about another run."""
    others = [one.views[0] for one in planned if one.profile == "batch" and not is_batch(one.views[0].stored)]
    if not others or wish.json or not is_at_a_terminal():
        return True
    files = sum(one.stored.counts.cases + one.stored.counts.failures for one in others)
    names = name_list([one.handle for one in others], NAMED)
    verb = "is not a batch" if len(others) == 1 else "are not batches"
    what = f"{names} {verb}: this writes more than {files:,} files. Go on?"
    return click.confirm(for_user(what), err=True)


def is_at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def write_all(planned: "Sequence[PlannedReport]", wish: ReportOptions) -> Iterator[Document]:
    written = write_reports(planned, day=wish.day, output=wish.output, html=wish.html, common=wish.common)
    for at, (report, made) in enumerate(written):
        if at and wish.in_words:
            put()
        if isinstance(made, BatchWritten) and made.left_over:
            old = plural(len(made.left_over), "file of an earlier report is", "files of an earlier report are")
            say(f"{old} still there: {name_list(made.left_over, OLD)}")
        if wish.json:
            from errata.json_output.review import report_output

            put_json(report_output(report, made))
        if wish.in_words:
            _show(report.views[0], made, wish)
        yield _in_short(made)


def _show(
    view: RunView, made: RunWritten | ComparisonWritten | BatchWritten | TranscriptsWritten, wish: ReportOptions
) -> None:
    match made:
        case ComparisonWritten():
            show_comparison(made)
        case TranscriptsWritten():
            show_transcripts(made)
        case BatchWritten():
            show_batch(made, in_results=wish.output is None and results_folder(view) is not None)
        case RunWritten():
            show_run(made, view.handle)


def _in_short(made: RunWritten | ComparisonWritten | BatchWritten | TranscriptsWritten) -> Document:
    match made:
        case ComparisonWritten():
            return of_comparison(made.report, names_of(made.written))
        case TranscriptsWritten():
            return of_transcripts(made.report, names_of(made.written))
        case BatchWritten():
            return of_batch(made.report, [place_of(str((made.folder / name).absolute())) for name in PAGES])
        case RunWritten():
            return of_run(made.report, names_of(made.written))


def _selectors(runs: tuple[str, ...], comparison_dir: Path | None, run_dirs: tuple[Path, ...]) -> list[str]:
    """Explicit run folders win over a comparison folder."""
    if run_dirs:
        for path in run_dirs:
            if not (path / "openai_judged.jsonl").is_file():
                raise SettingsError(f"`{path}` has no `openai_judged.jsonl`", hint=_hint(path))
        return [str(path) for path in run_dirs]
    if comparison_dir is not None:
        if not (comparison_dir / "run_results.csv").is_file():
            raise SettingsError(f"`{comparison_dir}` has no `run_results.csv`", hint="name a comparison folder")
        return [str(comparison_dir)]
    if not runs:
        raise click.UsageError("name a RUN, a --run-dir or a --comparison-dir")
    return list(runs)


def _hint(path: Path) -> str:
    if (path / "transcript.jsonl").is_file():
        return f"it is not judged yet: `errata report {shell_word(path)}` reports on its transcript"
    return "name the folder of a judged run"


def day_of(named: str | None) -> str:
    if named is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.strptime(named, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError as error:
        raise SettingsError(f"`{named}` is not a date", hint="write it as `2026-03-09`") from error


def _goes_to_stdout() -> bool:
    return not os.environ.get(VARIABLE)


def _refuse_beside_json() -> None:
    """Markdown and JSON would be mixed on one stream."""
    if _goes_to_stdout():
        raise SettingsError(
            f"`--step-summary` and `--json` both write to stdout if ${VARIABLE} is not set",
            hint="leave one of them out",
        )


def _add_summaries(documents: Iterable[Document]) -> None:
    """To the page of a CI run."""
    from errata.render.markdown import to_markdown

    text = "\n".join(map(to_markdown, documents))
    if _goes_to_stdout():
        write_out(text)
        return
    path = Path(os.environ[VARIABLE])
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise ReportError(f"`{path}` can't be written: {error.strerror}", hint=f"see ${VARIABLE}") from error


OLD = 6
NAMED = 3
PAGES = ("README.md", "analysis.md", "failures/summary.md", "issues/epic.md", "file_issues.sh")
"""The files of the folder that a step summary lists."""
ADVICE, DOUBTS, SHARED, ROWS = 4, 3, 8, 8


def names_of(written: Sequence[WrittenFile]) -> list[str]:
    """Paths relative to the current folder or the home folder."""
    return [place_of(str(one.path.absolute())) for one in written]


def show_run(made: RunWritten, handle: str) -> None:
    report = made.report
    subject = report.subject
    has_rate = subject.judged and subject.total and report.values is None
    rate = f" ({percent(subject.passed / subject.total)})" if has_rate else ""
    put(f"{handle} · {subject.model or 'unknown model'} · {passed_of(report)}{rate}", hang=2)
    if not made.written:
        nothing = report.nothing_failed
        ends = ", and no" if nothing is not None and nothing.state == "all_passed" else ". No"
        put(f"{answer_of(report).removesuffix('.')}{ends} report was written.", hang=2)
        return
    reading = report.reading
    if reading.failures:
        put(coverage_state(reading), hang=4)
    put()
    _show_doubt(doubts_of_run(report))
    put(answer_of(report))
    if report.failures or report.values is None:
        _show_counts(report)
    put()
    for file, name in zip(made.written, names_of(made.written), strict=True):
        put_parts(
            "kept" if file.change == "unchanged" else "wrote", [name], "" if file.change == "new" else file.change
        )


def _show_doubt(doubts: ScoreDoubts) -> None:
    """What makes the score unusable comes before every figure."""
    if words := doubt_words(doubts):
        put(words, hang=2)


def _show_counts(report: RunReport) -> None:
    labels = Counter(one.label or one.owner for one in report.failures if not one.machinery)
    machinery = sum(one.machinery for one in report.failures)
    parts = [f"{label} {often}" for label, often in labels.most_common()]
    put_parts("labels", [*parts, *([f"not classified (infrastructure) {machinery}"] if machinery else [])] or ["none"])
    repeats = [one.case for one in report.failures if one.repeat and not one.repeat.otherwise]
    otherwise = sum(bool(one.repeat) and one.repeat.otherwise for one in report.failures)
    if repeats or otherwise:
        named = f": {name_list(repeats, 4)}" if repeats else ""
        others = f"; {otherwise:,} failed before in another way" if otherwise else ""
        put_parts("repeats", [f"{len(repeats)} of {len(report.failures)}{named}{others}"])
    for action in report.actions:
        put_parts("action", [f"{action.date} {action.path or action.what}: {WORKED[action.worked]}"])
    fresh = [one for one in report.advice if one.done is None and one.group in ("eval", "config", "guidelines")]
    for advice in fresh[:ADVICE]:
        put_parts("advice", [f"{heading_of(advice).lower()}: {advice_words(advice)}"])


def show_comparison(made: ComparisonWritten) -> None:
    report = made.report
    reading = report.reading
    final = sum(one.status == "final" for one in report.modes)
    causes = f"{final} of {plural(len(report.modes), 'cause')} final"
    others = ", the others grouped by rules" if final else ""
    state = "final" if final == len(report.modes) else f"PROVISIONAL, {causes}{others}"
    counts = f"{plural(len(report.runs), 'run')}, {plural(report.failed_rows, 'failed row')}, {reading.read} reviewed"
    graded = report.of_numbers and not report.failed_rows
    put(
        f"{plural(len(report.runs), 'run')} of numbers, {plural(report.cases, report.case_word)}"
        if graded
        else f"{counts}: {state}."
    )
    _show_doubt(doubts_of_comparison(report))
    for word in number_words(report.differences_by_model) if report.of_numbers else ():
        put(word, hang=2)
    for model in () if graded else report.models:
        put(f"{model.name}: {model_in_short(model)}", hang=2)
    if len(report.runs) > 1 and not graded:
        put_parts("all", _shared(report) or [f"no {report.case_word} fails in every run"])
    for unfit in unfit_words(report):
        put_parts("unfit", [unfit])
    if not report.of_numbers:
        put_parts("chance", [chance_words(report.pairs, conversations=report.conversations)])
    for advice in report.advice[:ADVICE]:
        put_parts("advice", [f"{advice.model}: {advice.text} ({', '.join(advice.reviewers)})"])
    for doubt in islice(doubts_words(report), DOUBTS):
        put_parts("doubt", [doubt])
    for file, name in zip(made.written, names_of(made.written), strict=True):
        count = [plural(made.rows, "row")] if file.path.suffix in (".jsonl", ".csv") else []
        put_parts("wrote", [name, *count])


def _shared(report: ComparisonReport) -> list[str]:
    cases = report.failed_by_all_runs
    listed = [f"{case} {report.asks.get(case, '')}".strip() for case in cases[:SHARED]]
    return [*listed, f"and {len(cases) - SHARED:,} more"] if len(cases) > SHARED else listed


def show_transcripts(made: TranscriptsWritten) -> None:
    report = made.report
    put(f"{plural(len(report.runs), 'run')}, {plural(len(report.rows), 'row')}: NOT JUDGED")
    put("No row has a verdict, so none counts as passed or failed.")
    put()
    for run in report.runs:
        patterns = [f"{name} {often}" for name, often in run.patterns.items()]
        missing = [f"missing {', '.join(run.missing)}"] if run.missing else []
        put_parts("run", [run.label, plural(run.rows, "row"), *missing, *patterns, f"{run.flagged} to review first"])
    for row in report.flagged[:ROWS]:
        put_parts("row", [f"{row.label}, {row.case}: {flags_words(row)}"])
    if len(report.flagged) > ROWS:
        put_parts("", [f"and {len(report.flagged) - ROWS} more"])
    put()
    for name in names_of(made.written):
        put_parts("wrote", [name])
    put("Nothing else was changed. Judge the runs, or review the rows by hand.")


def show_batch(made: BatchWritten, *, in_results: bool) -> None:
    """`in_results`: the folder is that of the results, which the user has not named."""
    report = made.report
    put(f"{report.name} · {report.model or 'unknown model'} · {report.passed}/{len(report.tests)} passed")
    if report.reading.failures:
        put(coverage_state(report.reading), hang=4)
    put()
    for warning in filter(None, (doubt_words(doubts_of_batch(report)), batch_warning(report))):
        put(warning, hang=2)
    put(batch_answer(report))
    for category in report.categories:
        put_parts(
            category.letter,
            [f"{len(category.tests)}× {category_title(category)}", category.owner],
            f"cost {money(category.cost, 2)}",
        )
    put_parts("cost", [f"{money(report.cost, 2)} total", f"{money(report.cost_of_passes, 2)} on passes"])
    if report.mean_cost_of_pass is not None:
        mean, middle = money(report.mean_cost_of_pass, 2), money(report.median_cost_of_pass, 2)
        priced = plural(report.priced_passes, "pass", "passes")
        put_parts("", [f"cost of pass at the cheapest tier: mean {mean}, median {middle} of {priced}"])
    put()
    _show_folder(made, in_results=in_results)


def _show_folder(made: BatchWritten, *, in_results: bool) -> None:
    report, place = made.report, place_of(str(made.folder.absolute()))
    failed = len(report.tests) - report.passed
    put_parts("issues", [f"1 for each test: {failed:,} failed, {report.passed:,} passed", "1 epic"])
    new = sum(one.change != "unchanged" for one in made.written)
    put_parts("wrote", [place, f"{len(made.written)} files, {new} new or changed"])
    if in_results:
        put_parts("", ["this is the folder of the results; `-o DIR` writes elsewhere"])
    put_command("next", [f"{place}/file_issues.sh", "--dry-run"], "shows what would be filed")
    put("Nothing was filed, and no other file was changed.")


@click.command("issues")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "-o",
    "--output",
    "output",
    type=click.Path(path_type=Path),
    help="Folder; default: `analysis` in the results folder of a batch, else in the current folder.",
)
@click.option("--date", "day", metavar="DAY", help="Date of the analysis, as 2026-03-09; default: today in UTC.")
@shared_options
def issues(runs: tuple[str, ...], output: Path | None, day: str | None, options: Options) -> None:
    """Write an issue for each case and a script that files them.

    Passed cases get an issue, too, and an epic lists them all. For a batch, the folder is `analysis` in the folder of
    its results. Nothing is filed: check the folder, run `file_issues.sh --dry-run`, then `file_issues.sh`.
    """
    planned = planned_reports(runs, options.store, profile="batch")
    wish = ReportOptions(day=day_of(day), output=output, json=options.json, in_words=not options.json)
    for _ in write_all(planned, wish):
        pass
