"""`errata export`."""

import time
from pathlib import Path

import click

from errata.cli.choice import Word
from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.paths import place_of
from errata.cli.runs import title_of
from errata.export.every_eval_ever import WrittenRun
from errata.model.output.compare import ComparisonExportOutput
from errata.runs.names import handle_of, runs_named
from errata.verbs.compare import export

FORMATS = ("every-eval-ever",)
FOLDER = "every_eval_ever"


@click.command("export")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--format", "form", type=Word(FORMATS), default=FORMATS[0], show_default=True, help="The form.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="The folder to write to."
)
@click.option("--force", is_flag=True, help="Write over files that are there.")
@shared_options
def command(runs: tuple[str, ...], form: str, output: Path, force: bool, options: Options) -> None:
    """Write RUNS in a form that others read: every_eval_ever.

    Version 0.3.0: a summary and its instances. What broke is written with its error, never as a wrong answer alone.
    What the form has no place for is listed, here and in the summary.
    """
    store = options.store
    meant = list(runs_named(runs, store))
    for made in export(meant, store, output, now=time.time(), force=force):
        if options.json:
            put_json(_json_of(made, form))
            continue
        put(title_of(made.stored.run, handle_of(made.stored, store)))
        for file in made.files:
            put(f"wrote {place_of(str(file))}")
        put(plural(made.rows, "row"))
        for what, count in made.not_expressed.items():
            say(f"not expressed: {what}: {count:,}")


def _json_of(made: WrittenRun, form: str) -> ComparisonExportOutput:
    return ComparisonExportOutput(
        run_id=made.stored.run.id,
        format=form,
        files=tuple(str(file) for file in made.files),
        rows=made.rows,
        not_expressed=made.not_expressed,
    )
