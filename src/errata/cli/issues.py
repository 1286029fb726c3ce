"""`errata issues`."""

from datetime import UTC, datetime
from pathlib import Path

import click

from errata import pipeline
from errata.cli.options import Options, shared_options
from errata.cli.output import put
from errata.cli.report_batch import FOLDER, write_batch


@click.command("issues")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("-o", "--output", "output", type=click.Path(path_type=Path), default=FOLDER, show_default=True)
@shared_options
def command(runs: tuple[str, ...], output: Path, options: Options) -> None:
    """Write the issues of RUNS, one for each case, and the script that files them.

    Files nothing: read the folder, then `file_issues.sh --dry-run`, then `file_issues.sh`.
    """
    chosen = list(pipeline.runs_named(runs, options.store))
    day = datetime.now(UTC).date().isoformat()
    for at, stored in enumerate(chosen):
        if at and not options.json:
            put()
        write_batch(stored, options, day=day, output=output, several=len(chosen) > 1)
