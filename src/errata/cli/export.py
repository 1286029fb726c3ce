"""`errata export`."""

import time
from pathlib import Path
from typing import cast, get_args

import click

from errata.cli.options import Options, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.fields import place_of
from errata.cli.render.runs import title_of
from errata.cli.shared_options import Word
from errata.export.every_eval_ever import WrittenRun
from errata.model import StoredRun
from errata.model.output.compare import ComparisonExportOutput, TableFileOutput
from errata.runs.names import handle_of, runs_named
from errata.verbs.export import TableFormat, export, write_tables

FORMATS = ("every-eval-ever", "csv", "parquet")
FOLDER = "every_eval_ever"
TABLES = "tables"


@click.command("export")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "--to", "--format", "form", type=Word(FORMATS), default=FORMATS[0], show_default=True, help="Format to write."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Output folder; default: {FOLDER}, for csv and parquet {TABLES}.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@shared_options
def command(runs: tuple[str, ...], form: str, output: Path | None, force: bool, options: Options) -> None:
    """Export runs in the every_eval_ever format, or as tables.

    every-eval-ever is version 0.3.0: a summary and its instances. Broken attempts keep their error and never look like
    wrong answers. Data that the format cannot hold is listed here and in the summary.

    csv and parquet write three tables: attempts, checks and failures of all runs.
    """
    store = options.store
    meant = list(runs_named(runs, store))
    if form in get_args(TableFormat):
        _export_tables(meant, cast(TableFormat, form), output or Path(TABLES), force, options)
        return
    for made in export(meant, store, output or Path(FOLDER), now=time.time(), force=force):
        if options.json:
            put_json(_json_of(made, form))
            continue
        put(title_of(made.stored.run, handle_of(made.stored, store)))
        for file in made.files:
            put(f"wrote {place_of(str(file))}")
        put(plural(made.rows, "row"))
        for what, count in made.not_expressed.items():
            say(f"not exported: {what}: {count:,}")


def _export_tables(runs: list[StoredRun], form: TableFormat, folder: Path, force: bool, options: Options) -> None:
    for table in write_tables(runs, options.store, folder, form, force=force):
        if options.json:
            put_json(TableFileOutput(format=form, file=str(table.path), rows=table.rows))
        else:
            put(f"wrote {place_of(str(table.path))}: {plural(table.rows, 'row')}")


def _json_of(made: WrittenRun, form: str) -> ComparisonExportOutput:
    return ComparisonExportOutput(
        run_id=made.stored.run.id,
        format=form,
        files=tuple(str(file) for file in made.files),
        rows=made.rows,
        not_expressed=made.not_expressed,
    )
