"""`errata export`."""

from pathlib import Path
from typing import cast, get_args

import click

from errata.cli.options import OneOfMany, Options, Word, failure_filters, shared_options
from errata.cli.output import plural, put, put_json, say
from errata.cli.render.fields import place_of
from errata.errors import SettingsError
from errata.export.regression_cases import DatasetFormat, WrittenDrafts
from errata.model import StoredRun
from errata.model.filters import Filters
from errata.model.output.compare import DatasetFileOutput, TableFileOutput
from errata.runs.names import runs_named
from errata.verbs.export import TableFormat, write_drafts, write_tables

FORMATS = ("csv", "parquet", "inspect", "promptfoo", "dataset")
DRAFTS = "regression_cases"
TABLES = "tables"


@click.command("export")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "--to",
    "--format",
    "form",
    cls=OneOfMany,
    type=Word(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="Format to write.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Output folder; default: {TABLES}, or {DRAFTS} for regression cases.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@failure_filters
@click.option("--limit", type=click.IntRange(min=1), help="Write at most N cases.")
@shared_options
def command(
    runs: tuple[str, ...],
    form: str,
    output: Path | None,
    force: bool,
    limit: int | None,
    options: Options,
    **chosen: str | None,
) -> None:
    """Export runs as tables, or failures as regression cases.

    csv and parquet write three tables: attempts, checks and failures of all runs.

    inspect, promptfoo and dataset write the cases of failures as drafts that a person has to approve: Inspect samples,
    promptfoo tests, or plain JSON lines. The filters choose the failures; infrastructure failures are skipped.
    """
    store = options.store
    filters = Filters(**{name: value or "" for name, value in chosen.items()})
    if form not in get_args(DatasetFormat) and (filters != Filters() or limit is not None):
        hint = f"they choose failures for: {', '.join(get_args(DatasetFormat))}"
        raise SettingsError(f"`--to {form}` exports whole runs and takes no filters", hint=hint)
    meant = list(runs_named(runs, store))
    if form in get_args(DatasetFormat):
        folder = output or Path(DRAFTS)
        drafts = write_drafts(meant, store, folder, cast(DatasetFormat, form), filters, limit=limit, force=force)
        _put_drafts(drafts, form, options)
        return
    _export_tables(meant, cast(TableFormat, form), output or Path(TABLES), force, options)


def _export_tables(runs: list[StoredRun], form: TableFormat, folder: Path, force: bool, options: Options) -> None:
    for table in write_tables(runs, options.store, folder, form, force=force):
        if options.json:
            put_json(TableFileOutput(format=form, file=str(table.path), rows=table.rows))
        else:
            put(f"wrote {place_of(str(table.path))}: {plural(table.rows, 'row')}")


def _put_drafts(made: WrittenDrafts, form: str, options: Options) -> None:
    if options.json:
        fields = {name: getattr(made, name) for name in made.__struct_fields__ if name != "path"}
        put_json(DatasetFileOutput(format=form, file=str(made.path), **fields))
        return
    put(f"wrote {place_of(str(made.path))}: {plural(made.cases, 'draft case')}, {made.with_expected:,} with an answer")
    skipped = {
        "infrastructure failures": made.infrastructure,
        "the log has no input": made.without_input,
        "the text would load a file or run code": made.unsafe,
    }
    for why, count in skipped.items():
        if count:
            say(f"skipped {plural(count, 'failure')}: {why}")
    if made.changed:
        say(f"note: secrets or control characters were removed from {plural(made.changed, 'case')}")
    if made.cases:
        say("note: these are drafts; check the input and the expected answer of each before you use it")
