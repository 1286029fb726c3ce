"""`errata issues`."""

from pathlib import Path

import click

from errata.cli.options import Options, shared_options
from errata.cli.report import ReportOptions, day_of, write_all
from errata.verbs.report import planned_reports


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
def command(runs: tuple[str, ...], output: Path | None, day: str | None, options: Options) -> None:
    """Write an issue for each case and a script that files them.

    Passed cases get an issue, too, and an epic lists them all. For a batch, the folder is `analysis` in the folder of
    its results. Nothing is filed: check the folder, run `file_issues.sh --dry-run`, then `file_issues.sh`.
    """
    planned = planned_reports(runs, options.store, profile="batch")
    wish = ReportOptions(day=day_of(day), output=output, json=options.json, in_words=not options.json)
    for _ in write_all(planned, wish):
        pass
