"""`errata analyze`."""

from pathlib import Path

import click

from errata import pipeline
from errata.cli.import_ import show_unreadable
from errata.cli.options import Options, shared_options
from errata.cli.output import put, put_json
from errata.cli.progress import progress
from errata.cli.runs import as_json
from errata.cli.score_json import json_score
from errata.cli.summary import show_summary, tell_summary
from errata.pipeline.analysis import Analysis
from errata.pipeline.importing import PathSummary


@click.command("analyze")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--source", default="", metavar="NAME", help="Read as this format; `errata sources` lists them.")
@click.option("--map", "map_path", type=click.Path(path_type=Path), help="A mapping file for a format of your own.")
@shared_options
def command(paths: tuple[Path, ...], source: str, map_path: Path | None, options: Options) -> None:
    """Everything at once: import, check, summarise."""
    pipeline.look_for(paths, source=source, map_path=map_path)
    summaries: list[PathSummary] = []
    with progress("Analysing") as on_items:
        analyses = pipeline.analyze(
            paths, options.store, source=source, map_path=map_path, on_items=on_items, on_summary=summaries.append
        )
    for summary in summaries:
        if not summary.runs and summary.unreadable:
            show_unreadable(summary)
    for at, analysis in enumerate(analyses):
        if at and not options.json:
            put()
        show_analysis(analysis, as_json=options.json)


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
        "scores": {policy: json_score(score) for policy, score in analysis.scores.scores.items()},
    }
