"""`errata report`."""

from datetime import UTC, datetime
from pathlib import Path

import click

from errata import pipeline
from errata.cli.options import Options, shared_options
from errata.cli.output import put
from errata.cli.report_batch import write_batch
from errata.cli.report_run import write_run
from errata.cli.reports_option import reports_option
from errata.errors import SettingsError
from errata.model import StoredRun

PROFILES = ("run", "comparison", "batch")
BATCHES = frozenset(("scylla",))
"""Harnesses whose runs are batches of tests."""


@click.command("report")
@click.argument("runs", nargs=-1, metavar="RUN…")
@click.option("--profile", type=click.Choice(PROFILES), help="By default what fits: comparison for several runs.")
@click.option("--html", is_flag=True, help="Also as one static page without scripts.")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), help="A folder, or of one report its file.")
@click.option("--date", "day", metavar="DAY", help="The day of the analysis, as 2026-03-09; by default today in UTC.")
@click.option("--comparison-dir", type=click.Path(path_type=Path), help="A folder with `run_results.csv`.")
@click.option("--run-dir", "run_dirs", multiple=True, type=click.Path(path_type=Path), help="A judged run; repeatable.")
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
    options: Options,
) -> None:
    """Write a report about RUNS that people keep.

    Three profiles: `run` goes to reports/PROVIDER/MODEL/RUN_DAY.md, `comparison` to results/…/deep_error_analysis.md,
    `batch` to analysis/ with one issue for each test. Its words in short go to stdout. Nothing else is changed.
    """
    today = _day(day)
    store = options.store
    selectors = _selectors(runs, comparison_dir, run_dirs)
    chosen = list(pipeline.runs_named(selectors, store))
    for kind, members in _by_profile(chosen, profile, bool(comparison_dir or run_dirs)):
        if kind == "comparison":
            from errata.cli.report_comparison import write_comparison

            write_comparison(members, options, day=today, output=output, html=html, comparison_dir=comparison_dir)
            continue
        for at, stored in enumerate(members):
            if at and not options.json:
                put()
            if kind == "batch":
                write_batch(stored, options, day=today, output=output, several=len(members) > 1)
            else:
                write_run(stored, options, day=today, output=output, html=html)


def _selectors(runs: tuple[str, ...], comparison_dir: Path | None, run_dirs: tuple[Path, ...]) -> list[str]:
    """Explicit run folders win over a comparison folder."""
    if run_dirs:
        for path in run_dirs:
            if not (path / "openai_judged.jsonl").is_file():
                raise SettingsError(f"`{path}` has no `openai_judged.jsonl`", hint="name the folder of a judged run")
        return [str(path) for path in run_dirs]
    if comparison_dir is not None:
        if not (comparison_dir / "run_results.csv").is_file():
            raise SettingsError(f"`{comparison_dir}` has no `run_results.csv`", hint="name a comparison folder")
        return [str(comparison_dir)]
    if not runs:
        raise click.UsageError("name a RUN, a --run-dir or a --comparison-dir")
    return list(runs)


def _by_profile(runs: list[StoredRun], named: str | None, compared: bool) -> list[tuple[str, list[StoredRun]]]:
    if named:
        return [(named, runs)]
    if compared:
        return [("comparison", runs)]
    batches = [one for one in runs if one.run.source.name in BATCHES and one.run.sessions]
    others = [one for one in runs if one not in batches]
    found = [("batch", batches)] if batches else []
    return [*found, ("comparison" if len(others) > 1 else "run", others)] if others else found


def _day(named: str | None) -> str:
    if named is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.strptime(named, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError as error:
        raise SettingsError(f"`{named}` is no day", hint="as `2026-03-09`") from error
