"""`errata analyze`."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from errata.cli.fetch import deployment_option, local_paths
from errata.cli.import_ import say_passed_over, show_unreadable
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.paths import place_of
from errata.cli.progress import progress
from errata.cli.render.history import history_output
from errata.cli.reports_option import reports_option
from errata.cli.runs import fields_of
from errata.cli.score_json import json_score
from errata.cli.summary import show_summary, tell_summary
from errata.model.output.analyze import AnalysisOutput, CategoryCountOutput
from errata.runs.importing import PathSummary, begin, made_ready
from errata.runs.orders import look_for
from errata.runs.summary import Analysis
from errata.runs.view import RunView
from errata.runs.without_failures import without_failures
from errata.verbs.analyze import analyze, analyze_new
from errata.verbs.report import report_failures

MOST_KNOWN = 10


@click.command("analyze")
@click.argument("paths", nargs=-1, metavar="PATH…|URL…", type=click.Path())
@click.option(
    "--new", is_flag=True, help="Only runs that are not in the store yet, below PATHS or where runs were found."
)
@click.option("--source", default="", metavar="NAME", help="Read as this format; `errata sources` lists them.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="A mapping file for a format of your own.")
@click.option("--no-report", is_flag=True, help="Write no report about the runs.")
@deployment_option
@reports_option
@shared_options
def command(
    paths: tuple[str, ...],
    new: bool,
    source: str,
    map_path: Path | None,
    no_report: bool,
    deployment: str,
    options: Options,
) -> None:
    """Everything at once: fetch, import, check, summarise, report.

    URL is a run of convex-evals in its visualizer, or its id: what the deployment answers is saved first. The report
    goes to reports/PROVIDER/MODEL/RUN_DAY.md; where all passed, none is written.
    """
    local = local_paths(paths, options, deployment=deployment)
    if new:
        _analyze_new(local, options, source, report=not no_report)
        return
    if not paths:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    summaries: list[PathSummary] = []
    with made_ready(local), progress("Analysing") as on_items:
        orders = look_for(local, source=source, map_path=map_path)
        begin(orders)
        views = analyze(orders, options.store, on_items=on_items, on_summary=summaries.append)
    _show_all(views, summaries, options, report=not no_report)


def _show_all(views: Sequence[RunView], summaries: Sequence[PathSummary], options: Options, *, report: bool) -> None:
    for summary in summaries:
        if not summary.runs and summary.unreadable:
            show_unreadable(summary)
        say_passed_over(summary)
    for at, view in enumerate(views):
        if at and not options.json:
            put()
        path = report_failures(view) if report else None
        show_analysis(view.summary, as_json=options.json, report=path)


def _analyze_new(paths: tuple[Path, ...], options: Options, source: str, *, report: bool) -> None:
    with progress("Analysing") as on_items:
        done = analyze_new(paths, options.store, source=source, on_items=on_items)
    for path, why in done.search.problems:
        say(f"note: `{path}` was left out: {why}")
    known = len(done.search.known) + done.unchanged
    below = ", ".join(place_of(str(folder.absolute())) for folder in done.search.folders)
    say(f"found     {plural(len(done.views), 'new run')} below {below} · {known:,} in the store already")
    for one in done.search.known[:MOST_KNOWN]:
        say(f"          there already: {one.run.native_id} · {place_of(one.run.origin)}")
    if not done.views and not options.json:
        put(f"Nothing new: {plural(known, 'run is', 'runs are')} in the store already.")
    _show_all(done.views, done.summaries, options, report=report)


def show_analysis(analysis: Analysis, *, as_json: bool, kept: bool = True, report: Path | None = None) -> None:
    if as_json:
        put_json(output_of(analysis, report))
        return
    tell_summary(analysis)
    show_summary(analysis, kept=kept)
    if report is not None:
        put(f"Report   {place_of(str(report.absolute()))}", hang=9)


def output_of(analysis: Analysis, report: Path | None) -> AnalysisOutput:
    stored = analysis.stored
    return AnalysisOutput(
        **fields_of(stored),
        passed=analysis.passed,
        total=analysis.total,
        unit=analysis.unit,
        by_harness=analysis.by_harness,
        without_failures=without_failures(stored) if analysis.without_failures else None,
        fit=analysis.health.fit,
        unavailable=analysis.unavailable is not None,
        first_failed_checks=dict(analysis.first_failed),
        categories={
            name: CategoryCountOutput(failures=failed, attempts=total) for name, failed, total in analysis.categories
        },
        findings=analysis.health.findings,
        reviewed=analysis.reviewed,
        inherited=analysis.inherited,
        owners={one.owner: one.count for one in analysis.owners},
        causes=analysis.causes,
        **msgspec.structs.asdict(history_output(analysis)),
        scores={policy: json_score(score) for policy, score in analysis.scores.scores.items()},
        report=str(report) if report is not None else None,
    )
