"""`errata analyze`."""

from collections.abc import Sequence
from pathlib import Path

import click

from errata import pipeline
from errata.cli.import_ import show_unreadable
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.paths import place_of
from errata.cli.progress import progress
from errata.cli.reports_option import reports_option
from errata.cli.runs import as_json
from errata.cli.score_json import json_score
from errata.cli.summary import show_summary, tell_summary
from errata.cli.summary_memory import json_memory
from errata.pipeline.analysis import Analysis
from errata.pipeline.importing import PathSummary

MOST_KNOWN = 10


@click.command("analyze")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--new", is_flag=True, help="Only runs that are not in the store yet, below PATHS or where runs were found."
)
@click.option("--source", default="", metavar="NAME", help="Read as this format; `errata sources` lists them.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="A mapping file for a format of your own.")
@reports_option
@shared_options
def command(paths: tuple[Path, ...], new: bool, source: str, map_path: Path | None, options: Options) -> None:
    """Everything at once: import, check, summarise."""
    if new:
        _analyze_new(paths, options, source)
        return
    if not paths:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    pipeline.look_for(paths, source=source, map_path=map_path)
    summaries: list[PathSummary] = []
    with progress("Analysing") as on_items:
        analyses = pipeline.analyze(
            paths, options.store, source=source, map_path=map_path, on_items=on_items, on_summary=summaries.append
        )
    _show_all(analyses, summaries, as_json=options.json)


def _show_all(analyses: Sequence[Analysis], summaries: Sequence[PathSummary], *, as_json: bool) -> None:
    for summary in summaries:
        if not summary.runs and summary.unreadable:
            show_unreadable(summary)
    for at, analysis in enumerate(analyses):
        if at and not as_json:
            put()
        show_analysis(analysis, as_json=as_json)


def _analyze_new(paths: tuple[Path, ...], options: Options, source: str) -> None:
    with progress("Analysing") as on_items:
        done = pipeline.analyze_new(paths, options.store, source=source, on_items=on_items)
    for path, why in done.search.problems:
        say(f"note: `{path}` was left out: {why}")
    known = len(done.search.known) + done.unchanged
    below = ", ".join(place_of(str(folder.absolute())) for folder in done.search.folders)
    say(f"found     {plural(len(done.analyses), 'new run')} below {below} · {known:,} in the store already")
    for one in done.search.known[:MOST_KNOWN]:
        say(f"          there already: {one.run.native_id} · {place_of(one.run.origin)}")
    if not done.analyses and not options.json:
        put(f"Nothing new: {plural(known, 'run is', 'runs are')} in the store already.")
    _show_all(done.analyses, done.summaries, as_json=options.json)


def show_analysis(analysis: Analysis, *, as_json: bool, kept: bool = True) -> None:
    if as_json:
        put_json(_json_of(analysis))
        return
    tell_summary(analysis)
    show_summary(analysis, kept=kept)


def _json_of(analysis: Analysis) -> dict[str, object]:
    return {
        **as_json(analysis.stored),
        "passed": analysis.passed,
        "total": analysis.total,
        "unit": analysis.unit,
        "by_harness": analysis.by_harness,
        "fit": analysis.health.fit,
        "unavailable": analysis.unavailable is not None,
        "first_failed_checks": dict(analysis.first_failed),
        "categories": {name: {"failures": failed, "attempts": total} for name, failed, total in analysis.categories},
        "findings": analysis.health.findings,
        "owners": {one.owner: one.count for one in analysis.owners},
        "causes": analysis.causes.shared,
        "share_nothing": analysis.causes.alone,
        **json_memory(analysis),
        "scores": {policy: json_score(score) for policy, score in analysis.scores.scores.items()},
    }
